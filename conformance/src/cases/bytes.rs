//! The kind that holds stored and delivered bytes against the received ones.

use hookproof_core::{payload::Payload, profile::Profile};
use serde_json::{Map, Value, json};

use super::{Fields, Unreadable};

/// Keeps a body as a store does, and takes out what would be sent.
pub(super) fn preserve(fields: &Fields<'_>, _: &Profile) -> Result<Map<String, Value>, Unreadable> {
    let received = fields.bytes("body_b64")?.unwrap_or_default();
    fields.done()?;
    let payload = Payload::of(received.clone());
    let stored = match &payload {
        Payload::Text(text) => text.as_bytes() == received,
        Payload::Bytes(bytes) => *bytes == received,
    };
    Ok(Map::from_iter([
        ("stored_equals_received".to_owned(), json!(stored)),
        ("delivered_equals_received".to_owned(), json!(payload.as_bytes() == received)),
    ]))
}
