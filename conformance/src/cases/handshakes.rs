//! The kind that decides on handshakes.

use std::borrow::Cow;

use hookproof_core::{
    profile::Profile,
    scheme::{
        self, Encoding, KeyForm, Request, Scheme, Verifier,
        handshake::{self, Reply},
    },
};
use serde_json::{Map, Value, json};

use super::{
    Fields, Unreadable,
    fields::needed,
    signatures::{request_headers, time},
};

/// What a request gets: an answer, a refusal, or nothing, since it is a delivery.
pub(super) fn answer(fields: &Fields<'_>, _: &Profile) -> Result<Map<String, Value>, Unreadable> {
    let name = needed("scheme", fields.text("scheme")?)?;
    let scheme = row(name)?;
    let handshake = handshake::of(&scheme.name)
        .ok_or_else(|| Unreadable(format!("`{name}` has no handshake")))?;
    let mut verifier = Verifier::new(&scheme);
    for secret in fields.texts("secrets")?.unwrap_or_default() {
        let _ = verifier.add(secret);
    }
    let headers = request_headers(fields.any("headers"))?;
    let lines: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    let body = fields.bytes("body_b64")?.unwrap_or_default();
    let request = Request {
        headers: &lines,
        body: &body,
        method: fields.text("method")?,
        url: fields.text("url")?,
        ..Request::default()
    };
    let agreed = fields.text("agreed")?;
    let time = time(fields)?;
    fields.done()?;
    Ok(match handshake.answer(&verifier, &request, agreed, time) {
        None => Map::from_iter([("result".to_owned(), json!("delivery"))]),
        Some(Ok(reply)) => answered(&reply),
        Some(Err(refusal)) => Map::from_iter([
            ("result".to_owned(), json!("refuse")),
            ("reason".to_owned(), json!(refusal.name())),
            ("http_status".to_owned(), json!(refusal.http_status())),
        ]),
    })
}

/// The scheme, or one that signs nothing for `CloudEvents`, which has none.
fn row(name: &str) -> Result<Cow<'static, Scheme>, Unreadable> {
    if name == "none" {
        let header = Cow::Borrowed("Authorization");
        let none = Scheme::body_only("none".into(), header, Encoding::Plain, KeyForm::Text);
        return Ok(Cow::Owned(none));
    }
    let known = scheme::named(name).map(Cow::Borrowed);
    known.ok_or_else(|| Unreadable(format!("unknown scheme `{name}`")))
}

fn answered(reply: &Reply) -> Map<String, Value> {
    Map::from_iter([
        ("result".to_owned(), json!("answer")),
        ("status".to_owned(), json!(reply.status)),
        ("headers".to_owned(), json!(reply.headers)),
        ("body".to_owned(), json!(reply.body)),
    ])
}
