//! `hookproof sign`: the headers that a sender of a scheme writes.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use clap::Args;
use hookproof_core::{
    Millis,
    instant::{Instant, Unit},
    scheme::{Algorithm, Construction, Message, Part, Scheme, SignError, Time, Verifier},
};

use crate::{
    End,
    input::{self, Fault, Secrets, note, one_stdin},
    request::Received,
    scheme_choice::Choice,
    sheet,
    verify::SECONDS_MAX,
};

/// Options of `hookproof sign`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    choice: Choice,

    #[command(flatten)]
    secrets: Secrets,

    /// The delivery id, where the scheme has a header for it.
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// The time as the scheme writes it (seconds, mostly); now unless set.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    timestamp: Option<String>,

    /// The URL that the request goes to, where the scheme signs it.
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// The method, where the scheme signs it.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,

    /// A file with other headers that will be sent, where the scheme signs some of them.
    #[arg(long, value_name = "FILE")]
    headers: Option<PathBuf>,

    /// Print one JSON object: headers as a list of pairs.
    #[arg(long)]
    json: bool,

    /// The file with the body, byte for byte as it will be sent; `-` is standard input.
    #[arg(default_value = "-", value_name = "BODY")]
    body: PathBuf,
}

/// Signs, and prints a header a line.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> io::Result<End> {
    let headers = match sign(options) {
        Ok(headers) => headers,
        Err(fault) => return Ok(fault.end()),
    };
    if options.json {
        writeln!(out, "{}", serde_json::json!({ "headers": headers }))?;
    } else {
        for (name, value) in headers {
            writeln!(out, "{name}: {value}")?;
        }
    }
    Ok(End::Kept)
}

fn sign(options: &Options) -> Result<Vec<(String, String)>, Fault> {
    let others = options.headers.as_deref();
    one_stdin(options.secrets.paths().chain(others).chain([options.body.as_path()]))?;
    let scheme = options.choice.scheme(None)?;
    if scheme.algorithm == Algorithm::Token {
        return Err(Fault::misuse(
            "expected a scheme that signs: the header of this one is the secret itself, which is \
             never printed",
        ));
    }
    let timestamp = options.timestamp(&scheme)?;
    let verifier = verifier(&scheme, &options.secrets)?;
    let others = others.map(headers).transpose()?.unwrap_or_default();
    let body = input::bytes(&options.body)?;
    let message = Message {
        id: options.id.as_deref().unwrap_or_default(),
        timestamp: &timestamp,
        body: &body,
        method: given(options.method.as_deref()),
        url: given(options.url.as_deref()),
        headers: &others.lines(),
    };
    verifier
        .sign(&message, Time::NotTested)
        .map_err(|error| Fault::misuse(format!("{error}: {}", options.remedy(error, &scheme))))
}

/// An option that says something.
fn given(option: Option<&str>) -> Option<&str> {
    option.filter(|text| !text.is_empty())
}

fn headers(path: &Path) -> Result<Received, Fault> {
    Received::from_headers(&input::bytes(path)?)
        .map_err(|bad| Fault::unreadable(format!("{}, {bad}", path.display())))
}

fn verifier(scheme: &Scheme, secrets: &Secrets) -> Result<Verifier, Fault> {
    let secrets = secrets.read()?;
    let mut verifier = Verifier::new(scheme);
    for (at, secret) in secrets.iter().enumerate() {
        verifier.add(&secret.text).map_err(|bad| {
            Fault::misuse(format!(
                "secret {} ({}): {bad}; the scheme expects {}",
                at + 1,
                secret.name,
                sheet::key(&scheme.key)
            ))
        })?;
    }
    if secrets.len() > 1 && !scheme.signs_with_all() {
        note("note", "a request of this scheme carries one signature: the first secret made it");
    }
    Ok(verifier)
}

impl Options {
    /// The time as the scheme writes it. One that its verifiers would refuse is not signed.
    fn timestamp(&self, scheme: &Scheme) -> Result<String, Fault> {
        let Some(unit) = unit(scheme) else {
            return match &self.timestamp {
                Some(_) => Err(Fault::misuse("expected no --timestamp: this scheme signs no time")),
                None => Ok(String::new()),
            };
        };
        let Some(written) = &self.timestamp else { return Ok(now(unit)) };
        // A time of the other unit lies far outside of what any verifier lets in.
        let is_of_unit = |at: &Instant| match unit {
            Unit::Seconds => at.seconds <= SECONDS_MAX,
            Unit::Milliseconds => at.seconds > SECONDS_MAX / 1_000,
            Unit::Rfc3339 | Unit::HttpDate => true,
        };
        let read = Instant::parse(written.as_bytes(), unit).filter(is_of_unit);
        read.map(|_| written.clone()).ok_or_else(|| {
            Fault::misuse(format!(
                "--timestamp: expected {}, like {}",
                sheet::clock(scheme),
                now(unit)
            ))
        })
    }

    /// What to do about it.
    fn remedy(&self, error: SignError, scheme: &Scheme) -> String {
        match error {
            SignError::NoSecret => "name one with --secret-file".into(),
            SignError::VerifyOnly if scheme.algorithm == Algorithm::Ed25519 => {
                "to sign, give the private key behind whsk_".into()
            }
            SignError::VerifyOnly => "its tags are made by the provider alone".into(),
            SignError::Incomplete => {
                let missing = self.missing(scheme);
                if missing.is_empty() {
                    "the body has not the form that the scheme signs".into()
                } else {
                    format!("add {}", missing.join(", "))
                }
            }
            SignError::Unreadable => "write them as the receiver will read them".into(),
        }
    }

    /// The options that the scheme needs and that are not given.
    fn missing(&self, scheme: &Scheme) -> Vec<&'static str> {
        let Some(template) = sheet::template(scheme) else { return Vec::new() };
        let mut all = Vec::new();
        let mut need = |given: bool, option| {
            if !given && !all.contains(&option) {
                all.push(option);
            }
        };
        for part in template.signed.iter() {
            match part {
                Part::Id => need(given(self.id.as_deref()).is_some(), "--id"),
                Part::Url(_) | Part::Path | Part::EncodedPath => {
                    need(given(self.url.as_deref()).is_some(), "--url");
                }
                Part::Method => need(given(self.method.as_deref()).is_some(), "--method"),
                Part::Header(_) | Part::NamedHeaders | Part::ListedHeaders(_) => {
                    need(self.headers.is_some(), "--headers");
                }
                Part::Text(_)
                | Part::Timestamp
                | Part::Body
                | Part::CompactBody
                | Part::FormParams => {}
            }
        }
        all
    }
}

/// The unit of the time that a signer writes into a header; `None` where it writes none.
fn unit(scheme: &Scheme) -> Option<Unit> {
    match &scheme.construction {
        Construction::Template(template) => {
            let (_, unit) = template.clock.as_ref()?;
            template.signed.contains(&Part::Timestamp).then_some(*unit)
        }
        Construction::HttpMessage => Some(Unit::Seconds),
        Construction::AdyenItems | Construction::Mailgun => None,
    }
}

/// The time of this machine, as a scheme of this unit writes it.
fn now(unit: Unit) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Message::written(Millis(now.as_millis() as u64), unit)
}

pub(crate) const ENDS: &str = "\
Secrets come from files or the environment, never from the command line. Several sign with each, where a \
request of the scheme can carry several signatures.

    hookproof sign --scheme stripe --secret-file stripe.secret body.json > headers.txt
    curl -H @headers.txt --data-binary @body.json https://hooks.example/in

Exit codes: 0 signed; 2 a wrong option, a secret of another form, or something that the scheme needs; \
3 a file that cannot be read";
