//! Where a source's delivery id, event type, resource, version and time are (R17), and reading them.
//!
//! Only places that the signature covers are read. An id that was written twice, is too long or holds
//! control characters, and a body that does not parse, make an authentic event *unreadable* (R19): it
//! is acknowledged and quarantined under the digest of its bytes, never refused.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{
    answer::trim,
    instant::{self, Instant, Unit},
    json::{Json, Unreadable, Value},
};

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In this header.
    Header(Text),
    /// In the JSON body, at this pointer (RFC 6901).
    Body(Text),
    /// Pairs of a signature header and a header that it signs: the first pair counts whose signature
    /// header is present, as it does for the verifier.
    Beside(Cow<'static, [(Text, Text)]>),
}

/// Text of a preset or of a configuration.
pub type Text = Cow<'static, str>;

/// Where the routing values of a source are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The delivery id: signed, stable over retries. `None`: the source declares a derived key.
    pub id: Option<Place>,
    /// An unsigned copy of the id, which must agree with it where it is present.
    pub id_copy: Option<Text>,
    /// The event's type.
    pub event_type: Option<Place>,
    /// What the event is about.
    pub resource: Option<Place>,
    /// The resource's version.
    pub version: Option<Place>,
    /// When it happened, and in which unit.
    pub time: Option<(Place, Unit)>,
    /// The account, where one source serves several.
    pub account: Option<Place>,
}

/// What an event says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The delivery id; `None` only where the source has none.
    pub id: Option<String>,
    /// The event's type.
    pub event_type: Option<String>,
    /// What the event is about.
    pub resource: Option<String>,
    /// The resource's version.
    pub version: Option<u64>,
    /// When it happened.
    pub time: Option<Instant>,
    /// The account.
    pub account: Option<String>,
}

/// Why an authentic event cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The body is not JSON, or a routing key stands there twice.
    Body(Unreadable),
    /// The id is absent.
    NoId,
    /// The id is empty, longer than [`ID_BYTES_MAX`] bytes, or holds control characters.
    BadId,
    /// Two headers of one name, or an unsigned copy, say something else.
    Disagrees,
}

impl From<Unreadable> for Fault {
    fn from(unreadable: Unreadable) -> Self {
        Self::Body(unreadable)
    }
}

impl Places {
    /// Standard Webhooks: the id is a signed header.
    pub const fn standard_webhooks() -> Self {
        Self {
            id: Some(Place::Header(Text::Borrowed("webhook-id"))),
            event_type: Some(body("/type")),
            time: Some((body("/timestamp"), Unit::Rfc3339)),
            ..Self::NOTHING
        }
    }

    /// Svix: Standard Webhooks under its own header names, or else under the usual ones.
    pub const fn svix() -> Self {
        Self {
            id: Some(Place::Beside(Cow::Borrowed(
                const {
                    &[
                        (Text::Borrowed("svix-signature"), Text::Borrowed("svix-id")),
                        (Text::Borrowed("webhook-signature"), Text::Borrowed("webhook-id")),
                    ]
                },
            ))),
            event_type: Some(body("/type")),
            ..Self::NOTHING
        }
    }

    /// Stripe: everything is in the body.
    pub const fn stripe() -> Self {
        Self {
            id: Some(body("/id")),
            event_type: Some(body("/type")),
            resource: Some(body("/data/object/id")),
            time: Some((body("/created"), Unit::Seconds)),
            account: Some(body("/account")),
            ..Self::NOTHING
        }
    }

    /// Paymos: the id of the body, which the unsigned header repeats. `resource` names the pointer of
    /// the entity, which differs by event type (`/data/invoice_id`, …).
    pub const fn paymos() -> Self {
        Self {
            id: Some(body("/event_id")),
            id_copy: Some(Text::Borrowed("X-Webhook-Id")),
            event_type: Some(body("/event_type")),
            version: Some(body("/version")),
            time: Some((body("/occurred_at"), Unit::Seconds)),
            ..Self::NOTHING
        }
    }

    /// GitHub: the delivery id is a header that is not signed, so there is none here; derive the key.
    pub const fn github() -> Self {
        Self {
            event_type: Some(body("/action")),
            resource: Some(body("/repository/id")),
            ..Self::NOTHING
        }
    }

    /// Slack: the outer envelope.
    pub const fn slack() -> Self {
        Self {
            id: Some(body("/event_id")),
            event_type: Some(body("/event/type")),
            time: Some((body("/event_time"), Unit::Seconds)),
            account: Some(body("/team_id")),
            ..Self::NOTHING
        }
    }

    /// Shopify: ids are headers that are not signed, so there is none here; derive the key.
    pub const fn shopify() -> Self {
        Self {
            resource: Some(body("/admin_graphql_api_id")),
            time: Some((body("/updated_at"), Unit::Rfc3339)),
            ..Self::NOTHING
        }
    }

    /// The preset with this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "standard-webhooks" => Self::standard_webhooks(),
            "svix" => Self::svix(),
            "stripe" => Self::stripe(),
            "paymos" => Self::paymos(),
            "github" => Self::github(),
            "slack" => Self::slack(),
            "shopify" => Self::shopify(),
            _ => return None,
        })
    }

    /// Reads a verified request.
    pub fn read(&self, headers: &[(&str, &[u8])], payload: &[u8]) -> Result<Identity, Fault> {
        let reader = Reader { headers, root: self.root(payload)? };
        let id = match &self.id {
            None => None,
            Some(place) => Some(reader.id(place)?),
        };
        if let (Some(id), Some(copy)) = (&id, &self.id_copy)
            && reader.header(copy)?.is_some_and(|copy| copy != *id)
        {
            return Err(Fault::Disagrees);
        }
        let version = reader.optional(self.version.as_ref())?;
        let time = match &self.time {
            None => None,
            Some((place, unit)) => {
                let written = reader.optional(Some(place))?;
                written.and_then(|written| moment(&written, *unit))
            }
        };
        Ok(Identity {
            id,
            event_type: reader.optional(self.event_type.as_ref())?,
            resource: reader.optional(self.resource.as_ref())?,
            version: version
                .and_then(|version| instant::digits(version.as_bytes()))
                .and_then(|version| u64::try_from(version).ok()),
            time,
            account: reader.optional(self.account.as_ref())?,
        })
    }

    fn root<'a>(&self, payload: &'a [u8]) -> Result<Option<Value<'a>>, Fault> {
        let optional = [&self.event_type, &self.resource, &self.version, &self.account];
        let id = [&self.id];
        let time = self.time.as_ref().map(|(place, _)| place);
        let in_body = |place: &Place| matches!(place, Place::Body(_));
        let mut places = id.into_iter().chain(optional).flatten().chain(time);
        if !places.any(in_body) {
            return Ok(None);
        }
        Ok(Some(Json::check(payload)?.root()))
    }

    const NOTHING: Self = Self {
        id: None,
        id_copy: None,
        event_type: None,
        resource: None,
        version: None,
        time: None,
        account: None,
    };
}

/// Whether a text can be a delivery id.
pub fn is_id(text: &str) -> bool {
    (1..=ID_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control)
}

struct Reader<'a> {
    headers: &'a [(&'a str, &'a [u8])],
    root: Option<Value<'a>>,
}

impl Reader<'_> {
    fn id(&self, place: &Place) -> Result<String, Fault> {
        let id = match place {
            Place::Header(name) => self.header(name)?,
            Place::Beside(pairs) => self.beside(pairs)?,
            Place::Body(pointer) => match self.value(pointer)? {
                Some(value) if value.is_null() => None,
                // Two truths would be one delivery.
                Some(value) if value.is_bool() => return Err(Fault::BadId),
                Some(value) => Some(value.scalar().ok_or(Fault::BadId)?),
                None => None,
            },
        };
        let id = id.ok_or(Fault::NoId)?;
        if is_id(&id) { Ok(id) } else { Err(Fault::BadId) }
    }

    fn optional(&self, place: Option<&Place>) -> Result<Option<String>, Fault> {
        match place {
            None => Ok(None),
            Some(Place::Header(name)) => self.header(name),
            Some(Place::Beside(pairs)) => self.beside(pairs),
            Some(Place::Body(pointer)) => Ok(self.value(pointer)?.and_then(Value::scalar)),
        }
    }

    fn beside(&self, pairs: &[(Text, Text)]) -> Result<Option<String>, Fault> {
        let present =
            |name: &str| self.headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        match pairs.iter().find(|(signature, _)| present(signature)) {
            Some((_, name)) => self.header(name),
            None => Ok(None),
        }
    }

    fn value(&self, pointer: &str) -> Result<Option<Value<'_>>, Fault> {
        match self.root {
            Some(root) => Ok(root.at(pointer)?),
            None => Ok(None),
        }
    }

    /// The one value of a header; two different ones disagree, one that is no text is no id.
    fn header(&self, name: &str) -> Result<Option<String>, Fault> {
        let mut lines = self
            .headers
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| trim(value));
        let Some(first) = lines.next() else { return Ok(None) };
        if lines.any(|other| other != first) {
            return Err(Fault::Disagrees);
        }
        String::from_utf8(Vec::from(first)).map(Some).map_err(|_| Fault::BadId)
    }
}

/// A time as the event spells it; numbers of seconds may stand where texts are usual.
fn moment(written: &str, unit: Unit) -> Option<Instant> {
    Instant::parse(written.as_bytes(), unit).or_else(|| instant::rfc3339(written.as_bytes()))
}

const fn body(pointer: &'static str) -> Place {
    Place::Body(Text::Borrowed(pointer))
}

/// The longest delivery id, in bytes.
pub const ID_BYTES_MAX: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::prelude::*;

    fn paymos(headers: &[(&str, &[u8])], body: &str) -> Result<Identity, Fault> {
        Places::paymos().read(headers, body.as_bytes())
    }

    #[test]
    fn paymos_is_read_from_its_body_and_the_header_has_to_agree() {
        let body = r#"{"event_id":"evt_1","event_type":"invoice.paid","version":3,"occurred_at":1700000000}"#;
        let identity = paymos(&[("x-webhook-id", b"evt_1")], body).unwrap();
        assert_eq!(identity.id.as_deref(), Some("evt_1"));
        assert_eq!(identity.version, Some(3));
        assert_eq!(identity.time.map(|time| time.seconds), Some(1_700_000_000));
        assert_eq!(paymos(&[("x-webhook-id", b"evt_2")], body), Err(Fault::Disagrees));
        assert!(paymos(&[], body).is_ok(), "an absent copy agrees");
    }

    #[test]
    fn an_id_is_one_to_255_bytes_without_controls() {
        for (id, fault) in [
            (String::new(), Fault::BadId),
            ("a".repeat(256), Fault::BadId),
            ("a\\u0000".into(), Fault::BadId),
            ("a\\n".into(), Fault::BadId),
            ("\\ud83d".into(), Fault::BadId),
        ] {
            assert_eq!(paymos(&[], &format!(r#"{{"event_id":"{id}"}}"#)), Err(fault), "{id}");
        }
        assert!(paymos(&[], &format!(r#"{{"event_id":"{}"}}"#, "a".repeat(255))).is_ok());
        assert_eq!(paymos(&[], "{}"), Err(Fault::NoId));
        assert_eq!(paymos(&[], r#"{"event_id":null}"#), Err(Fault::NoId));
        assert_eq!(paymos(&[], r#"{"event_id":true}"#), Err(Fault::BadId));
    }

    #[test]
    fn a_body_that_two_readers_read_differently_is_unreadable() {
        let twice = r#"{"event_id":"evt_1","event\u005fid":"evt_2"}"#;
        assert_eq!(paymos(&[], twice), Err(Fault::Body(Unreadable::DuplicateKey)));
        assert_eq!(paymos(&[], "{"), Err(Fault::Body(Unreadable::NotJson)));
        let type_twice = r#"{"event_id":"evt_1","event_type":"a","event_type":"b"}"#;
        assert_eq!(paymos(&[], type_twice), Err(Fault::Body(Unreadable::DuplicateKey)));
    }

    #[test]
    fn svix_is_read_by_the_headers_that_its_verifier_takes() {
        let read = |headers: &[(&str, &[u8])]| Places::svix().read(headers, b"{}").map(|it| it.id);
        let usual: [(&str, &[u8]); 2] = [("webhook-id", b"msg_1"), ("webhook-signature", b"v1,x")];
        assert_eq!(read(&usual), Ok(Some("msg_1".into())));
        let unsigned = [usual[0], usual[1], ("svix-id", b"msg_2")];
        assert_eq!(read(&unsigned), Ok(Some("msg_1".into())), "nothing signs the other id");
        let own = [usual[0], usual[1], ("Svix-Id", b"msg_2"), ("Svix-Signature", b"v1,x")];
        assert_eq!(read(&own), Ok(Some("msg_2".into())));
        assert_eq!(read(&usual[..1]), Err(Fault::NoId));
    }

    #[test]
    fn no_preset_trusts_an_unsigned_header() {
        for name in ["stripe", "paymos", "github", "slack", "shopify"] {
            let id = Places::named(name).unwrap().id;
            assert!(!matches!(id, Some(Place::Header(_))), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body: Vec<u8>) {
            for name in ["standard-webhooks", "stripe", "paymos", "github", "slack", "shopify"] {
                let _ = Places::named(name).unwrap().read(&[("webhook-id", &body)], &body);
            }
        }
    }
}
