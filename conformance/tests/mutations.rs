//! Mutated requests: the committed cases are the corpus. Nothing may panic, and no request whose body
//! was changed may verify where the scheme signs the body's bytes.
//!
//! `HOOKPROOF_MUTATIONS=1000` mutates each case a thousand times; the seed is printed when it fails.

use std::{fs, path::PathBuf};

use hookproof_conformance::cases::request_headers;
use hookproof_core::{
    Millis, answer, codec,
    identity::Places,
    instant::{Instant, Unit},
    json::Json,
    scheme::{self, Construction, Part, Request, Scheme, Time, Verifier},
    target::{Target, TargetPolicy},
};
use serde_json::Value;

/// A small generator with a printed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.roll() % limit.max(1) as u64) as usize
    }

    /// One change to a text.
    fn mutate(&mut self, text: &mut Vec<u8>) {
        let at = self.below(text.len() + 1);
        match self.below(7) {
            0 if at < text.len() => text[at] ^= 1 << self.below(8),
            1 if at < text.len() => drop(text.remove(at)),
            2 => text.truncate(at),
            3 => {
                let tail = text[at..].to_vec();
                text.extend(tail);
            }
            4 => text.insert(at, self.roll() as u8),
            _ => {
                let token = TOKENS[self.below(TOKENS.len())];
                text.splice(at..at, token.iter().copied());
            }
        }
    }
}

const TOKENS: &[&[u8]] = &[
    b",",
    b"=",
    b";",
    b" ",
    b"\t",
    b"v1,",
    b"v1=",
    b"t=",
    b"sha256=",
    b"\0",
    b"\xff",
    b"\xc3\xa9",
    b"(",
    b")",
    b":",
    b"\"",
    b"\\",
    b"\\u",
    b"{",
    b"}",
    b"[",
    b"-",
    b"+",
    b"e9",
    b"%",
    b"@",
    b"99999999999999999999",
    b"====",
    b"\r\n",
    b"\xef\xbb\xbf",
    b"[::ffff:127.0.0.1]",
    b"://",
];

struct Input {
    id: String,
    scheme: &'static Scheme,
    verifier: Verifier,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    url: Option<String>,
    accepted: bool,
}

fn corpus() -> Vec<Input> {
    let cases = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../vectors/cases");
    let mut all = Vec::new();
    for entry in fs::read_dir(cases).expect("vectors/cases") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("a file");
        let file: Value = serde_json::from_str(&text).expect("JSON");
        if file["kind"] != "signature.verify" {
            continue;
        }
        for case in file["cases"].as_array().expect("cases") {
            let input = &case["input"];
            let scheme = scheme::named(input["scheme"].as_str().expect("a scheme")).expect("a row");
            let mut verifier = Verifier::new(scheme);
            for secret in
                input["secrets"].as_array().into_iter().flatten().chain([&input["public_key"]])
            {
                let _ = secret.as_str().map(|secret| verifier.add(secret).map(|_| ()));
            }
            let body = codec::base64(input["body_b64"].as_str().expect("a body").as_bytes());
            all.push(Input {
                id: case["id"].as_str().expect("an id").to_owned(),
                scheme,
                verifier,
                headers: request_headers(Some(&input["headers"])).expect("headers"),
                body: body.expect("base64"),
                url: input["url"].as_str().map(str::to_owned),
                accepted: case["expected"]["result"] == "accept",
            });
        }
    }
    all
}

/// Whether the bytes of the body themselves are signed.
fn signs_bytes(scheme: &Scheme) -> bool {
    matches!(&scheme.construction, Construction::Template(t) if t.signed.contains(&Part::Body))
}

fn verify(input: &Input, headers: &[(String, Vec<u8>)], body: &[u8], url: Option<&str>) -> bool {
    let lines: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    let request =
        Request { headers: &lines, body, method: Some("POST"), url, status: Some(200), form: None };
    let now = Time::At(Millis(1_700_000_000_000));
    let _ = input.verifier.verify(&request, now);
    input.verifier.verify(&request, Time::NotTested).is_ok()
}

#[test]
fn no_mutation_panics_and_none_of_a_signed_body_verifies() {
    let rounds: u64 =
        std::env::var("HOOKPROOF_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    for input in corpus() {
        if input.body.len() > 70_000 {
            continue;
        }
        for seed in 1..=rounds {
            let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let mut body = input.body.clone();
            (0..=dice.below(3)).for_each(|_| dice.mutate(&mut body));
            if verify(&input, &input.headers, &body, input.url.as_deref()) {
                // A mutation may undo what a rejected case did to its body.
                let free = !signs_bytes(input.scheme) || body == input.body || !input.accepted;
                assert!(free, "{} with seed {seed}: a changed body verifies", input.id);
            }
            let mut headers = input.headers.clone();
            for _ in 0..=dice.below(3) {
                if headers.is_empty() {
                    break;
                }
                let at = dice.below(headers.len());
                match dice.below(6) {
                    0 => headers.push(headers[at].clone()),
                    1 => drop(headers.remove(at)),
                    _ => dice.mutate(&mut headers[at].1),
                }
            }
            let mut url = input
                .url
                .clone()
                .unwrap_or_else(|| "https://a.example:8443/in?a=b".into())
                .into_bytes();
            dice.mutate(&mut url);
            let url = String::from_utf8_lossy(&url).into_owned();
            verify(&input, &headers, &input.body, Some(&url));
            others(&body, &headers, &url);
            if seed == 1 && input.accepted && input.scheme.name != "mailgun-body-token" {
                let mut longer = input.body.clone();
                longer.push(b' ');
                let passes = verify(&input, &input.headers, &longer, input.url.as_deref());
                assert!(
                    !passes || !signs_bytes(input.scheme),
                    "{}: a blank more verifies",
                    input.id
                );
            }
        }
    }
}

/// Everything else that reads a stranger's bytes.
fn others(body: &[u8], headers: &[(String, Vec<u8>)], url: &str) {
    if let Ok(json) = Json::check(body) {
        for pointer in ["/id", "/data/object/id", "/0/a", "//", "/~0~1"] {
            let _ =
                json.at(pointer).map(|value| value.map(|value| (value.text(), value.elements())));
        }
    }
    let lines: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    for preset in ["standard-webhooks", "stripe", "paymos", "github", "slack", "shopify"] {
        let _ = Places::named(preset).expect("a preset").read(&lines, body);
    }
    let policy = TargetPolicy::default();
    if let Ok(target) = Target::parse(url, &policy) {
        let _ = target.vet(&[], &policy);
    }
    for (_, value) in headers {
        let _ = answer::retry_after([value.as_slice()], 1_700_000_000, 86_400);
        for unit in [Unit::Seconds, Unit::Milliseconds, Unit::Rfc3339, Unit::HttpDate] {
            let _ = Instant::parse(value, unit);
        }
    }
}
