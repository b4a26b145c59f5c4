//! Sources: whose requests are taken in, how they are verified, and what their bytes say (R1, R17, R18).

use std::time::Duration;

use hookproof_core::{
    Millis,
    identity::{self, Identity, Place, Places},
    payload::Payload,
    profile::Profile,
    scheme::{
        Algorithm, BadSecret, Construction, Refusal, Request, Scheme, Time, Verifier, Window,
        handshake::{self, Reply},
    },
};
use secrecy::{ExposeSecret, SecretString};

use crate::{ident, store::Letter};

/// One registered source: its scheme and secrets, where its events say what they are, and what it wants
/// of an answer.
#[derive(Clone, Debug)]
pub struct Source {
    pub(crate) name: String,
    pub(crate) acknowledge: u16,
    pub(crate) answer_limit: Duration,
    pub(crate) sender: Option<Profile>,
    account: Account,
    verifier: Verifier,
    secrets: Vec<Known>,
    places: Places,
    derives_id: bool,
    agreed: Option<SecretString>,
}

/// Whose events come from a source.
#[derive(Clone, Debug)]
enum Account {
    /// Always this account's.
    Fixed(String),
    /// That which the signed event names.
    Named,
}

/// A secret, by its name.
#[derive(Clone, Debug)]
struct Known {
    name: String,
    revoked: bool,
}

/// A verified request: what is kept of it, and what it says; `None`: nothing that can be read.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) letter: Letter,
    pub(crate) identity: Option<Identity>,
}

/// Why a source cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadSource {
    /// Nothing is known under this name.
    UnknownPreset(String),
    /// A secret is not one for this scheme.
    Secret(String, BadSecret),
    /// The delivery id would be read where the signature does not reach.
    UnsignedId,
    /// The source has no delivery id, and no other key was declared.
    NoId,
}

impl std::fmt::Display for BadSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownPreset(name) => write!(
                f,
                "expected the name of a provider, found `{name}`: `hookproof schemes` lists them, or \
                 declare scheme and places of your own"
            ),
            Self::Secret(name, bad) => write!(f, "secret `{name}`: {bad}"),
            Self::UnsignedId => f.write_str(
                "expected a delivery id that the signature covers, found a header that it does not: \
                 take the id from the body, or call `derive_id`",
            ),
            Self::NoId => f.write_str(
                "expected a delivery id, found that this source signs none: call `derive_id`, and equal \
                 bytes are one delivery",
            ),
        }
    }
}

impl std::error::Error for BadSource {}

impl Source {
    /// A source of a provider that is known by name: its scheme, and where its ids are.
    pub fn preset(name: &str, provider: &str) -> Result<Self, BadSource> {
        let unknown = || BadSource::UnknownPreset(provider.to_owned());
        let scheme = hookproof_core::scheme::named(provider).ok_or_else(unknown)?;
        let places = Places::named(provider).ok_or_else(unknown)?;
        Ok(Self::new(name, scheme, places))
    }

    /// A source with a scheme and places of one's own.
    pub fn new(name: &str, scheme: &Scheme, places: Places) -> Self {
        let mut verifier = Verifier::new(scheme);
        // A shared token vouches for the whole request or for nothing.
        if reads_body(&places) && scheme.algorithm != Algorithm::Token {
            verifier.require_body();
        }
        Self {
            name: name.to_owned(),
            acknowledge: 200,
            answer_limit: ANSWER_LIMIT,
            sender: None,
            account: Account::Fixed(String::new()),
            verifier,
            secrets: Vec::new(),
            places,
            derives_id: false,
            agreed: None,
        }
    }

    /// Adds a secret. Its name is kept with what it verified, so that its revocation reaches a replay
    /// (R12); a secret that was revoked stays here, and says so in its window.
    pub fn secret(mut self, name: &str, text: &str, window: Window) -> Result<Self, BadSource> {
        let added = self.verifier.add_within(text, window).map(drop);
        added.map_err(|bad| BadSource::Secret(name.to_owned(), bad))?;
        self.secrets.push(Known { name: name.to_owned(), revoked: window.revoked });
        Ok(self)
    }

    /// Whose events they are, all of them. Entities are an account's, whichever of its sources speaks.
    #[must_use]
    pub fn account(self, account: &str) -> Self {
        Self { account: Account::Fixed(account.to_owned()), ..self }
    }

    /// The signed event names its account.
    #[must_use]
    pub fn account_of_event(self) -> Self {
        Self { account: Account::Named, ..self }
    }

    /// The source gives its deliveries no id that is signed: equal bytes are one delivery.
    #[must_use]
    pub fn derive_id(self) -> Self {
        let places = Places { id: None, id_copy: None, ..self.places };
        Self { derives_id: true, places, ..self }
    }

    /// The status that this source takes for an acknowledgement; 200 unless set.
    #[must_use]
    pub fn acknowledge(self, status: u16) -> Self {
        Self { acknowledge: status, ..self }
    }

    /// What the provider must say when it shakes hands: a verify token, a topic, an origin.
    #[must_use]
    pub fn agreed(self, text: SecretString) -> Self {
        Self { agreed: Some(text), ..self }
    }

    /// How long an answer may take; [`ANSWER_LIMIT`] unless set. Past it the source is asked to come back.
    #[must_use]
    pub fn answer_within(self, limit: Duration) -> Self {
        Self { answer_limit: limit, ..self }
    }

    /// How this source sends: without it keys cannot be forgotten (R16).
    #[must_use]
    pub fn sender(self, profile: Profile) -> Self {
        Self { sender: Some(profile), ..self }
    }

    /// What is wrong with the source as a whole.
    pub(crate) fn check(&self) -> Result<(), BadSource> {
        let signs = self.verifier.scheme().signs();
        let token = self.verifier.scheme().algorithm == Algorithm::Token;
        let varies = self.verifier.scheme().construction == Construction::HttpMessage;
        match self.places.id {
            None if self.derives_id => Ok(()),
            None => Err(BadSource::NoId),
            Some(Place::Header(_) | Place::Beside(_)) if varies || !(signs.id || token) => {
                Err(BadSource::UnsignedId)
            }
            Some(_) => Ok(()),
        }
    }

    /// The reply to a request that is no delivery but a handshake.
    pub(crate) fn shake(
        &self,
        request: &Request<'_>,
        now: Millis,
    ) -> Option<Result<Reply, Refusal>> {
        let agreed = self.agreed.as_ref().map(ExposeSecret::expose_secret);
        let handshake = handshake::of(&self.verifier.scheme().name)?;
        handshake.answer(&self.verifier, request, agreed, Time::At(now))
    }

    /// Verifies a request, and reads it. What is refused leaves no trace (R2).
    pub(crate) fn open(&self, request: &Request<'_>, now: Millis) -> Result<Opened, Refusal> {
        let verified = self.verifier.verify(request, Time::At(now))?;
        let read = self.places.read(request.headers, request.body).ok().filter(is_storable);
        let named = read.as_ref().and_then(|identity| identity.account.clone());
        let account = match &self.account {
            Account::Fixed(account) => account.clone(),
            Account::Named => named.unwrap_or_default(),
        };
        let id = read.as_ref().and_then(|identity| identity.id.clone());
        let text = |value: Option<&String>| value.cloned().unwrap_or_default();
        let letter = Letter {
            source: self.name.clone(),
            account,
            delivery: id.unwrap_or_else(|| id_of(request.body)),
            event_type: text(read.as_ref().and_then(|identity| identity.event_type.as_ref())),
            resource: text(read.as_ref().and_then(|identity| identity.resource.as_ref())),
            verified_by: self.secrets[verified.secret()].name.clone(),
            payload: Payload::of(request.body.to_vec()),
        };
        Ok(Opened { letter, identity: read })
    }

    /// Whether the secret with this name still counts for something.
    pub(crate) fn trusts(&self, secret: &str) -> bool {
        self.secrets.iter().any(|known| known.name == secret && !known.revoked)
    }
}

fn reads_body(places: &Places) -> bool {
    let texts =
        [&places.id, &places.event_type, &places.resource, &places.version, &places.account];
    let time = places.time.as_ref().map(|(place, _)| place);
    texts.into_iter().flatten().chain(time).any(|place| matches!(place, Place::Body(_)))
}

/// The key of a delivery that has no id, or none that can be read: its bytes.
fn id_of(body: &[u8]) -> String {
    format!("sha256:{:032x}", ident::digest(body).0)
}

/// Whether each routing text fits a column and an index; one that does not makes the event unreadable.
fn is_storable(read: &Identity) -> bool {
    let texts = [&read.event_type, &read.resource, &read.account];
    texts.into_iter().flatten().all(|text| identity::is_id(text))
}

/// How long an answer may take, where the source grants no longer: some grant three seconds.
pub const ANSWER_LIMIT: Duration = Duration::from_millis(2_500);

#[cfg(test)]
mod tests {
    use hookproof_core::scheme::Message;

    use super::*;

    const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    const NOW: Millis = Millis(1_700_000_000_000);

    fn shop() -> Source {
        let source = Source::preset("partner", "standard-webhooks").expect("a preset");
        source.secret("first", SECRET, Window::always()).expect("a secret").account("shop")
    }

    fn signed(body: &[u8]) -> Vec<(String, String)> {
        let scheme = hookproof_core::scheme::named("standard-webhooks").expect("a scheme");
        let mut signer = Verifier::new(scheme);
        signer.add(SECRET).expect("a secret");
        let message = Message { id: "evt_1", timestamp: "1700000000", body, ..Message::default() };
        signer.sign(&message, Time::NotTested).expect("signed")
    }

    fn open(body: &[u8], sent: &[u8]) -> Result<Opened, Refusal> {
        let headers = signed(body);
        let headers: Vec<(&str, &[u8])> =
            headers.iter().map(|(name, value)| (&**name, value.as_bytes())).collect();
        shop().open(&Request { headers: &headers, body: sent, ..Request::default() }, NOW)
    }

    #[test]
    fn what_was_signed_is_kept_byte_for_byte_under_its_signed_id() {
        let body = b"{\"type\": \"order.paid\"}\r\n";
        let opened = open(body, body).expect("authentic");
        let letter = opened.letter;
        assert_eq!(
            (&*letter.delivery, &*letter.account, &*letter.verified_by),
            ("evt_1", "shop", "first")
        );
        assert_eq!((&*letter.event_type, letter.payload.as_bytes()), ("order.paid", &body[..]));
        assert!(open(body, b"{\"type\": \"order.paid\"}").is_err(), "other bytes");
    }

    #[test]
    fn an_authentic_body_that_cannot_be_stored_is_kept_under_its_digest() {
        let nul = b"{\"type\":\"order\\u0000paid\"}";
        for body in [&b"{"[..], nul] {
            let opened = open(body, body).expect("authentic");
            assert!(opened.identity.is_none());
            assert!(opened.letter.delivery.starts_with("sha256:"), "{:?}", opened.letter);
        }
    }

    #[test]
    fn an_id_that_nothing_signs_is_refused_when_the_source_is_declared() {
        let id = Some(Place::Header("X-GitHub-Delivery".into()));
        let scheme = hookproof_core::scheme::named("github").expect("a scheme");
        let source = Source::new("hub", scheme, Places { id, ..Places::github() });
        assert_eq!(source.check(), Err(BadSource::UnsignedId));
        assert_eq!(Source::new("hub", scheme, Places::github()).check(), Err(BadSource::NoId));
        assert_eq!(Source::new("hub", scheme, Places::github()).derive_id().check(), Ok(()));
        assert_eq!(shop().check(), Ok(()));
    }

    #[test]
    fn what_was_agreed_on_is_never_shown() {
        let source = shop().agreed("hunter2".into());
        assert!(!format!("{source:?}").contains("hunter2"));
    }

    #[test]
    fn a_secret_that_was_revoked_is_trusted_no_more() {
        let window = Window::always().revoke();
        let source = shop().secret("old", SECRET, window).expect("a secret");
        assert!(source.trusts("first") && !source.trusts("old") && !source.trusts("unheard of"));
    }
}
