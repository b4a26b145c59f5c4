//! Kinds that decide on signatures and secrets.

use hookproof_core::{
    Millis, codec,
    scheme::{self, Algorithm, Message, Refusal, Request, Scheme, Time, Verifier},
};
use serde_json::{Map, Value, json};

use super::{Fields, Unreadable, fields::needed};
use hookproof_core::profile::Profile;

type Outcome = Result<Map<String, Value>, Unreadable>;

/// Verifies a request as it came in.
pub(super) fn verify(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let (mut verifier, secrets) = verifier(fields)?;
    if let Some(seconds) = fields.unsigned("tolerance_s")? {
        verifier.set_tolerance(u32::try_from(seconds).unwrap_or(u32::MAX));
    }
    let headers = request_headers(fields.any("headers"))?;
    let lines: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    let sent = fields.bytes("body_b64")?.unwrap_or_default();
    let body = arrived(&sent, fields.object("framing")?)?;
    let pairs = form(fields)?;
    let status = fields.unsigned("status")?.map(u16::try_from).transpose();
    let request = Request {
        headers: &lines,
        body: body.unwrap_or_default(),
        method: fields.text("method")?,
        url: fields.text("url")?,
        status: status.map_err(|_| Unreadable("`status` is no status".into()))?,
        form: pairs.as_deref(),
    };
    let time = time(fields)?;
    fields.done()?;
    let verdict = match (secrets, body) {
        (false, _) => Err(Refusal::BadSecret),
        (true, None) => Err(Refusal::BadBody),
        (true, Some(_)) => verifier.verify(&request, time).map(|_| ()),
    };
    Ok(verdict_fields(verdict))
}

fn verdict_fields(verdict: Result<(), Refusal>) -> Map<String, Value> {
    let mut got = Map::new();
    match verdict {
        Ok(()) => {
            got.insert("result".into(), json!("accept"));
        }
        Err(refusal) => {
            got.insert("result".into(), json!("reject"));
            got.insert("reason".into(), json!(refusal.name()));
            got.insert("http_status".into(), json!(refusal.http_status()));
        }
    }
    got
}

/// Signs a message; the secrets count in their order.
pub(super) fn sign(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let (verifier, secrets) = verifier(fields)?;
    let timestamp = match fields.any("timestamp") {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(number) => number.to_string(),
    };
    let body = fields.bytes("body_b64")?.unwrap_or_default();
    let headers = request_headers(fields.any("headers"))?;
    let lines: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    let message = Message {
        id: fields.text("id")?.unwrap_or_default(),
        timestamp: &timestamp,
        body: &body,
        method: fields.text("method")?,
        url: fields.text("url")?,
        headers: &lines,
    };
    fields.done()?;
    let mut got = Map::new();
    match verifier.sign(&message, Time::NotTested) {
        Ok(headers) if secrets => {
            got.insert("headers".into(), json!(headers));
        }
        Ok(_) => {
            got.insert("error".into(), json!(Refusal::BadSecret.name()));
        }
        Err(error) => {
            got.insert("error".into(), json!(error.to_string()));
        }
    }
    Ok(got)
}

/// Whether each expected header is among those that were signed, names compared without case.
pub(super) fn holds_headers(got: &Value, expected: &Value) -> bool {
    let (Ok(got), Ok(expected)) = (request_headers(Some(got)), request_headers(Some(expected)))
    else {
        return false;
    };
    !expected.is_empty()
        && expected.iter().all(|(name, value)| {
            got.iter().any(|(other, same)| other.eq_ignore_ascii_case(name) && same == value)
        })
}

/// Makes a key of a secret's text.
pub(super) fn decode_secret(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let scheme = named(fields)?;
    let secret = needed("secret", fields.text("secret")?)?;
    fields.done()?;
    let mut got = Map::new();
    match scheme::decode_secret(&scheme.key, secret) {
        Ok(key) => {
            got.insert("result".into(), json!("key"));
            got.insert("key_hex".into(), json!(codec::to_hex(&key)));
        }
        Err(bad) => {
            got.insert("result".into(), json!("error"));
            got.insert("error".into(), json!(bad.to_string()));
        }
    }
    Ok(got)
}

/// A bare HMAC, signature or digest over a text.
pub(super) fn primitive(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let text = fields.bytes("body_b64")?.unwrap_or_default();
    let algorithm = needed("algorithm", fields.text("algorithm")?)?;
    let hex = |name| -> Result<Option<Vec<u8>>, Unreadable> {
        let text = fields.text(name)?;
        let wrong = || Unreadable(format!("`{name}` is no hexadecimal"));
        text.map(|text| codec::hex(text.as_bytes()).ok_or_else(wrong)).transpose()
    };
    let key = hex("key_hex")?;
    let tag = hex("tag_hex")?;
    let public_key = fields.text("public_key")?;
    let digest = fields.text("content_digest")?;
    let bits = fields.unsigned("tag_bits")?;
    fields.done()?;
    let good = match algorithm {
        // A shortened tag is compared with as many bytes of the whole one.
        "hmac-sha256" => {
            let key = needed("key_hex", key)?;
            let tag = needed("tag_hex", tag)?;
            let mac = scheme::mac(Algorithm::HmacSha256, &key, &text).unwrap_or_default();
            let length = tag.len() as u64 * 8;
            let whole = bits.is_none_or(|bits| bits == length) && length >= 128;
            whole && mac.get(..tag.len()) == Some(&tag)
        }
        "ed25519" => scheme::verify_raw(
            Algorithm::Ed25519,
            needed("public_key", public_key)?,
            &text,
            &needed("tag_hex", tag)?,
        ),
        "content-digest" => {
            scheme::content_digest_matches(needed("content_digest", digest)?.as_bytes(), &text)
        }
        other => return Err(Unreadable(format!("unknown algorithm `{other}`"))),
    };
    Ok(verdict_fields(if good { Ok(()) } else { Err(Refusal::NoMatch) }))
}

/// The verifier of an input, and whether any of its secrets can be used: one bad secret never blocks
/// a good one.
fn verifier(fields: &Fields<'_>) -> Result<(Verifier, bool), Unreadable> {
    let scheme = named(fields)?;
    let mut verifier = Verifier::new(scheme);
    let secrets = fields.texts("secrets")?.unwrap_or_default();
    let public = fields.text("public_key")?;
    let mut usable = false;
    for secret in secrets.into_iter().chain(public) {
        usable |= verifier.add(secret).is_ok();
    }
    Ok((verifier, usable))
}

pub(super) fn time(fields: &Fields<'_>) -> Result<Time, Unreadable> {
    let now = fields.unsigned("now")?;
    Ok(now.map_or(Time::NotTested, |now| Time::At(Millis(now.saturating_mul(1_000)))))
}

fn named(fields: &Fields<'_>) -> Result<&'static Scheme, Unreadable> {
    let name = needed("scheme", fields.text("scheme")?)?;
    scheme::named(name).ok_or_else(|| Unreadable(format!("unknown scheme `{name}`")))
}

/// Headers as a list of pairs, or an object; a character up to U+00FF is its byte.
pub fn request_headers(value: Option<&Value>) -> Result<Vec<(String, Vec<u8>)>, Unreadable> {
    let pair =
        |name: &Value, value: &Value| Some((name.as_str()?.to_owned(), latin1(value.as_str()?)));
    let wrong = || Unreadable("`headers` is no list of pairs of texts".into());
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => list
            .iter()
            .map(|item| match item.as_array().map(Vec::as_slice) {
                Some([name, value]) => pair(name, value).ok_or_else(wrong),
                _ => Err(wrong()),
            })
            .collect(),
        Some(Value::Object(map)) => {
            map.iter().map(|(name, value)| pair(&json!(name), value).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

/// A header value's characters are its bytes; one that is no byte stands for its UTF-8.
fn latin1(text: &str) -> Vec<u8> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    bytes.unwrap_or_else(|| text.as_bytes().to_vec())
}

fn form<'a>(fields: &Fields<'a>) -> Result<Option<Vec<(&'a str, &'a str)>>, Unreadable> {
    let Some(list) = fields.list("form_params")? else { return Ok(None) };
    let pairs: Option<Vec<(&str, &str)>> = list
        .iter()
        .map(|item| match item.as_array()?.as_slice() {
            [name, value] => Some((name.as_str()?, value.as_str()?)),
            _ => None,
        })
        .collect();
    pairs.map(Some).ok_or_else(|| Unreadable("`form_params` is no list of pairs".into()))
}

/// The body as it arrives: whole chunks, or as many bytes as were announced; `None` when truncated.
fn arrived<'b>(
    sent: &'b [u8],
    framing: Option<Fields<'_>>,
) -> Result<Option<&'b [u8]>, Unreadable> {
    let Some(framing) = framing else { return Ok(Some(sent)) };
    let chunked = framing.text("transfer_encoding")?;
    let length = framing.unsigned("content_length")?;
    let chunks = framing.list("chunks")?;
    framing.done()?;
    let chunks = chunks.map(|list| whole(list)).transpose()?;
    let announced = match (chunked, chunks, length) {
        (Some(_), Some(chunks), _) | (None, Some(chunks), None) => chunks,
        (Some(_), None, _) | (None, None, None) => sent.len() as u64,
        (None, _, Some(length)) => length,
    };
    let announced = usize::try_from(announced).unwrap_or(usize::MAX);
    Ok(sent.get(..announced))
}

/// How long the chunks are together.
fn whole(chunks: &[Value]) -> Result<u64, Unreadable> {
    let sum = chunks.iter().try_fold(0_u64, |sum, chunk| sum.checked_add(chunk.as_u64()?));
    sum.ok_or_else(|| Unreadable("`chunks` has the wrong type".into()))
}
