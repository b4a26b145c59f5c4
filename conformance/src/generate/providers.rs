//! Providers that print no vector: made from the scheme, and said so.

use hookproof_core::{
    codec,
    instant::Unit,
    scheme::{
        self, Algorithm, Construction, Encoding, KeyForm, Message, Part, Place, Scheme, Time,
        Verifier,
    },
};
use serde_json::{Value, json};

use super::{Flag, Made, layouts::NOW};

/// For each row that signs with a shared secret: the request as it is, with its body changed, and
/// with another secret.
pub(super) fn file() -> Made {
    let rows = scheme::all().filter(|scheme| signs_headers(scheme));
    Made {
        name: "signature.verify.providers.json".into(),
        kind: "signature.verify",
        flags: FLAGS.to_vec(),
        cases: rows.flat_map(of_scheme).collect(),
    }
}

fn signs_headers(scheme: &Scheme) -> bool {
    let asymmetric = matches!(
        scheme.algorithm,
        Algorithm::Ed25519 | Algorithm::EcdsaP256Der | Algorithm::EcdsaP256Raw
    );
    matches!(&scheme.construction, Construction::Template(t) if !t.signed.contains(&Part::NamedHeaders))
        && !asymmetric
        && scheme.algorithm != Algorithm::Token
        && !scheme.name.starts_with("contentful")
}

fn of_scheme(scheme: &Scheme) -> Vec<Value> {
    let (secret, other) = secrets(scheme);
    let url = "https://hooks.example.com/in?a=b".to_owned();
    let body = format!("{{\"id\":\"evt_1\",\"webhookTimestamp\":{}}}", NOW * 1_000);
    let digest = "5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456";
    let url = if scheme.name.ends_with("bodysha256") {
        format!("https://hooks.example.com/in?bodySHA256={digest}")
    } else {
        url
    };
    let body = if scheme.name.ends_with("bodysha256") { String::new() } else { body };
    let body = if scheme.name.starts_with("twilio") && !body.is_empty() {
        "Digits=1234&CallSid=CA1".to_owned()
    } else {
        body
    };
    let url = if body.is_empty() { url.replace(digest, EMPTY) } else { url };
    let mut verifier = Verifier::new(scheme);
    verifier.add(&secret).expect("a secret of the form that the row names");
    let message = Message {
        id: "msg_1",
        timestamp: &timestamp(scheme),
        body: body.as_bytes(),
        method: Some("POST"),
        url: Some(&url),
        headers: &[],
    };
    let headers =
        verifier.sign(&message, Time::NotTested).expect("a message with all that rows sign");
    let recipe = recipe(scheme, &secret, &message, &headers);
    let slug = scheme.name.replace('*', "any").replace('/', "-");
    let case = |name: &str, secret: &str, body: &str, accept: bool, flag: &str, why: &str| {
        let mut case = json!({
            "id": format!("scheme-{slug}-{name}"),
            "level": "must",
            "flags": [flag],
            "input": {
                "scheme": scheme.name, "secrets": [secret], "headers": headers,
                "body_b64": codec::to_base64(body.as_bytes()), "now": NOW,
                "method": "POST", "url": url,
            },
            "expected": { "result": if accept { "accept" } else { "reject" } },
            "why": why,
            "source": format!("generated from the scheme: {}", scheme.facts.source),
        });
        if let Some(recipe) = &recipe {
            case["recipe"] = recipe.clone();
        }
        case
    };
    vec![
        case(
            "good",
            &secret,
            &body,
            true,
            "FromScheme",
            "made from the scheme; no vector is published",
        ),
        case(
            "tampered",
            &secret,
            &format!("{body}&x=1"),
            false,
            "ChangedBody",
            "the body was changed",
        ),
        case("other-secret", &other, &body, false, "WrongSecret", "another secret is configured"),
    ]
}

/// How the headers are made afresh, where a clock matters and the time is a number.
fn recipe(
    scheme: &Scheme,
    secret: &str,
    message: &Message<'_>,
    headers: &[(String, String)],
) -> Option<Value> {
    let Construction::Template(template) = &scheme.construction else { return None };
    let unit = match template.clock.as_ref()? {
        (Place::Header | Place::Member, unit @ (Unit::Seconds | Unit::Milliseconds)) => unit.name(),
        _ => return None,
    };
    let algorithm = match scheme.algorithm {
        Algorithm::HmacSha1 => "hmac-sha1",
        Algorithm::HmacSha256 => "hmac-sha256",
        Algorithm::HmacSha512 => "hmac-sha512",
        _ => return None,
    };
    let part = |part: &Part| match part {
        Part::Text(text) => Some(text.to_string()),
        Part::Id => Some("{id}".into()),
        Part::Timestamp => Some("{timestamp}".into()),
        // The body of these cases has no blanks.
        Part::Body | Part::CompactBody => Some("{body}".into()),
        Part::Url(_) => message.url.map(Into::into),
        Part::Method => message.method.map(Into::into),
        Part::Path
        | Part::FormParams
        | Part::NamedHeaders
        | Part::ListedHeaders(_)
        | Part::Header(_) => None,
    };
    let content: String = template.signed.iter().map(part).collect::<Option<_>>()?;
    let key = scheme::decode_secret(&scheme.key, secret).ok()?;
    let body = core::str::from_utf8(message.body).ok()?;
    let text = content
        .replace("{id}", message.id)
        .replace("{timestamp}", message.timestamp)
        .replace("{body}", body);
    let code = scheme::mac(scheme.algorithm, &key, text.as_bytes())?;
    let (encoding, tag) = match template.encoding {
        Encoding::Hex | Encoding::HexOrBase64 => ("hex", codec::to_hex(&code)),
        Encoding::Base64 => ("base64", codec::to_base64(&code)),
        Encoding::Plain => return None,
    };
    let open = |(name, value): &(String, String)| {
        let value = value.replace(&tag, "{tag0}").replace(message.timestamp, "{timestamp}");
        (name.clone(), value)
    };
    let headers: Vec<(String, String)> = headers.iter().map(open).collect();
    Some(json!({
        "timestamp_offset_s": 0,
        "unit": unit,
        "tags": [{
            "algorithm": algorithm, "key_hex": codec::to_hex(&key), "id": message.id,
            "body_b64": codec::to_base64(message.body), "content": content, "encoding": encoding,
        }],
        "headers": headers,
    }))
}

fn secrets(scheme: &Scheme) -> (String, String) {
    let (one, other) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
    let write = |key: &str| match &scheme.key {
        KeyForm::Text => format!("secret-{key}"),
        KeyForm::Hex => key.to_owned(),
        KeyForm::Base64 { prefix } => format!("{prefix}{}", codec::to_base64(key.as_bytes())),
        KeyForm::Ed25519Public | KeyForm::P256Public => String::new(),
    };
    (write(one), write(other))
}

fn timestamp(scheme: &Scheme) -> String {
    let unit = match &scheme.construction {
        Construction::Template(template) => template.clock.as_ref().map(|(_, unit)| *unit),
        _ => None,
    };
    match unit {
        None | Some(Unit::Seconds) => NOW.to_string(),
        Some(Unit::Milliseconds) => (NOW * 1_000).to_string(),
        Some(Unit::Rfc3339) => "2023-11-14T22:13:20Z".into(),
        Some(Unit::HttpDate) => "Tue, 14 Nov 2023 22:13:20 GMT".into(),
    }
}

/// The SHA-256 of nothing.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const FLAGS: [Flag; 3] = [
    ("FromScheme", "INTEROP", "made from the stated construction, since no vector is published"),
    ("ChangedBody", "AUTH_BYPASS", "a body that differs must not verify"),
    ("WrongSecret", "AUTH_BYPASS", "only a live secret of this source counts"),
];
