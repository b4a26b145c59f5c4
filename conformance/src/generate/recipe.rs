//! Recipes: how the headers of a signature case are made.
//!
//! ```json
//! { "timestamp_offset_s": -300,
//!   "tags": [ { "algorithm": "hmac-sha256", "key_hex": "…", "content": "{id}.{timestamp}.{body}",
//!               "encoding": "base64" } ],
//!   "headers": [ ["webhook-id", "msg_1"], ["webhook-timestamp", "{timestamp}"],
//!                ["webhook-signature", "v1,{tag0}"] ] }
//! ```
//!
//! `{timestamp}` is `now` plus the offset, in the scheme's unit; `{body}` is the body of the input or,
//! where the tag names one, its own `body_b64`; `{id}` is the tag's `id`; `{tag0}` is the first tag.
//! In a header, `{timestamp}` may be replaced by a fixed text where the case is about that text.

use hookproof_core::{
    codec,
    scheme::{self, Algorithm},
};
use serde_json::{Map, Value};

/// Makes the headers of a case from its recipe; `None` where the recipe does not say how.
pub fn headers(recipe: &Value, input: &Map<String, Value>) -> Option<Vec<Value>> {
    let now = input.get("now").and_then(Value::as_i64).unwrap_or(0);
    let offset = recipe.get("timestamp_offset_s").and_then(Value::as_i64).unwrap_or(0);
    let scale = if recipe.get("unit").is_some_and(|unit| unit == "ms") { 1_000 } else { 1 };
    let timestamp = ((now + offset) * scale).to_string();
    let body = codec::base64(input.get("body_b64")?.as_str()?.as_bytes())?;
    let tags = recipe.get("tags")?.as_array()?;
    let tags: Option<Vec<String>> =
        tags.iter().map(|tag| written(tag, &timestamp, &body)).collect();
    let tags = tags?;
    recipe
        .get("headers")?
        .as_array()?
        .iter()
        .map(|pair| {
            let mut value = pair.get(1)?.as_str()?.replace("{timestamp}", &timestamp);
            for (at, tag) in tags.iter().enumerate() {
                value = value.replace(&format!("{{tag{at}}}"), tag);
            }
            Some(serde_json::json!([pair.get(0)?, value]))
        })
        .collect()
}

/// One tag as it is written in a header.
fn written(tag: &Value, timestamp: &str, body: &[u8]) -> Option<String> {
    let text = |name: &str| tag.get(name).and_then(Value::as_str);
    let algorithm = match text("algorithm")? {
        "hmac-sha1" => Algorithm::HmacSha1,
        "hmac-sha256" => Algorithm::HmacSha256,
        "hmac-sha512" => Algorithm::HmacSha512,
        _ => return None,
    };
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
    let code = scheme::mac(algorithm, &codec::hex(text("key_hex")?.as_bytes())?, &content)?;
    match text("encoding")? {
        "hex" => Some(codec::to_hex(&code)),
        "HEX" => Some(codec::to_hex(&code).to_ascii_uppercase()),
        "base64" => Some(codec::to_base64(&code)),
        "base64url" => Some(codec::to_base64(&code).replace('+', "-").replace('/', "_")),
        "base64-unpadded" => Some(codec::to_base64(&code).trim_end_matches('=').to_owned()),
        _ => None,
    }
}
