//! The published vectors, as cases: each is checked, or listed with the reason why not.

use hookproof_core::{codec, scheme};
use serde_json::{Map, Value, json};

use crate::{cases::Unreadable, recipe};

/// What became of a published vector.
#[derive(Clone, Debug, PartialEq)]
pub enum Vector {
    /// A case of this kind.
    Case {
        /// `signature.verify` or `primitive`.
        kind: &'static str,
        /// The whole case, as it stands in a file.
        case: Value,
    },
    /// Not checked.
    Listed {
        /// Its id.
        id: String,
        /// Why not.
        why: &'static str,
    },
}

/// Reads `vectors/published.json`: every vector becomes a case or is listed.
pub fn vectors(text: &str) -> Result<Vec<Vector>, Unreadable> {
    let rows: Vec<Map<String, Value>> = serde_json::from_str(text)
        .map_err(|e| Unreadable(format!("not a list of vectors: {e}")))?;
    rows.iter().map(vector).collect()
}

fn vector(row: &Map<String, Value>) -> Result<Vector, Unreadable> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
    let (id, scheme) = (text("id"), text("scheme"));
    if scheme.contains("rsa") {
        return Ok(Vector::Listed { id: id.to_owned(), why: "RSA is not verified" });
    }
    let fault = || Unreadable(format!("{id}: a field has the wrong form"));
    let (kind, input) = match row.get("kind") {
        Some(_) => ("primitive", primitive(row).ok_or_else(fault)?),
        None => ("signature.verify", request(row).ok_or_else(fault)?),
    };
    let valid = match text("expected") {
        "valid" => "accept",
        "invalid" => "reject",
        _ => return Err(fault()),
    };
    let mut case = json!({
        "id": format!("pub-{id}"),
        "level": "must",
        "flags": [if valid == "accept" { "PublishedValid" } else { "PublishedInvalid" }],
        "input": input,
        "expected": { "result": valid },
        "why": why(row, valid),
        "source": text("source"),
    });
    for name in ["derived", "notes"] {
        if let Some(value) = row.get(name) {
            case[name] = value.clone();
        }
    }
    add_recipe(&mut case);
    Ok(Vector::Case { kind, case })
}

/// How a request that has to be fresh is made at another time.
fn add_recipe(case: &mut Value) {
    let scheme = case["input"]["scheme"].as_str().and_then(scheme::named);
    let timed = scheme.is_some_and(|scheme| scheme.tolerance.is_some());
    if !timed || case["expected"]["result"] != "accept" {
        return;
    }
    let recipe = case["input"].as_object().and_then(|input| recipe::derived(input, &[PAIR]));
    match recipe {
        Some(recipe) => case["recipe"] = recipe,
        None => case["no_recipe"] = json!(NEVER_THE_SAME),
    }
}

fn why(row: &Map<String, Value>, valid: &str) -> String {
    match row.get("reason").and_then(Value::as_str) {
        Some(reason) => reason.to_owned(),
        None if valid == "accept" => "published as valid".to_owned(),
        None => "published as invalid".to_owned(),
    }
}

/// A webhook request.
fn request(row: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut input = Map::new();
    input.insert("scheme".into(), row.get("scheme")?.clone());
    match row.get("secret")? {
        Value::String(secret) => {
            input.insert("secrets".into(), json!([secret]));
        }
        Value::Object(keys) => {
            let both: Vec<&Value> =
                ["primary", "secondary"].iter().filter_map(|name| keys.get(*name)).collect();
            input.insert("secrets".into(), json!(both));
        }
        _ => {
            input.insert("public_key".into(), row.get("public_key")?.clone());
        }
    }
    input.insert("headers".into(), headers(row)?);
    input.insert("body_b64".into(), json!(codec::to_base64(&body(row)?)));
    for name in ["method", "url", "status", "form_params", "now"] {
        if let Some(value) = row.get(name).filter(|value| !value.is_null()) {
            input.insert(name.into(), value.clone());
        }
    }
    if let Some(seconds) = row.get("tolerance_seconds").filter(|value| !value.is_null()) {
        input.insert("tolerance_s".into(), seconds.clone());
    }
    Some(input)
}

/// Headers as pairs. Where the vector changes a parameter of the signature base alone, the request
/// that says the same is the one with the parameter changed.
fn headers(row: &Map<String, Value>) -> Option<Value> {
    let changed =
        row.get("derived").and_then(Value::as_str) == Some("signature base with created+1");
    let map = row.get("headers")?.as_object()?;
    let pairs: Option<Vec<Value>> = map
        .iter()
        .map(|(name, value)| {
            let mut value = value.as_str()?.to_owned();
            if changed && name.eq_ignore_ascii_case("signature-input") {
                value = value.replace("created=1618884473", "created=1618884474");
            }
            Some(json!([name, value]))
        })
        .collect();
    pairs.map(Value::Array)
}

/// A bare tag, signature or digest.
fn primitive(row: &Map<String, Value>) -> Option<Map<String, Value>> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let mut input = Map::new();
    input.insert("body_b64".into(), json!(codec::to_base64(&body(row)?)));
    match text("scheme")? {
        "hmac-sha256-hex-raw" => {
            let secret = text("secret")?;
            let key = if text("secret_form")? == "hex" {
                secret.to_owned()
            } else {
                codec::to_hex(secret.as_bytes())
            };
            input.insert("algorithm".into(), json!("hmac-sha256"));
            input.insert("key_hex".into(), json!(key));
            input.insert("tag_hex".into(), row.get("expected_mac")?.clone());
            if let Some(bits) = row.get("tag_bits") {
                input.insert("tag_bits".into(), bits.clone());
            }
        }
        "ed25519-raw" => {
            input.insert("algorithm".into(), json!("ed25519"));
            input.insert("public_key".into(), row.get("public_key")?.clone());
            input.insert("tag_hex".into(), row.get("expected_signature_hex")?.clone());
        }
        "content-digest-sha-512" => {
            input.insert("algorithm".into(), json!("content-digest"));
            input.insert(
                "content_digest".into(),
                row.get("headers")?.get("Content-Digest")?.clone(),
            );
        }
        _ => return None,
    }
    Some(input)
}

fn body(row: &Map<String, Value>) -> Option<Vec<u8>> {
    match (row.get("body"), row.get("body_base64")) {
        (Some(Value::String(text)), _) => Some(text.as_bytes().to_vec()),
        (_, Some(Value::String(base64))) => codec::base64(base64.as_bytes()),
        (_, _) => None,
    }
}

/// The pair whose public half stands in the vectors of Standard Webhooks `v1a`.
const PAIR: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
const NEVER_THE_SAME: &str =
    "an ECDSA signature is another one each time: no recipe makes these bytes";
