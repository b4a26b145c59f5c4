//! The mistakes that are undone, one by one, until the request verifies.

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::cell::Cell;

use super::{
    super::{
        Construction, Encoding, Field, Grammar, HttpSignature, KeyForm, Part, Place, Refusal,
        Request, SIGNATURES_MAX, Scheme, Template, Time, UrlForm, Verified, Verifier, Window,
        candidate, content, embedded, fields, url_forms, verify,
    },
    Mistake, bodies,
};
use crate::{
    codec,
    instant::{self, Unit},
    json::{Json, Unreadable},
};

/// One request that is tried in many ways.
pub(super) struct Attempt<'a> {
    scheme: &'a Scheme,
    secrets: &'a [(&'a str, Window)],
    request: &'a Request<'a>,
    /// What each try costs besides its body.
    each: u64,
    /// What the tries that are left may cost.
    left: Cell<u64>,
    gave_up: Cell<bool>,
}

/// The mistakes that were found, and what they were made of.
#[derive(Default)]
pub(super) struct Undone {
    pub(super) mistakes: Vec<Mistake>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) url: Option<String>,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        scheme: &'a Scheme,
        secrets: &'a [(&'a str, Window)],
        request: &'a Request<'a>,
    ) -> Self {
        let is_public = matches!(scheme.key, KeyForm::Ed25519Public | KeyForm::P256Public);
        let lines = request.headers.iter().map(|(name, value)| name.len() + value.len());
        let each = lines.sum::<usize>() as u64 + if is_public { PUBLIC_TRY } else { TRY };
        let left = Cell::new(WORK_MAX / 2);
        Self { scheme, secrets, request, each, left, gave_up: Cell::new(false) }
    }

    /// Whether a search ended before all was tried.
    pub(super) const fn gave_up(&self) -> bool {
        self.gave_up.get()
    }

    /// Whether no more is tried.
    const fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    pub(super) fn undone(
        &self,
        verdict: Result<Verified, Refusal>,
        candidates: &[String],
    ) -> Undone {
        let mut found = Undone::default();
        match verdict {
            Ok(verified) => {
                if verified.secret() > 0 {
                    found.mistakes.push(Mistake::OtherSecret);
                }
                if candidates.len() > 1 {
                    found.mistakes.push(Mistake::ListAsOneValue);
                }
                found.mistakes.extend(self.in_other_unit());
                if self.id_holds_time() {
                    found.mistakes.push(Mistake::IdHoldsTime);
                }
            }
            // An old request may be wrong otherwise too, and then that is the mistake to name.
            Err(Refusal::TooOld | Refusal::TooNew) => match self.of_time() {
                Some(mistake) => found.mistakes.push(mistake),
                None => return self.of_content(verdict, candidates),
            },
            Err(_) => return self.of_content(verdict, candidates),
        }
        found
    }

    /// Whether it verifies without a clock, under any of the secrets.
    fn passes(&self, scheme: &Scheme, secrets: &[&str], request: &Request<'_>) -> bool {
        let verifier = verifier(scheme, secrets);
        verifier.is_some_and(|verifier| self.verifies(&verifier, request))
    }

    /// The same, and what it costs is paid for.
    fn verifies(&self, verifier: &Verifier, request: &Request<'_>) -> bool {
        let cost = (self.each + request.body.len() as u64) * verifier.secrets.len() as u64;
        let left = self.left.get().saturating_sub(cost);
        self.left.set(left);
        self.gave_up.set(self.gave_up() || left == 0);
        left > 0 && verifier.verify(request, Time::NotTested).is_ok()
    }

    fn texts(&self) -> Vec<&str> {
        self.secrets.iter().map(|(text, _)| *text).collect()
    }

    fn of_time(&self) -> Option<Mistake> {
        self.passes(self.scheme, &self.texts(), self.request)
            .then(|| self.in_other_unit().unwrap_or(Mistake::TimeOutsideWindow))
    }

    /// A time that can only be one of the other unit.
    fn in_other_unit(&self) -> Option<Mistake> {
        let written = instant::digits(&self.written_time()?)?;
        match self.unit()? {
            Unit::Seconds if written > SECONDS_MAX => Some(Mistake::TimeInMilliseconds),
            Unit::Milliseconds if written <= SECONDS_MAX => Some(Mistake::TimeInSeconds),
            Unit::Seconds | Unit::Milliseconds | Unit::Rfc3339 | Unit::HttpDate => None,
        }
    }

    /// A time that was sent in one unit and signed in the other.
    fn of_unit(&self, texts: &[&str]) -> Option<Mistake> {
        let mistake = match self.unit()? {
            Unit::Seconds => Mistake::TimeInMilliseconds,
            Unit::Milliseconds => Mistake::TimeInSeconds,
            Unit::Rfc3339 | Unit::HttpDate => return None,
        };
        let written = instant::digits(&self.written_time()?)?;
        let signed = if written > SECONDS_MAX {
            written / 1_000..=written / 1_000
        } else {
            written * 1_000..=written * 1_000 + 999
        };
        let mut tries = signed.take_while(|_| !self.is_spent());
        tries.any(|time| self.passes_at(texts, time)).then_some(mistake)
    }

    /// Whether it verifies with another time in place of the one that is written.
    fn passes_at(&self, texts: &[&str], time: i64) -> bool {
        let Construction::Template(template) = &self.scheme.construction else { return false };
        let names = template.names.iter().find(|names| candidate::present(names, self.request));
        let (Some(names), Some(old)) = (names, self.written_time()) else { return false };
        let (name, key) = match (&template.clock, &template.grammar) {
            (Some((Place::Header, _)), _) => (names.timestamp.as_deref(), ""),
            (Some((Place::Member, _)), Grammar::Pairs { timestamp: Some(key), .. }) => {
                (content::signature_header(names), &**key)
            }
            (_, _) => return false,
        };
        let Some(name) = name else { return false };
        let mark = if key.is_empty() { "" } else { "=" };
        let old = format!("{key}{mark}{}", String::from_utf8_lossy(&old));
        let new = format!("{key}{mark}{time}");
        let others =
            self.request.headers.iter().filter(|(other, _)| !fields::same_name(other, name));
        let lines: Vec<String> = self
            .request
            .lines(name)
            .map(|line| String::from_utf8_lossy(line).replacen(&old, &new, 1))
            .collect();
        let of_name = lines.iter().map(|line| (name, line.as_bytes()));
        let headers: Vec<Field<'_>> = others.copied().chain(of_name).collect();
        self.passes(self.scheme, texts, &Request { headers: &headers, ..*self.request })
    }

    /// The unit of the signed time.
    fn unit(&self) -> Option<Unit> {
        match &self.scheme.construction {
            Construction::Template(template) => template.clock.as_ref().map(|(_, unit)| *unit),
            Construction::HttpMessage | Construction::Mailgun => Some(Unit::Seconds),
            Construction::AdyenItems => None,
        }
    }

    fn id_holds_time(&self) -> bool {
        let Construction::Template(template) = &self.scheme.construction else { return false };
        let names = template.names.iter().find(|names| candidate::present(names, self.request));
        let id = names.and_then(|names| self.request.one(names.id.as_deref()?).ok());
        id.is_some_and(|id| content::holds_time(&template.signed, id))
    }

    /// The time as it is written.
    fn written_time(&self) -> Option<Cow<'_, [u8]>> {
        match &self.scheme.construction {
            Construction::Template(template) => {
                if let Some((Place::Body(pointer), _)) = &template.clock {
                    let value = Json::check(self.request.body).ok()?.at(pointer).ok()??;
                    return value.scalar().map(|text| Cow::Owned(text.into_bytes()));
                }
                let mut names = template.names.iter();
                let names = names.find(|names| candidate::present(names, self.request))?;
                let written = verify::written_time(template, names, self.request).ok()?;
                written.map(Cow::Borrowed)
            }
            Construction::HttpMessage => {
                let created = HttpSignature::of(self.request).ok()?.first()?.created()?;
                Some(Cow::Owned(format!("{created}").into_bytes()))
            }
            Construction::Mailgun => {
                embedded::mailgun(self.request).ok()?.timestamp.map(Cow::Owned)
            }
            Construction::AdyenItems => None,
        }
    }

    fn of_content(&self, verdict: Result<Verified, Refusal>, candidates: &[String]) -> Undone {
        let texts = self.texts();
        if self.passes(self.scheme, &texts, self.request) {
            let mistake = match verdict {
                Err(Refusal::BadBody | Refusal::BadTimestamp) => self.of_lost_time(),
                Ok(_) | Err(_) => Mistake::SecretNotLive,
            };
            return Undone { mistakes: alloc::vec![mistake], ..Undone::default() };
        }
        let (of_url, url) = self.of_url(&texts).unzip();
        let (of_secret, of_tag) = (self.of_secret(&texts), self.of_tag(&texts, candidates));
        let of_unit = self.of_unit(&texts);
        // Bodies have a share of their own: there are as many as the bound lets.
        self.left.set(WORK_MAX / 2);
        let (of_body, body) = self.of_body(&texts).unzip();
        let tries = [of_secret, of_tag, of_unit, of_url, of_body];
        let mut mistakes: Vec<Mistake> = tries.into_iter().flatten().collect();
        let beside = [self.in_other_unit(), body.as_deref().and_then(|body| self.of_window(body))];
        if !mistakes.is_empty() {
            mistakes.extend(beside.into_iter().flatten());
        } else if self.has_other_length() {
            mistakes.push(Mistake::BodyLength);
        }
        mistakes.dedup();
        Undone { mistakes, body, url }
    }

    /// Why there is no time though the signature is right.
    fn of_lost_time(&self) -> Mistake {
        let Construction::Template(template) = &self.scheme.construction else {
            return Mistake::TimeMissing;
        };
        let Some((Place::Body(pointer), _)) = &template.clock else {
            return Mistake::TimeUnreadable;
        };
        match Json::check(self.request.body).and_then(|json| json.at(pointer)) {
            Err(Unreadable::DuplicateKey) => Mistake::TimeTwice,
            Ok(Some(value)) if !value.is_null() => Mistake::TimeUnreadable,
            Ok(_) | Err(Unreadable::NotJson) => Mistake::TimeMissing,
        }
    }

    /// The other spellings of the body.
    fn of_body(&self, texts: &[&str]) -> Option<(Mistake, Vec<u8>)> {
        let verifier = verifier(self.scheme, texts)?;
        bodies::variants(self.request.body)
            .take_while(|_| !self.is_spent())
            .find(|(_, body)| self.verifies(&verifier, &Request { body, ..*self.request }))
    }

    /// Whether the body once had the length of another layout.
    fn has_other_length(&self) -> bool {
        let said = self.request.one("content-length").ok().and_then(instant::digits);
        let said = said.and_then(|said| usize::try_from(said).ok());
        let other = said.filter(|said| *said != self.request.body.len());
        let is_near = |said: &usize| self.request.body.len() <= BODY_BYTES_MAX && *said > 0;
        other.filter(is_near).is_some_and(|said| {
            bodies::layouts(self.request.body).any(|layout| layout.len() == said)
        })
    }

    /// Whether the body that verifies does so under secrets alone that count no more.
    fn of_window(&self, body: &[u8]) -> Option<Mistake> {
        let live = self.secrets.iter().filter(|(_, window)| window.is_live(None));
        let live: Vec<&str> = live.map(|(text, _)| *text).collect();
        let passes = self.passes(self.scheme, &live, &Request { body, ..*self.request });
        (!passes).then_some(Mistake::SecretNotLive)
    }

    /// The other readings of a secret's text.
    fn of_secret(&self, texts: &[&str]) -> Option<Mistake> {
        let reads = |key: KeyForm, text: &str| {
            let scheme = Scheme { key, ..self.scheme.clone() };
            self.passes(&scheme, &[text], self.request)
        };
        // As hexadecimal, since blanks around a text are refused.
        let is = |key: &[u8]| reads(KeyForm::Hex, &codec::to_hex(key));
        for text in texts {
            let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == BYTE_ORDER_MARK);
            if trimmed != *text && reads(self.scheme.key.clone(), trimmed) {
                return Some(Mistake::SecretBlanks);
            }
            let inner = trimmed.rsplit_once('_').map_or(trimmed, |(_, inner)| inner);
            match self.scheme.key {
                KeyForm::Text => {
                    let padded =
                        format!("{inner:=<width$}", width = inner.len().next_multiple_of(4));
                    let decoded = codec::base64(inner.as_bytes())
                        .or_else(|| codec::base64(padded.as_bytes()));
                    let decoded = decoded.into_iter().chain(codec::hex(inner.as_bytes()));
                    if decoded.into_iter().any(|key| is(&key)) {
                        return Some(Mistake::SecretDecoded);
                    }
                    if inner != trimmed && is(inner.as_bytes()) {
                        return Some(Mistake::SecretPrefix);
                    }
                    if ["\n", "\r\n"].iter().any(|end| is(format!("{trimmed}{end}").as_bytes())) {
                        return Some(Mistake::SecretBlanks);
                    }
                }
                KeyForm::Base64 { .. } | KeyForm::Hex => {
                    let ways = [trimmed, inner, &format!("{trimmed}\n")];
                    if ways.iter().any(|way| is(way.as_bytes())) {
                        return Some(Mistake::SecretNotDecoded);
                    }
                }
                KeyForm::Ed25519Public | KeyForm::P256Public => {}
            }
        }
        None
    }

    /// The other ways of writing tags.
    fn of_tag(&self, texts: &[&str], candidates: &[String]) -> Option<Mistake> {
        let Construction::Template(template) = &self.scheme.construction else { return None };
        let with = |template: Template| Scheme {
            construction: Construction::Template(template),
            ..self.scheme.clone()
        };
        let other = match template.encoding {
            Encoding::Hex => Encoding::Base64,
            Encoding::Base64 | Encoding::HexOrBase64 | Encoding::Plain => Encoding::Hex,
        };
        let scheme = with(Template { encoding: other, ..template.clone() });
        if self.passes(&scheme, texts, self.request) {
            return Some(Mistake::TagEncoding);
        }
        let separators = [',', ' ', ';'];
        let pieces = candidates.iter().flat_map(|text| text.split(separators));
        for piece in pieces.take_while(|_| !self.is_spent()) {
            let piece = piece
                .rsplit_once('=')
                .filter(|(_, tag)| !tag.is_empty())
                .map_or(piece, |(_, tag)| tag);
            if self.has_tag(template, piece, texts) {
                return Some(Mistake::ListAsOneValue);
            }
        }
        None
    }

    /// Whether a text of its own is a right tag.
    fn has_tag(&self, template: &Template, tag: &str, texts: &[&str]) -> bool {
        let Some(names) = template.names.first() else { return false };
        let Some(name) = content::signature_header(names) else { return false };
        let mut headers: Vec<Field<'_>> = self
            .request
            .headers
            .iter()
            .filter(|(other, _)| !other.eq_ignore_ascii_case(name))
            .copied()
            .collect();
        let Some((grammar, line)) = self.alone(template, tag) else { return false };
        headers.push((name, &line));
        let request = Request { headers: &headers, ..*self.request };
        let construction = Construction::Template(Template { grammar, ..template.clone() });
        self.passes(&Scheme { construction, ..self.scheme.clone() }, texts, &request)
    }

    /// A header with this tag alone: beside the time, where that stands in the same header.
    fn alone(&self, template: &Template, tag: &str) -> Option<(Grammar, Vec<u8>)> {
        let bare = Grammar::Single { prefix: Cow::Borrowed("") };
        match (&template.grammar, &template.clock) {
            (
                Grammar::Pairs { separator, timestamp: Some(key), tags, headers: None, .. },
                Some((Place::Member, _)),
            ) => {
                let mut line =
                    [key.as_bytes(), b"=", &self.written_time()?, &[*separator]].concat();
                line.extend_from_slice(tags.first()?.as_bytes());
                line.push(b'=');
                line.extend_from_slice(tag.as_bytes());
                Some((template.grammar.clone(), line))
            }
            (_, Some((Place::Member, _))) => None,
            _ => Some((bare, tag.as_bytes().to_vec())),
        }
    }

    /// The other spellings of the URL.
    fn of_url(&self, texts: &[&str]) -> Option<(Mistake, String)> {
        let signs_url = match &self.scheme.construction {
            Construction::Template(template) => {
                let is_url =
                    |part| matches!(part, &Part::Url(_) | &Part::Path | &Part::EncodedPath);
                template.signed.iter().any(is_url)
            }
            Construction::HttpMessage => true,
            Construction::AdyenItems | Construction::Mailgun => false,
        };
        let url = self.request.url.filter(|_| signs_url)?;
        let passes = |url: &str| {
            self.passes(self.scheme, texts, &Request { url: Some(url), ..*self.request })
        };
        let host = self.request.one("host").ok().and_then(|host| core::str::from_utf8(host).ok());
        let by_host = host.and_then(|host| with_port_of(url, host)).map(Cow::Owned);
        let ports = url_forms::spellings(url, UrlForm::Twilio).into_iter().chain(by_host);
        if let Some(url) = ports.into_iter().find(|url| passes(url)) {
            return Some((Mistake::UrlPort, url.into_owned()));
        }
        let bare = url.split_once('?').map_or(url, |(front, _)| front);
        let slash = format!("{bare}/");
        let others = [
            url.replacen("https://", "http://", 1),
            url.replacen("http://", "https://", 1),
            String::from(bare),
            slash,
            String::from(bare.trim_end_matches('/')),
        ];
        others.into_iter().find(|url| passes(url)).map(|url| (Mistake::UrlSpelling, url))
    }
}

/// A verifier with each secret that can be used; `None` where none can.
fn verifier(scheme: &Scheme, secrets: &[&str]) -> Option<Verifier> {
    let mut verifier = Verifier::new(scheme);
    for secret in secrets {
        let _ = verifier.add(secret);
    }
    (!verifier.secrets.is_empty()).then_some(verifier)
}

/// The URL with the port of this `Host`, where they name the same host.
fn with_port_of(url: &str, host: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let name =
        |text: &str| text.split_once(':').map_or(text, |(name, _)| name).to_ascii_lowercase();
    (name(authority) == name(host)).then(|| format!("{scheme}://{host}{path}"))
}

const BYTE_ORDER_MARK: char = '\u{feff}';
/// A larger number is no time in seconds (the year is 5138), but one in milliseconds.
const SECONDS_MAX: i64 = 100_000_000_000;
/// What all tries may cost together, in bytes that are read.
pub const WORK_MAX: u64 = 512 << 20;
/// What a try costs besides what it reads.
const TRY: u64 = 1_024;
/// The same where up to [`SIGNATURES_MAX`] signatures are held against a public key.
const PUBLIC_TRY: u64 = SIGNATURES_MAX as u64 * 16_384;
/// Up to which size a body is laid out to compare lengths, in bytes.
const BODY_BYTES_MAX: usize = 16_384;
