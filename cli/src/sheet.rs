//! What there is to know of a scheme, in words.

use hookproof_core::{
    instant::Unit,
    scheme::{
        Algorithm, Carrier, Construction, Encoding, Grammar, KeyForm, Part, Place, Scheme, Side,
        Signs, Template, Tolerance,
    },
};

use crate::say::visible;

/// What is signed, as one text with names in braces.
pub(crate) fn content(scheme: &Scheme) -> String {
    match &scheme.construction {
        _ if scheme.algorithm == Algorithm::Token => "nothing: the secret itself is sent".into(),
        Construction::Template(template) => template_text(template),
        Construction::AdyenItems => {
            "pspReference:originalReference:merchantAccountCode:merchantReference:value:currency:\
             eventCode:success of each item of the body"
                .into()
        }
        Construction::Mailgun => "{timestamp}{token}, both from the body".into(),
        Construction::HttpMessage => {
            "the components that the sender lists in Signature-Input (RFC 9421)".into()
        }
    }
}

fn template_text(template: &Template) -> String {
    let text: String = template.signed.iter().map(part).collect();
    match &template.body_sha256_query {
        Some(name) => format!("{text}, with the body's SHA-256 in the query parameter {name}"),
        None => text,
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => visible(text),
        Part::Id => "{id}".into(),
        Part::Timestamp => "{timestamp}".into(),
        Part::Body => "{body}".into(),
        Part::CompactBody => "{compact_body}".into(),
        Part::Url(_) => "{url}".into(),
        Part::Path => "{path}".into(),
        Part::EncodedPath => "{path, encoded; its query twice}".into(),
        Part::Method => "{method}".into(),
        Part::FormParams => "{form}".into(),
        Part::NamedHeaders => "{names and values of the headers listed}".into(),
        Part::ListedHeaders(name) => format!("{{headers listed in {name}}}"),
        Part::Header(name) => format!("{{header:{name}}}"),
    }
}

/// The parts of a request that are signed, a word each.
pub(crate) fn signed(signs: Signs) -> Vec<&'static str> {
    let all = [
        (signs.body, "body"),
        (signs.id, "id"),
        (signs.time, "time"),
        (signs.url, "url"),
        (signs.method, "method"),
    ];
    all.into_iter().filter(|(signs, _)| *signs).map(|(_, word)| word).collect()
}

/// The parts that a receiver may lean on though nobody signed them: body and time always, an id where
/// a header has one.
pub(crate) fn unsigned(scheme: &Scheme) -> Vec<&'static str> {
    let signs = scheme.signs();
    let all = [
        (!signs.body, "body"),
        (!signs.id && scheme.id_header().is_some(), "id"),
        (!signs.time, "time"),
    ];
    all.into_iter().filter(|(unsigned, _)| *unsigned).map(|(_, word)| word).collect()
}

/// Whether nothing but a text stands between a signed id and a signed time.
pub(crate) fn joins_id_and_time(scheme: &Scheme) -> bool {
    template(scheme).is_some_and(|template| {
        let joined = |three: &[Part]| matches!(three, [Part::Id, Part::Text(_), Part::Timestamp]);
        template.signed.windows(3).any(joined)
    })
}

/// Whether the request itself decides what is signed.
pub(crate) fn signs_what_it_lists(scheme: &Scheme) -> bool {
    matches!(scheme.construction, Construction::HttpMessage)
}

/// Whether a few fields of each item are signed, and nothing else.
pub(crate) fn signs_items(scheme: &Scheme) -> bool {
    matches!(scheme.construction, Construction::AdyenItems)
}

/// What is not signed, in sentences that say what follows from it.
pub(crate) fn warnings(scheme: &Scheme) -> Vec<String> {
    if signs_what_it_lists(scheme) {
        return vec![
            "whatever the sender did not list: demand what you lean on, the body's digest above all"
                .into(),
        ];
    }
    if signs_items(scheme) {
        return vec!["every other field of the body, and all headers".into()];
    }
    let signs = scheme.signs();
    let mut all = Vec::new();
    if !signs.body {
        all.push("the body: anybody on the way can change it".into());
    }
    if let Some(header) = scheme.id_header().filter(|_| !signs.id) {
        all.push(format!(
            "the delivery id in {header}: anybody on the way can change it, so a replay passes as \
             new; deduplicate by an id in the signed body"
        ));
    }
    if !signs.time {
        all.push("the time: a captured request verifies for ever, so deduplicate for ever".into());
    }
    if template(scheme).is_some_and(|template| template.signed.contains(&Part::FormParams)) {
        all.push(
            "where names and values of the form begin: a=12 and a1=2 are one signed text, so take a \
             form that lacks a field, or has one too many, for a forged one"
                .into(),
        );
    }
    all.extend(match (signs.url, signs.method) {
        (false, false) => Some("method or URL: use another secret for each endpoint".into()),
        (false, true) => Some("the URL: use another secret for each endpoint".into()),
        (true, false) => Some("the method: take the one that the provider uses, no other".into()),
        (true, true) => None,
    });
    all
}

/// The headers that carry tags.
pub(crate) fn signature_headers(scheme: &Scheme) -> Vec<String> {
    let template = match &scheme.construction {
        Construction::Template(template) => template,
        Construction::HttpMessage => {
            return ["Signature-Input", "Signature", "Content-Digest"].map(String::from).into();
        }
        Construction::AdyenItems | Construction::Mailgun => return Vec::new(),
    };
    let mut all = Vec::new();
    for names in template.names.iter() {
        match &names.signature {
            Carrier::One(name) => all.push(name.to_string()),
            Carrier::Each(each) => all.extend(each.iter().map(ToString::to_string)),
            Carrier::Numbered(prefix) => all.push(format!("{prefix}1, {prefix}2, …")),
        }
    }
    all
}

/// The template, where the scheme has one.
pub(crate) const fn template(scheme: &Scheme) -> Option<&Template> {
    match &scheme.construction {
        Construction::Template(template) => Some(template),
        Construction::AdyenItems | Construction::Mailgun | Construction::HttpMessage => None,
    }
}

/// How tags stand in the header.
pub(crate) fn list(scheme: &Scheme) -> String {
    let Some(template) = template(scheme) else {
        return match &scheme.construction {
            Construction::HttpMessage => "a dictionary of signatures (RFC 8941)".into(),
            _ => "a tag in the body".into(),
        };
    };
    match &template.grammar {
        Grammar::Single { prefix } if prefix.is_empty() => "one bare tag".into(),
        Grammar::Single { prefix } => format!("one tag: {prefix}TAG"),
        Grammar::Method => "one tag behind its method: sha256=TAG".into(),
        Grammar::Versions { version } => {
            format!("a list: {version},TAG {version},TAG; other versions are skipped")
        }
        Grammar::Pairs { separator, spaced, timestamp, tags, headers } => {
            let blank = if *spaced { " " } else { "" };
            let separator = format!("{}{blank}", char::from(*separator));
            let names = timestamp.iter().map(|key| format!("{key}=TIME"));
            let names = names.chain(headers.iter().map(|key| format!("{key}=HEADERS")));
            let all: Vec<String> =
                names.chain(tags.iter().map(|key| format!("{key}=TAG"))).collect();
            let key = tags.first().map_or("", |key| key);
            let all = all.join(&separator);
            format!("a list: {all}; several {key} may stand, other keys are skipped")
        }
    }
}

/// How a tag is written.
pub(crate) const fn encoding(scheme: &Scheme) -> &'static str {
    match &scheme.construction {
        Construction::Template(template) => match template.encoding {
            Encoding::Hex => "hex",
            Encoding::Base64 => "base64",
            Encoding::HexOrBase64 => "hex or base64",
            Encoding::Plain => "plain",
        },
        Construction::Mailgun => "hex",
        Construction::AdyenItems | Construction::HttpMessage => "base64",
    }
}

/// The algorithm's usual name.
pub(crate) const fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::HmacSha1 => "HMAC-SHA1",
        Algorithm::HmacSha256 => "HMAC-SHA256",
        Algorithm::HmacSha384 => "HMAC-SHA384",
        Algorithm::HmacSha512 => "HMAC-SHA512",
        Algorithm::Sha256Concat => "SHA-256 of secret and text",
        Algorithm::Ed25519 => "Ed25519",
        Algorithm::EcdsaP256Der => "ECDSA P-256 (DER)",
        Algorithm::EcdsaP256Raw => "ECDSA P-256 (raw)",
        Algorithm::Token => "a shared token",
    }
}

/// How a secret's text becomes a key.
pub(crate) fn key(form: &KeyForm) -> String {
    match form {
        KeyForm::Text => "the secret's whole text, any prefix included".into(),
        KeyForm::Base64 { prefix } if prefix.is_empty() => "base64: the decoded bytes".into(),
        KeyForm::Base64 { prefix } => format!("base64 behind {prefix}: the decoded bytes"),
        KeyForm::Hex => "hexadecimal: the decoded bytes".into(),
        KeyForm::Ed25519Public => {
            "a public key: base64 (behind whpk_ or bare), hexadecimal, or PEM; to sign: whsk_"
                .into()
        }
        KeyForm::P256Public => "a public key: base64 of its SubjectPublicKeyInfo, or PEM".into(),
    }
}

/// Where the signed time stands, and in which unit.
pub(crate) fn clock(scheme: &Scheme) -> String {
    let Some(template) = template(scheme) else {
        return match &scheme.construction {
            Construction::HttpMessage => {
                "the parameter `created`, in seconds: a signature without it is refused".into()
            }
            Construction::Mailgun => "`timestamp` of the body, in seconds".into(),
            _ => "none".into(),
        };
    };
    let Some((place, unit)) = &template.clock else { return "none".into() };
    let unit = match unit {
        Unit::Seconds => "in seconds",
        Unit::Milliseconds => "in milliseconds",
        Unit::Rfc3339 => "as RFC 3339",
        Unit::HttpDate => "as an HTTP date",
    };
    let names = template.names.first();
    match (place, &template.grammar) {
        (Place::Header, _) => {
            let name = names.and_then(|names| names.timestamp.as_deref()).unwrap_or("a header");
            format!("{name}, {unit}")
        }
        (Place::Member, Grammar::Pairs { timestamp: Some(key), .. }) => {
            format!("the member {key} of the signature header, {unit}")
        }
        (Place::Member, _) => format!("the signature header, {unit}"),
        (Place::Body(pointer), _) => format!("{pointer} of the body, {unit}"),
    }
}

/// The window around the signed time, in words.
pub(crate) fn tolerance(tolerance: Option<Tolerance>) -> String {
    let Some(Tolerance { seconds, side, stated }) = tolerance else { return "none".into() };
    let side = match side {
        Side::Both => "on both sides",
        Side::PastOnly => "into the past; the future is let in",
    };
    let whose = if stated { "stated by the provider" } else { "a default of ours" };
    format!("{seconds} s {side}, the edges included ({whose})")
}
