//! HTTP message signatures (RFC 9421), with `Content-Digest` (RFC 9530).

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
    vec::Vec,
};

use sha2::{Digest, Sha256, Sha512};

use super::{
    Algorithm, LINE_BYTES_MAX, Message, Refusal, Request, SIGNATURES_MAX, Secret, SignError, Signs,
    Time, Verified, Verifier,
    content::decode_form,
    key,
    sfv::{self, Bare, Component, InnerList},
    url_forms,
};
use crate::{
    codec,
    instant::{Instant, Unit},
};

/// One message signature of a request: the text that it was made over, and the signature.
pub struct HttpSignature {
    /// The label of both members.
    pub label: String,
    /// The signature base (RFC 9421 section 2.5).
    pub base: String,
    /// The signature's bytes.
    pub signature: Vec<u8>,
    list: InnerList,
}

impl HttpSignature {
    /// Every signature of a request whose base can be built, in order. A label that stands there with
    /// different members is left out, and blocks no other.
    pub fn of(request: &Request<'_>) -> Result<Vec<Self>, Refusal> {
        let inputs = request.joined("signature-input").ok_or(Refusal::MissingHeader)?;
        let values = request.joined("signature").ok_or(Refusal::MissingHeader)?;
        if inputs.len() > LINE_BYTES_MAX || values.len() > LINE_BYTES_MAX {
            return Err(Refusal::Malformed);
        }
        let inputs = sfv::inner_lists(&inputs).ok_or(Refusal::Malformed)?;
        let values = sfv::byte_sequences(&values).ok_or(Refusal::Malformed)?;
        let mut all: Vec<Self> = Vec::new();
        let mut refusal = Refusal::Malformed;
        let lists = inputs.iter().filter_map(|(label, list)| Some((label, list.as_ref()?)));
        for (label, list) in lists.take(SIGNATURES_MAX) {
            let is_known = all.iter().any(|known| known.label == *label);
            let same_list = |other: &InnerList| other.text == list.text;
            let differs = inputs
                .iter()
                .any(|(other, list)| other == label && !list.as_ref().is_some_and(same_list));
            if differs {
                refusal = Refusal::AmbiguousHeader;
            }
            let mut of_label = values.iter().filter(|(other, _)| other == label);
            let Some((_, Some(signature))) = of_label.next() else { continue };
            let same_value = |value: &Option<Vec<u8>>| value.as_ref() == Some(signature);
            if differs || is_known || !of_label.all(|(_, value)| same_value(value)) {
                continue;
            }
            if let Some(base) = base(list, request) {
                let (label, signature) = (label.clone(), signature.clone());
                all.push(Self { label, base, signature, list: list.clone() });
            }
        }
        if all.is_empty() { Err(refusal) } else { Ok(all) }
    }

    fn parameter(&self, name: &str) -> Option<&Bare> {
        self.list.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The time that is signed, as it is written.
    pub(crate) fn created(&self) -> Option<i64> {
        match self.parameter("created")? {
            Bare::Integer(created) => Some(*created),
            Bare::Text(_) | Bare::Bytes(_) | Bare::Word(_) => None,
        }
    }

    fn covers(&self, names: &[&str]) -> bool {
        self.list.components.iter().any(|component| names.contains(&&*component.name))
    }

    fn signs(&self) -> Signs {
        Signs {
            body: self.covers(&["content-digest"]),
            id: false,
            time: self.parameter("created").is_some(),
            url: self.covers(&["@target-uri", "@request-target", "@path"]),
            method: self.covers(&["@method"]),
        }
    }
}

/// Whether each digest of a known algorithm in a `Content-Digest` value is the body's, and there is one.
pub fn content_digest_matches(value: &[u8], body: &[u8]) -> bool {
    let Some(digests) = sfv::byte_sequences(value) else { return false };
    let mut known = 0;
    for (algorithm, claimed) in digests {
        let same = match &*algorithm {
            "sha-256" => claimed.is_some_and(|claimed| key::same(&Sha256::digest(body), &claimed)),
            "sha-512" => claimed.is_some_and(|claimed| key::same(&Sha512::digest(body), &claimed)),
            _ => continue,
        };
        known += 1;
        if !same {
            return false;
        }
    }
    known > 0
}

pub(crate) fn verify(
    verifier: &Verifier,
    request: &Request<'_>,
    time: Time,
) -> Result<Verified, Refusal> {
    let mut refusal = Refusal::NoMatch;
    for signature in HttpSignature::of(request)? {
        match verify_one(verifier, &signature, request, time) {
            Ok(proof) => return Ok(proof),
            Err(reason) => refusal = reason,
        }
    }
    Err(refusal)
}

fn verify_one(
    verifier: &Verifier,
    signature: &HttpSignature,
    request: &Request<'_>,
    time: Time,
) -> Result<Verified, Refusal> {
    let algorithm = name(verifier.scheme.algorithm).ok_or(Refusal::NoMatch)?;
    match signature.parameter("alg") {
        Some(Bare::Text(claimed)) if claimed != algorithm => return Err(Refusal::NoMatch),
        None | Some(Bare::Text(_)) => {}
        Some(_) => return Err(Refusal::Malformed),
    }
    let at = match signature.parameter("created") {
        Some(Bare::Integer(created)) => {
            let written = created.to_string();
            Some(verifier.in_window(written.as_bytes(), Unit::Seconds, time)?)
        }
        // Without a time a captured request would verify for ever.
        None if time == Time::NotTested => None,
        None | Some(_) => return Err(Refusal::BadTimestamp),
    };
    not_expired(signature, time)?;
    // What covers nothing could be put beside any request.
    if signature.list.components.is_empty() {
        return Err(Refusal::NoMatch);
    }
    let base = signature.base.as_bytes();
    let mut live = verifier.live(time);
    let hit = live.find(|(_, secret)| secret.key.verifies(base, &signature.signature));
    let (secret, _) = hit.ok_or(Refusal::NoMatch)?;
    match request.joined("content-digest") {
        Some(digest) if !content_digest_matches(&digest, request.body) => Err(Refusal::NoMatch),
        _ => Ok(Verifier::verified(secret, at, signature.signs())),
    }
}

fn not_expired(signature: &HttpSignature, time: Time) -> Result<(), Refusal> {
    match (signature.parameter("expires"), time) {
        (None, _) | (Some(Bare::Integer(_)), Time::NotTested) => Ok(()),
        (Some(Bare::Integer(expires)), Time::At(now)) => {
            let now = i64::try_from(now.0 / 1_000).unwrap_or(i64::MAX);
            if now > *expires { Err(Refusal::TooOld) } else { Ok(()) }
        }
        (Some(_), _) => Err(Refusal::BadTimestamp),
    }
}

/// The signature base; `None` where a component is missing, repeated or of a kind that is not read.
fn base(list: &InnerList, request: &Request<'_>) -> Option<String> {
    let mut base = String::new();
    for (index, component) in list.components.iter().enumerate() {
        if list.components[..index].contains(component) {
            return None;
        }
        base.push_str(&component.text);
        base.push_str(": ");
        let value = value(component, request)?;
        // A line end within a value would be a component of its own (RFC 9421 section 2.5).
        if value.contains('\n') {
            return None;
        }
        base.push_str(&value);
        base.push('\n');
        if base.len() > 4 * LINE_BYTES_MAX {
            return None;
        }
    }
    base.push_str("\"@signature-params\": ");
    base.push_str(&list.text);
    Some(base)
}

fn value<'r>(component: &Component, request: &Request<'r>) -> Option<Cow<'r, str>> {
    if component.name == "@query-param" {
        return query_param(component, request.url?).map(Cow::Owned);
    }
    if !component.parameters.is_empty() {
        return None;
    }
    Some(match &*component.name {
        "@method" => Cow::Borrowed(request.method?),
        "@target-uri" => Cow::Borrowed(request.url?),
        "@authority" => Cow::Owned(authority(request.url?)?),
        "@scheme" => Cow::Owned(request.url?.split_once("://")?.0.to_ascii_lowercase()),
        "@request-target" => Cow::Borrowed(url_forms::path(request.url?)),
        "@path" => {
            let path = url_forms::path(request.url?);
            let path = path.split_once('?').map_or(path, |(path, _)| path);
            Cow::Borrowed(if path.is_empty() { "/" } else { path })
        }
        "@query" => {
            let query =
                url_forms::path(request.url?).split_once('?').map_or("", |(_, query)| query);
            Cow::Owned(format!("?{query}"))
        }
        "@status" => Cow::Owned(request.status?.to_string()),
        name if name.starts_with('@') || name.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            return None;
        }
        name => Cow::Owned(String::from_utf8(request.joined(name)?).ok()?),
    })
}

/// The host in lower case, with its port unless it is the scheme's own.
fn authority(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    let own = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    Some(host.strip_suffix(own).map(ToString::to_string).unwrap_or(host))
}

/// The one value of a query parameter, decoded and encoded again (RFC 9421 section 2.2.8).
fn query_param(component: &Component, url: &str) -> Option<String> {
    let [(key, Bare::Text(name))] = &component.parameters[..] else { return None };
    let (_, query) = url_forms::path(url).split_once('?')?;
    let pairs = decode_form(query.as_bytes());
    let mut values =
        pairs.iter().filter(|(key, _)| encode(key) == *name).map(|(_, value)| encode(value));
    let value = values.next().filter(|_| key == "name")?;
    values.next().is_none().then_some(value)
}

/// The percent-encoding of `application/x-www-form-urlencoded`, a blank as `%20`.
fn encode(text: &[u8]) -> String {
    url_forms::escaped(text, b"*-._")
}

/// The algorithm's name in the registry of RFC 9421.
const fn name(algorithm: Algorithm) -> Option<&'static str> {
    match algorithm {
        Algorithm::HmacSha256 => Some("hmac-sha256"),
        Algorithm::Ed25519 => Some("ed25519"),
        Algorithm::EcdsaP256Raw => Some("ecdsa-p256-sha256"),
        Algorithm::HmacSha1
        | Algorithm::HmacSha384
        | Algorithm::HmacSha512
        | Algorithm::Sha256Concat
        | Algorithm::EcdsaP256Der
        | Algorithm::Token => None,
    }
}

/// Signs method and URL, where they are known, and always the digest of the body.
pub(crate) fn sign(
    verifier: &Verifier,
    message: &Message<'_>,
    live: &[&Secret],
) -> Result<Vec<(String, String)>, SignError> {
    let digest = format!("sha-256=:{}:", codec::to_base64(&Sha256::digest(message.body)));
    let algorithm = name(verifier.scheme.algorithm).ok_or(SignError::VerifyOnly)?;
    Instant::parse(message.timestamp.as_bytes(), Unit::Seconds).ok_or(SignError::Unreadable)?;
    let mut covered = String::new();
    if message.method.is_some() {
        covered.push_str("\"@method\" ");
    }
    if message.url.is_some() {
        covered.push_str("\"@target-uri\" ");
    }
    let list =
        format!("({covered}\"content-digest\");created={};alg=\"{algorithm}\"", message.timestamp);
    let inputs: Vec<String> = (1..=live.len()).map(|at| format!("sig{at}={list}")).collect();
    let headers = [("content-digest", digest.as_bytes())];
    let request = Request {
        headers: &headers,
        body: message.body,
        method: message.method,
        url: message.url,
        ..Request::default()
    };
    let mut signatures = Vec::new();
    for (at, secret) in live.iter().enumerate() {
        let read = sfv::inner_lists(inputs[at].as_bytes()).ok_or(SignError::Incomplete)?;
        let list = read.first().and_then(|(_, list)| list.as_ref());
        let base = base(list.ok_or(SignError::Incomplete)?, &request);
        let base = base.ok_or(SignError::Incomplete)?;
        let signature = secret.key.sign(base.as_bytes()).ok_or(SignError::VerifyOnly)?;
        signatures.push(format!("sig{}=:{}:", at + 1, codec::to_base64(&signature)));
    }
    Ok(alloc::vec![
        ("Content-Digest".to_string(), digest),
        ("Signature-Input".to_string(), inputs.join(", ")),
        ("Signature".to_string(), signatures.join(", ")),
    ])
}
