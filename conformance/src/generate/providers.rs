//! Providers that print no vector: made from the scheme, and said so.

use hookproof_core::{
    Millis, codec,
    instant::Unit,
    scheme::{self, Algorithm, Construction, KeyForm, Message, Part, Scheme, Time, Verifier},
};
use serde_json::{Value, json};

use super::{
    Flag, Made,
    layouts::NOW,
    special::{OTHER_PUBLIC, PAIR, PUBLIC},
};
use crate::recipe;

/// For each row that can sign: the request as it is, with its body changed, and
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
    let verifies_only =
        matches!(scheme.algorithm, Algorithm::EcdsaP256Der | Algorithm::EcdsaP256Raw);
    matches!(&scheme.construction, Construction::Template(t) if !t.signed.contains(&Part::NamedHeaders))
        && !verifies_only
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
    let signing = if scheme.key == KeyForm::Ed25519Public { PAIR } else { &secret };
    verifier.add(signing).expect("a secret of the form that the row names");
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
    let slug = scheme.name.replace('*', "any").replace('/', "-");
    let case = |name: &str, secret: &str, body: &str, accept: bool, flag: &str, why: &str| {
        json!({
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
        })
    };
    let mut cases = [
        case(
            "good",
            &secret,
            &body,
            true,
            "FromScheme",
            if scheme.facts.vectors == 0 {
                "made from the scheme; no vector is published"
            } else {
                "made from the scheme, beside the published vectors"
            },
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
    ];
    let good = cases[0]["input"].as_object().and_then(|input| recipe::derived(input, &[PAIR]));
    if let Some(recipe) = good {
        for case in &mut cases {
            case["recipe"] = recipe.clone();
        }
        cases[1]["recipe"] = tampered(recipe, body.as_bytes(), "&x=1");
    }
    cases.into()
}

/// The recipe of a request whose body has got longer since it was signed.
fn tampered(mut recipe: Value, signed: &[u8], more: &str) -> Value {
    if let Some(open) = recipe["body"].as_str().map(str::to_owned) {
        recipe["body"] = json!(open + more);
    }
    for tag in recipe["tags"].as_array_mut().into_iter().flatten() {
        tag["body_b64"] = json!(codec::to_base64(signed));
    }
    recipe
}

fn secrets(scheme: &Scheme) -> (String, String) {
    let (one, other) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
    let write = |key: &str| match &scheme.key {
        KeyForm::Text => format!("secret-{key}"),
        KeyForm::Hex => key.to_owned(),
        KeyForm::Base64 { prefix } => format!("{prefix}{}", codec::to_base64(key.as_bytes())),
        KeyForm::Ed25519Public | KeyForm::P256Public => String::new(),
    };
    if scheme.key == KeyForm::Ed25519Public {
        return (PUBLIC.into(), OTHER_PUBLIC.into());
    }
    (write(one), write(other))
}

fn timestamp(scheme: &Scheme) -> String {
    let unit = match &scheme.construction {
        Construction::Template(template) => template.clock.as_ref().map(|(_, unit)| *unit),
        _ => None,
    };
    Message::written(Millis(NOW as u64 * 1_000), unit.unwrap_or(Unit::Seconds))
}

/// The SHA-256 of nothing.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const FLAGS: [Flag; 3] = [
    ("FromScheme", "INTEROP", "made from the stated construction, since no vector is published"),
    ("ChangedBody", "AUTH_BYPASS", "a body that differs must not verify"),
    ("WrongSecret", "AUTH_BYPASS", "only a live secret of this source counts"),
];
