//! One signer for every scheme: the headers that a sender writes last.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use super::{
    Carrier, Construction, Encoding, Field, Grammar, Names, Part, Place, Refusal, Request, Secret,
    Template, Time, Verifier,
    content::{self, Content},
    key::Key,
    message, verify,
};
use crate::{
    Millis,
    answer::trim,
    codec,
    instant::{Instant, Unit},
};

/// What is to be signed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Message<'a> {
    /// The delivery id.
    pub id: &'a str,
    /// The time of this attempt, written as the scheme writes times (see [`Message::written`]).
    pub timestamp: &'a str,
    /// The bytes that will be sent.
    pub body: &'a [u8],
    /// The method, where the scheme signs it.
    pub method: Option<&'a str>,
    /// The URL, where the scheme signs it.
    pub url: Option<&'a str>,
    /// Other headers that will be sent, where the scheme signs them.
    pub headers: &'a [Field<'a>],
}

impl Message<'_> {
    /// An instant as a scheme of this unit writes it.
    pub fn written(now: Millis, unit: Unit) -> String {
        Instant::from_millis(i64::try_from(now.0).unwrap_or(i64::MAX)).written(unit)
    }
}

/// Why nothing was signed: a fault of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignError {
    /// No secret counts now.
    NoSecret,
    /// The key can only verify, or the scheme's tag belongs inside of the body.
    VerifyOnly,
    /// The message lacks what the scheme signs.
    Incomplete,
    /// The id, the time or the token could not be read back: blanks around it, a control character,
    /// another unit, or an id that a time could be read out of.
    Unreadable,
}

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSecret => "no secret counts now",
            Self::VerifyOnly => "this scheme or key can only verify",
            Self::Incomplete => "the message lacks what the scheme signs",
            Self::Unreadable => {
                "the id, the time or the token could not be read back: blanks around it, a control \
                 character, another unit, or an id that a time could be read out of"
            }
        })
    }
}

impl core::error::Error for SignError {}

impl From<Refusal> for SignError {
    fn from(_: Refusal) -> Self {
        Self::Incomplete
    }
}

impl Verifier {
    /// The protocol headers of a message: one tag for each live secret where the scheme has a list,
    /// else of the first live one.
    pub fn sign(
        &self,
        message: &Message<'_>,
        time: Time,
    ) -> Result<Vec<(String, String)>, SignError> {
        let mut live: Vec<&Secret> = self.live(time).map(|(_, secret)| secret).collect();
        if live.is_empty() {
            return Err(SignError::NoSecret);
        }
        if !self.scheme.signs_with_all() {
            live.truncate(1);
        }
        let headers = match &self.scheme.construction {
            Construction::Template(template) => Self::sign_template(template, message, &live),
            Construction::HttpMessage => message::sign(self, message, &live),
            Construction::AdyenItems | Construction::Mailgun => Err(SignError::VerifyOnly),
        }?;
        // A line end would begin another header.
        let whole = |(name, value): &(String, String)| {
            arrives(name.as_bytes()) && arrives(value.as_bytes())
        };
        if headers.iter().all(whole) { Ok(headers) } else { Err(SignError::Unreadable) }
    }

    fn sign_template(
        template: &Template,
        message: &Message<'_>,
        live: &[&Secret],
    ) -> Result<Vec<(String, String)>, SignError> {
        let names = template.names.first().ok_or(SignError::Incomplete)?;
        reads_back(template, message)?;
        let mut headers = Vec::new();
        let id = names.id.as_deref().filter(|_| !message.id.is_empty());
        if let Some(name) = id {
            headers.push((name.to_string(), message.id.to_string()));
        } else if template.signed.contains(&Part::Id) {
            return Err(SignError::Incomplete);
        }
        if let Some(name) = &names.timestamp
            && !message.timestamp.is_empty()
        {
            headers.push((name.to_string(), message.timestamp.to_string()));
        }
        for (name, value) in template.fixed.iter() {
            headers.push((name.to_string(), value.to_string()));
        }
        let tags = tags(template, names, message, &headers, live)?;
        headers.extend(carry(template, names, message, &tags));
        Ok(headers)
    }
}

/// A receiver would refuse what does not arrive as it was signed.
fn reads_back(template: &Template, message: &Message<'_>) -> Result<(), SignError> {
    let (id, timestamp) = (message.id.as_bytes(), message.timestamp.as_bytes());
    let shifted = content::holds_time(&template.signed, id);
    let timed = template.signed.contains(&Part::Timestamp) && !timestamp.is_empty();
    let is_time = match &template.clock {
        Some((Place::Header | Place::Member, unit)) if timed => {
            Instant::parse(timestamp, *unit).is_some()
        }
        _ => true,
    };
    if arrives(id) && arrives(timestamp) && !shifted && is_time {
        Ok(())
    } else {
        Err(SignError::Unreadable)
    }
}

/// Whether a header brings this text as it is.
fn arrives(text: &[u8]) -> bool {
    trim(text) == text && !text.iter().any(u8::is_ascii_control)
}

/// One written tag for each secret.
fn tags(
    template: &Template,
    names: &Names,
    message: &Message<'_>,
    headers: &[(String, String)],
    live: &[&Secret],
) -> Result<Vec<String>, SignError> {
    let mut lines: Vec<Field<'_>> = message.headers.to_vec();
    lines.extend(headers.iter().map(|(name, value)| (&**name, value.as_bytes())));
    let listed = listed_headers(template, message);
    if let (Some(listed), Some(name)) = (&listed, content::signature_header(names)) {
        lines.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        lines.push((name, listed.as_bytes()));
    }
    let request = Request {
        headers: &lines,
        body: message.body,
        method: message.method,
        url: message.url,
        status: None,
        form: None,
    };
    let timestamp = template.clock.as_ref().and(Some(message.timestamp.as_bytes()));
    let needed = template.signed.contains(&Part::Timestamp);
    if needed && message.timestamp.is_empty() {
        return Err(SignError::Incomplete);
    }
    verify::body_digest(template, &request)?;
    let content = Content::new(template, names, &request, timestamp)?;
    let text = content.text(&template.signed, 0);
    live.iter().map(|secret| written_tag(template, &secret.key, &text)).collect()
}

fn written_tag(template: &Template, key: &Key, text: &[u8]) -> Result<String, SignError> {
    let strongest = super::Algorithm::HmacSha256;
    let key = key.for_method(Some(strongest)).ok_or(SignError::VerifyOnly)?;
    let tag = key.sign(text).ok_or(SignError::VerifyOnly)?;
    Ok(match template.encoding {
        Encoding::Hex | Encoding::HexOrBase64 => codec::to_hex(&tag),
        Encoding::Base64 => codec::to_base64(&tag),
        Encoding::Plain if arrives(&tag) => {
            String::from_utf8(tag).map_err(|_| SignError::VerifyOnly)?
        }
        Encoding::Plain => return Err(SignError::Unreadable),
    })
}

/// The signature headers that carry the tags.
fn carry(
    template: &Template,
    names: &Names,
    message: &Message<'_>,
    tags: &[String],
) -> Vec<(String, String)> {
    match &names.signature {
        Carrier::One(name) => {
            alloc::vec![(name.to_string(), line(template, message, tags))]
        }
        Carrier::Each(each) => each
            .iter()
            .zip(tags)
            .map(|(name, tag)| {
                (name.to_string(), line(template, message, core::slice::from_ref(tag)))
            })
            .collect(),
        Carrier::Numbered(prefix) => tags
            .iter()
            .enumerate()
            .map(|(at, tag)| {
                (format!("{prefix}{}", at + 1), line(template, message, core::slice::from_ref(tag)))
            })
            .collect(),
    }
}

/// One field line with these tags.
fn line(template: &Template, message: &Message<'_>, tags: &[String]) -> String {
    match &template.grammar {
        Grammar::Single { prefix } => format!("{prefix}{}", tags.concat()),
        Grammar::Method => format!("sha256={}", tags.concat()),
        Grammar::Versions { version } => {
            let all: Vec<String> = tags.iter().map(|tag| format!("{version},{tag}")).collect();
            all.join(" ")
        }
        Grammar::Pairs { separator, spaced, timestamp, tags: keys, .. } => {
            let key = keys.first().map_or("", |key| &**key);
            let clock =
                timestamp.as_ref().filter(|_| matches!(template.clock, Some((Place::Member, _))));
            let first = clock.map(|key| format!("{key}={}", message.timestamp));
            let front = first.into_iter().chain(listed_headers(template, message));
            let all: Vec<String> =
                front.chain(tags.iter().map(|tag| format!("{key}={tag}"))).collect();
            let blank = if *spaced { " " } else { "" };
            all.join(&format!("{}{blank}", char::from(*separator)))
        }
    }
}

/// The member with the names of all other headers that will be sent, each once, where they are signed.
fn listed_headers(template: &Template, message: &Message<'_>) -> Option<String> {
    let Grammar::Pairs { headers: Some(key), .. } = &template.grammar else { return None };
    let signature = template.names.first().and_then(content::signature_header);
    let mut names: Vec<String> = Vec::new();
    for (name, _) in message.headers {
        let name = name.to_ascii_lowercase();
        let is_signature = signature.is_some_and(|own| own.eq_ignore_ascii_case(&name));
        if !is_signature && !names.contains(&name) {
            names.push(name);
        }
    }
    Some(format!("{key}={}", names.join(" ")))
}
