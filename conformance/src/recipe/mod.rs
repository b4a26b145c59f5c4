//! Recipes: how the headers of a signature case are made, and its body where a time or a tag stands there.
//!
//! ```json
//! { "timestamp_offset_s": -300,
//!   "tags": [ { "algorithm": "hmac-sha256", "key_hex": "…", "id": "msg_1",
//!               "content": "{id}.{timestamp}.{body}", "encoding": "base64" } ],
//!   "headers": [ ["webhook-id", "msg_1"], ["webhook-timestamp", "{timestamp}"],
//!                ["webhook-signature", "v1,{tag0}"] ] }
//! ```
//!
//! `vectors/README.md` says what each field means. [`made`] follows a recipe with nothing but primitives:
//! no scheme, no parser, no verifier of ours has a part in it.

mod date;
mod derived;

pub use derived::derived;

use hookproof_core::{
    codec,
    scheme::{self, Algorithm},
};
use serde_json::{Map, Value, json};

/// What a recipe makes: the headers as pairs, and the body.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// A list of pairs.
    pub headers: Value,
    /// The bytes that are sent.
    pub body: Vec<u8>,
}

/// Follows a recipe at the time at which it made its case; `None` where it does not say how.
pub fn made(recipe: &Value, input: &Map<String, Value>) -> Option<Made> {
    made_at(recipe, input, now(recipe, input))
}

/// The time at which the recipe made its case; any will do where no time is signed.
pub fn now(recipe: &Value, input: &Map<String, Value>) -> i64 {
    recipe.get("made_at").or_else(|| input.get("now")).and_then(Value::as_i64).unwrap_or(0)
}

/// Follows a recipe at another time, in seconds.
pub fn made_at(recipe: &Value, input: &Map<String, Value>, now: i64) -> Option<Made> {
    let timestamp = timestamp(recipe, now)?;
    let body = match recipe.get("body") {
        Some(open) => open.as_str()?.replace("{timestamp}", &timestamp).into_bytes(),
        None => codec::base64(input.get("body_b64")?.as_str()?.as_bytes())?,
    };
    let tags = recipe.get("tags")?.as_array()?.iter();
    let tags: Option<Vec<String>> = tags.map(|tag| written(tag, &timestamp, &body)).collect();
    let tags = tags?;
    let closed = |open: &str| {
        let filled = open.replace("{timestamp}", &timestamp);
        let each = tags.iter().enumerate();
        each.fold(filled, |text, (at, tag)| text.replace(&format!("{{tag{at}}}"), tag))
    };
    let pairs = recipe.get("headers")?.as_array()?.iter();
    let pairs = pairs.map(|pair| Some(json!([pair.get(0)?, closed(pair.get(1)?.as_str()?)])));
    let body = match recipe.get("body") {
        Some(open) => closed(open.as_str()?).into_bytes(),
        None => body,
    };
    Some(Made { headers: Value::Array(pairs.collect::<Option<_>>()?), body })
}

/// The time that is signed, as it is written.
fn timestamp(recipe: &Value, now: i64) -> Option<String> {
    let number = |name: &str| recipe.get(name).and_then(Value::as_i64).unwrap_or(0);
    let seconds = now + number("timestamp_offset_s");
    let ms = number("timestamp_offset_ms");
    let text = |name: &str| recipe.get(name).and_then(Value::as_str);
    match text("unit").unwrap_or("s") {
        "s" => Some(seconds.to_string()),
        "ms" => Some((seconds * 1_000 + ms).to_string()),
        "date" => Some(date::written(text("format")?, seconds + number("zone_s"))),
        _ => None,
    }
}

/// One tag as it is written.
fn written(tag: &Value, timestamp: &str, body: &[u8]) -> Option<String> {
    let text = |name: &str| tag.get(name).and_then(Value::as_str);
    let own = match text("body_b64") {
        Some(own) => Some(codec::base64(own.as_bytes())?),
        None => None,
    };
    let timestamp = text("timestamp").unwrap_or(timestamp);
    let mut content = Vec::new();
    let mut rest = text("content")?;
    while let Some((front, after)) = rest.split_once('{') {
        content.extend_from_slice(front.as_bytes());
        let (name, behind) = after.split_once('}')?;
        match name {
            "body" => content.extend_from_slice(own.as_deref().unwrap_or(body)),
            "timestamp" => content.extend_from_slice(timestamp.as_bytes()),
            "id" => content.extend_from_slice(text("id")?.as_bytes()),
            _ => return None,
        }
        rest = behind;
    }
    content.extend_from_slice(rest.as_bytes());
    encoded(&made_with(text("algorithm")?, &codec::hex(text("key_hex")?.as_bytes())?, &content)?)
        .into_iter()
        .find(|(name, _)| text("encoding") == Some(*name))
        .map(|(_, tag)| tag)
}

/// The bytes of a tag.
fn made_with(algorithm: &str, key: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    let algorithm = match algorithm {
        "hmac-sha1" => Algorithm::HmacSha1,
        "hmac-sha256" => Algorithm::HmacSha256,
        "hmac-sha512" => Algorithm::HmacSha512,
        "ed25519" => return scheme::sign_ed25519(key, content),
        _ => return None,
    };
    scheme::mac(algorithm, key, content)
}

/// The ways to write a tag, by name.
fn encoded(code: &[u8]) -> [(&'static str, String); 5] {
    let base64 = codec::to_base64(code);
    [
        ("hex", codec::to_hex(code)),
        ("HEX", codec::to_hex(code).to_ascii_uppercase()),
        ("base64", base64.clone()),
        ("base64url", base64.replace('+', "-").replace('/', "_")),
        ("base64-unpadded", base64.trim_end_matches('=').to_owned()),
    ]
}
