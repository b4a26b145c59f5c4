//! `hookproof verify`: whether a request out of a log verifies, and if not, why.

mod explain;
mod json;
mod mask;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use clap::Args;
use hookproof_core::{
    Millis, answer,
    instant::{Instant, Unit},
    scheme::{
        BadSecret, Refusal, Scheme, Time, Verified, Verifier, Window,
        explain::{self as core_explain, Explanation},
    },
};

use crate::{
    End,
    input::{self, Fault, Secret, Secrets, note, one_stdin},
    request::Received,
    say::{BAD, GOOD, OPEN, visible},
    scheme_choice::Choice,
    sheet,
};

/// Options of `hookproof verify`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    choice: Choice,

    #[command(flatten)]
    secrets: Secrets,

    /// A secret that counts no more (or not yet): only --explain tries it, to say who signed.
    #[arg(long, value_name = "FILE")]
    retired_secret_file: Vec<PathBuf>,

    /// The headers, `Name: value` a line, or JSON; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    headers: Option<PathBuf>,

    /// The body, byte for byte; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// All of it in one file: an optional request line, headers, a blank line, the body.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["headers", "body"])]
    request: Option<PathBuf>,

    /// When the request came in: seconds, RFC 3339, or `none` to leave time untested. Now unless set.
    #[arg(long, value_name = "T", value_parser = time, allow_negative_numbers = true)]
    now: Option<Time>,

    /// Another tolerance than the scheme's, in seconds.
    #[arg(long, value_name = "S", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: Option<u32>,

    /// The URL that the provider was given, where the scheme signs it.
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// The method, where the scheme signs it.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,

    /// Reject a request whose signature does not cover its body.
    #[arg(long)]
    require_body: bool,

    /// Say what was signed, what was claimed, where the first difference lies and the likely mistake.
    #[arg(long)]
    explain: bool,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// All that goes into a verdict.
struct Asked {
    scheme: Scheme,
    secrets: Vec<Secret>,
    retired: Vec<Secret>,
    received: Received,
    time: Time,
    body_required: bool,
}

/// What came of it.
struct Answer {
    verdict: Result<Verified, Refusal>,
    /// The secrets that can be used, by their places among those given.
    usable: Vec<usize>,
    /// Those that cannot, the retired ones counted behind the others.
    bad_secrets: Vec<(usize, BadSecret)>,
    /// Whether the signature is right and does not cover the body.
    body_unsigned: bool,
    explanation: Option<Explanation>,
}

/// Verifies, and says what came of it.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> io::Result<End> {
    let asked = match options.asked() {
        Ok(asked) => asked,
        Err(fault) => return Ok(fault.end()),
    };
    let answer = asked.answer(options.explain);
    for (at, bad) in &answer.bad_secrets {
        let (secret, retired) = match at.checked_sub(asked.secrets.len()) {
            None => (&asked.secrets[*at], ""),
            Some(at) => (&asked.retired[at], ", retired"),
        };
        note("warning", &format!("secret {} ({}{retired}): {bad}", at + 1, secret.name));
    }
    if options.json {
        json::print(&asked, &answer, out)?;
    } else {
        print(&asked, &answer, out)?;
    }
    Ok(if answer.verdict.is_ok() { End::Kept } else { End::Broken })
}

fn print(asked: &Asked, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    match answer.verdict {
        Ok(_) => writeln!(out, "{GOOD}accept{GOOD:#}")?,
        Err(refusal) => writeln!(out, "{BAD}reject {refusal}{BAD:#}: {}", sentence(refusal))?,
    }
    if answer.body_unsigned {
        let what = match answer.verdict {
            Ok(_) => "anybody on the way can change it (--require-body rejects this)",
            Err(_) => "--require-body rejects what anybody on the way can change",
        };
        writeln!(
            out,
            "{OPEN}warning{OPEN:#}: the signature does not cover the whole body: {what}"
        )?;
    }
    if let Some(why) = asked.received.misframed() {
        writeln!(out, "{OPEN}warning{OPEN:#}: {}", visible(&asked.masked(&why)))?;
    }
    match &answer.explanation {
        Some(explanation) => explain::print(asked, answer, explanation, out),
        None => Ok(()),
    }
}

impl Options {
    fn asked(&self) -> Result<Asked, Fault> {
        let retired = self.retired_secret_file.iter().map(PathBuf::as_path);
        let files = [&self.headers, &self.body, &self.request].into_iter().flatten();
        one_stdin(self.secrets.paths().chain(retired).chain(files.map(PathBuf::as_path)))?;
        let retired = self.retired_secret_file.iter().enumerate();
        let retired =
            retired.map(|(at, path)| input::secret_file("--retired-secret-file", at, path));
        let asked = Asked {
            scheme: self.choice.scheme(self.tolerance)?,
            secrets: self.secrets.read()?,
            retired: retired.collect::<Result<_, _>>()?,
            received: self.received()?,
            time: self.now.unwrap_or_else(now),
            body_required: self.require_body,
        };
        asked.is_complete().map(|()| asked)
    }

    fn received(&self) -> Result<Received, Fault> {
        let mut received = match (&self.request, &self.headers, &self.body) {
            (Some(path), _, _) => read(path, Received::from_request)?,
            (None, Some(headers), Some(body)) => {
                let received = read(headers, Received::from_headers)?;
                Received { body: input::bytes(body)?, ..received }
            }
            (None, _, _) => {
                return Err(Fault::misuse("expected --headers and --body, or --request"));
            }
        };
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        received.url = given(&self.url).or(received.url);
        received.method = given(&self.method).or(received.method);
        Ok(received)
    }
}

fn read<E: std::fmt::Display>(
    path: &Path,
    take: fn(&[u8]) -> Result<Received, E>,
) -> Result<Received, Fault> {
    take(&input::bytes(path)?)
        .map_err(|bad| Fault::unreadable(format!("{}, {bad}", path.display())))
}

impl Asked {
    /// Refuses to judge a request without its URL or method where they are signed.
    fn is_complete(&self) -> Result<(), Fault> {
        let lists = |component: &str| {
            sheet::signs_what_it_lists(&self.scheme)
                && self
                    .received
                    .headers
                    .iter()
                    .filter(|(name, _)| name.eq_ignore_ascii_case("signature-input"))
                    .any(|(_, value)| String::from_utf8_lossy(value).contains(component))
        };
        let signs = self.scheme.signs();
        let url = signs.url || URL_COMPONENTS.into_iter().any(lists);
        let method = signs.method || lists("\"@method\"");
        if url && self.received.url.is_none() {
            return Err(Fault::misuse(
                "expected the URL, which is signed: add --url with the one that the provider was given",
            ));
        }
        if method && self.received.method.is_none() {
            return Err(Fault::misuse("expected the method, which is signed: add --method"));
        }
        Ok(())
    }

    /// One secret that cannot be used never blocks another.
    fn answer(&self, explain: bool) -> Answer {
        let mut verifier = Verifier::new(&self.scheme);
        let (mut usable, mut bad_secrets) = (Vec::new(), Vec::new());
        for (at, secret) in self.secrets.iter().enumerate() {
            match verifier.add(&secret.text) {
                Ok(_) => usable.push(at),
                Err(bad) => bad_secrets.push((at, bad)),
            }
        }
        for (at, secret) in self.retired.iter().enumerate() {
            if let Err(bad) = Verifier::new(&self.scheme).add(&secret.text) {
                bad_secrets.push((self.secrets.len() + at, bad));
            }
        }
        let lines = self.received.lines();
        let request = self.received.request(&lines);
        let verified = verifier.verify(&request, self.time);
        if self.body_required {
            verifier.require_body();
        }
        let verdict = verifier.verify(&request, self.time);
        let body_unsigned =
            verified.is_ok_and(|verified| !verified.signs().body) && !self.received.body.is_empty();
        let explanation = explain.then(|| {
            let live = self.secrets.iter().map(|secret| (&*secret.text, Window::always()));
            let retired = self.retired.iter();
            let retired = retired.map(|secret| (&*secret.text, Window::always().revoke()));
            let all: Vec<(&str, Window)> = live.chain(retired).collect();
            let mut found = core_explain::explain(&self.scheme, &all, &request, self.time);
            self.mask(&mut found);
            found
        });
        Answer { verdict, usable, bad_secrets, body_unsigned, explanation }
    }
}

/// A reason of the closed list, in a sentence.
const fn sentence(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::MissingHeader => "a header that the scheme needs is absent or empty",
        Refusal::AmbiguousHeader => "two different values stand under one name",
        Refusal::Malformed => "a header does not follow the scheme's grammar",
        Refusal::NoMatch => "no signature of the request matches any secret",
        Refusal::BadTimestamp => "the time is not written as the scheme writes times",
        Refusal::TooOld => "the signed time lies too far back (for an old request, give --now)",
        Refusal::TooNew => "the signed time lies too far ahead",
        Refusal::BadSecret => "no secret can be used with this scheme",
        Refusal::BadBody => "the body has not the form that the scheme signs",
    }
}

fn now() -> Time {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Time::At(Millis(now.as_millis() as u64))
}

fn time(text: &str) -> Result<Time, String> {
    if text == "none" {
        return Ok(Time::NotTested);
    }
    let units = [Unit::Seconds, Unit::Rfc3339, Unit::HttpDate];
    let instant = units.into_iter().find_map(|unit| Instant::parse(text.as_bytes(), unit));
    let ms = instant.filter(|instant| instant.seconds < SECONDS_MAX).and_then(Instant::millis);
    let ms = ms.and_then(|ms| u64::try_from(ms).ok());
    ms.map(|ms| Time::At(Millis(ms))).ok_or_else(|| {
        "expected seconds since 1970 (not milliseconds), RFC 3339, or `none`".to_owned()
    })
}

fn tolerance(text: &str) -> Result<u32, String> {
    answer::tolerance(text).ok_or_else(|| "expected whole seconds, at most a year".to_owned())
}

/// The components of a message signature that are taken from the URL (RFC 9421 section 2.2).
const URL_COMPONENTS: [&str; 7] = [
    "\"@target-uri\"",
    "\"@authority\"",
    "\"@scheme\"",
    "\"@request-target\"",
    "\"@path\"",
    "\"@query\"",
    "\"@query-param\"",
];
/// More is no time in seconds, but one in milliseconds.
pub(crate) const SECONDS_MAX: i64 = 100_000_000_000;

pub(crate) const ENDS: &str = "\
A request pasted out of a log, in one file (curl's `> ` marks removed):

    POST /webhooks HTTP/1.1
    Stripe-Signature: t=1700000000,v1=…

    {\"id\":\"evt_1\"}

    hookproof verify --scheme stripe --secret-file stripe.secret --request request.txt --now 1700000005

The first line says `accept`, or `reject` with a reason: missing_header, ambiguous_header, malformed, \
no_match, bad_timestamp, too_old, too_new, bad_secret, bad_body. Secrets are never printed.

Exit codes: 0 accept; 1 reject; 2 a wrong option; 3 a file that cannot be read";
