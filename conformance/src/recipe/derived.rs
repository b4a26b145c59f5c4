//! The recipe of a case that is already there: its headers with the time and the tags taken out.

use hookproof_core::{
    Millis, codec,
    instant::Instant,
    scheme::{
        self, Algorithm, Construction, Field, HttpSignature, KeyForm, Request, Scheme, Time,
        Verifier, Window, explain::explain,
    },
};
use serde_json::{Map, Value, json};

use super::{date, encoded, made, made_with};
use crate::cases::request_headers;

/// How the headers and the body of this input are made afresh; `None` where a tag has no key that
/// signs, or no time is signed. `pairs` are further keys, each with its private half behind `whsk_`.
pub fn derived(input: &Map<String, Value>, pairs: &[&str]) -> Option<Value> {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let scheme = scheme::named(text("scheme")?)?;
    scheme.tolerance?;
    let headers = request_headers(input.get("headers")).ok()?;
    let lines: Vec<Field<'_>> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    let body = codec::base64(text("body_b64")?.as_bytes())?;
    let request = Request {
        headers: &lines,
        body: &body,
        method: text("method"),
        url: text("url"),
        status: input.get("status").and_then(Value::as_u64).and_then(|s| u16::try_from(s).ok()),
        form: None,
    };
    let secrets = input.get("secrets").and_then(Value::as_array).into_iter().flatten();
    let public = input.get("public_key").into_iter();
    let secrets: Vec<&str> = secrets.chain(public).filter_map(Value::as_str).collect();
    let now = input.get("now").and_then(Value::as_i64);
    let at = signed_at(scheme, &secrets, &request, now)?;
    let signed = signed(scheme, &secrets, &request);
    let keys = keys(scheme, &secrets, pairs);
    let spellings = spellings(at, now);
    let shown = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
    let in_headers = |of: &&Spelling| lines.iter().any(|(_, value)| shown(value, &of.timestamp));
    let in_header = spellings.iter().find(in_headers);
    let found = in_header.or(spellings.iter().find(|of| shown(&body, &of.timestamp)))?;
    let timestamp = &*found.timestamp;
    let open = if in_header.is_some() { None } else { body_text(&body, timestamp) };
    let mut filling = Filling { values: header_texts(input)?, body: open, tags: Vec::new() };
    for content in &signed {
        for key in &keys {
            filling.fill(key, content, &body, timestamp);
        }
    }
    let recipe = filling.recipe(found);
    let same = made(&recipe, input)
        .is_some_and(|made| Some(&made.headers) == input.get("headers") && made.body == body);
    (same && recipe["tags"] != json!([])).then_some(recipe)
}

/// The signed time of a request that verifies.
fn signed_at(
    scheme: &Scheme,
    secrets: &[&str],
    request: &Request<'_>,
    now: Option<i64>,
) -> Option<Instant> {
    let mut verifier = Verifier::new(scheme);
    for secret in secrets {
        let _ = verifier.add(secret);
    }
    let now = now.and_then(|now| u64::try_from(now).ok());
    let time = now.map_or(Time::NotTested, |now| Time::At(Millis(now * 1_000)));
    verifier.set_tolerance(u32::MAX).verify(request, time).ok()?.time()
}

/// The texts that may be signed in it.
fn signed(scheme: &Scheme, secrets: &[&str], request: &Request<'_>) -> Vec<Vec<u8>> {
    match &scheme.construction {
        Construction::Template(_) => {
            let secrets: Vec<_> = secrets.iter().map(|text| (*text, Window::always())).collect();
            explain(scheme, &secrets, request, Time::NotTested).signed.into_iter().collect()
        }
        Construction::HttpMessage => HttpSignature::of(request)
            .map(|all| all.into_iter().map(|signature| signature.base.into_bytes()).collect())
            .unwrap_or_default(),
        Construction::AdyenItems | Construction::Mailgun => Vec::new(),
    }
}

/// A key that signs, and its algorithm by name.
struct Key {
    algorithm: &'static str,
    bytes: Vec<u8>,
}

fn keys(scheme: &Scheme, secrets: &[&str], pairs: &[&str]) -> Vec<Key> {
    let algorithm = match scheme.algorithm {
        Algorithm::HmacSha1 => "hmac-sha1",
        Algorithm::HmacSha256 => "hmac-sha256",
        Algorithm::HmacSha512 => "hmac-sha512",
        Algorithm::Ed25519 => "ed25519",
        Algorithm::HmacSha384
        | Algorithm::Sha256Concat
        | Algorithm::EcdsaP256Der
        | Algorithm::EcdsaP256Raw
        | Algorithm::Token => return Vec::new(),
    };
    if scheme.key == KeyForm::Ed25519Public {
        let seed = |pair: &&str| codec::base64(pair.strip_prefix("whsk_")?.as_bytes());
        let seeds = pairs.iter().filter_map(seed);
        return seeds.map(|pair| Key { algorithm, bytes: pair[..32].to_vec() }).collect();
    }
    let decoded = secrets.iter().filter_map(|text| scheme::decode_secret(&scheme.key, text).ok());
    decoded.map(|bytes| Key { algorithm, bytes }).collect()
}

/// A way in which the time may be written, and the front of its recipe.
struct Spelling {
    recipe: Value,
    timestamp: String,
}

fn spellings(at: Instant, now: Option<i64>) -> Vec<Spelling> {
    let base = |unit: &str| {
        let mut recipe = json!({ "timestamp_offset_s": at.seconds - now.unwrap_or(at.seconds) });
        if now.is_none() {
            recipe["made_at"] = json!(at.seconds);
        }
        if unit != "s" {
            recipe["unit"] = json!(unit);
        }
        recipe
    };
    let ms = i64::from(at.nanos / 1_000_000);
    let mut milliseconds = base("ms");
    if ms != 0 {
        milliseconds["timestamp_offset_ms"] = json!(ms);
    }
    let timestamp = (at.seconds * 1_000 + ms).to_string();
    let mut all = vec![
        Spelling { recipe: milliseconds, timestamp },
        Spelling { recipe: base("s"), timestamp: at.seconds.to_string() },
    ];
    for (format, zone) in FORMATS {
        let mut recipe = base("date");
        recipe["format"] = json!(format);
        if zone != 0 {
            recipe["zone_s"] = json!(zone);
        }
        all.push(Spelling { recipe, timestamp: date::written(format, at.seconds + zone) });
    }
    all
}

fn header_texts(input: &Map<String, Value>) -> Option<Vec<(String, String)>> {
    let pair =
        |pair: &Value| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned()));
    input.get("headers")?.as_array()?.iter().map(pair).collect()
}

fn body_text(body: &[u8], timestamp: &str) -> Option<String> {
    Some(std::str::from_utf8(body).ok()?.replace(timestamp, "{timestamp}"))
}

/// Headers whose tags are taken out one by one.
struct Filling {
    values: Vec<(String, String)>,
    body: Option<String>,
    tags: Vec<Value>,
}

impl Filling {
    /// Takes out what this key makes over this content, where it stands there.
    fn fill(&mut self, key: &Key, content: &[u8], body: &[u8], timestamp: &str) {
        let Some(code) = made_with(key.algorithm, &key.bytes, content) else { return };
        let Some(open) = opened(content, body, timestamp) else { return };
        for (encoding, tag) in encoded(&code) {
            let place = format!("{{tag{}}}", self.tags.len());
            let mut found = false;
            for (_, value) in &mut self.values {
                found |= value.contains(&tag);
                *value = value.replace(&tag, &place);
            }
            if found {
                self.tags.push(json!({
                    "algorithm": key.algorithm, "key_hex": codec::to_hex(&key.bytes),
                    "content": open, "encoding": encoding,
                }));
                return;
            }
        }
    }

    fn recipe(self, found: &Spelling) -> Value {
        let mut recipe = found.recipe.clone();
        let open = |(name, value): (String, String)| {
            json!([name, value.replace(&found.timestamp, "{timestamp}")])
        };
        recipe["tags"] = json!(self.tags);
        recipe["headers"] = self.values.into_iter().map(open).collect();
        if let Some(body) = self.body {
            recipe["body"] = json!(body);
        }
        recipe
    }
}

/// The signed text with its body and its time taken out; `None` where that is no text, or has braces.
fn opened(content: &[u8], body: &[u8], timestamp: &str) -> Option<String> {
    let text = |bytes| std::str::from_utf8(bytes).ok().filter(|text| !text.contains('{'));
    let timed = |bytes| Some(text(bytes)?.replace(timestamp, "{timestamp}"));
    if body.is_empty() {
        return timed(content);
    }
    let at = (0..content.len()).rev().find(|at| content[*at..].starts_with(body));
    let Some(at) = at else { return timed(content) };
    Some(timed(&content[..at])? + "{body}" + &timed(&content[at + body.len()..])?)
}

/// The dates that providers write, and how far their zone is ahead of UTC.
const FORMATS: [(&str, i64); 5] = [
    ("%Y-%m-%dT%H:%M:%SZ", 0),
    ("%Y-%m-%dT%H:%M:%S-07:00", -25_200),
    ("%a, %d %b %Y %H:%M:%S GMT", 0),
    ("%A, %d-%b-%y %H:%M:%S GMT", 0),
    ("%a %d %b %Y %H:%M:%S UTC", 0),
];
