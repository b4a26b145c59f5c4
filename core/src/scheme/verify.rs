//! One verifier for every scheme.

use alloc::vec::Vec;

use super::{
    BadSecret, Construction, Grammar, Names, Place, Refusal, Request, SIGNATURES_MAX, Scheme,
    Secret, Side, Signs, Template, Tolerance, Window, candidate,
    candidate::{Candidate, DECODED_MAX, Flow},
    content::{self, Content},
    embedded::{self, Item},
    message, url_forms,
};
use crate::{
    Millis, codec,
    instant::{Instant, Unit},
    json::Json,
};

/// Whether the signed time is held against a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Time {
    /// Now, by the clock of the host that verifies.
    At(Millis),
    /// Not at all: for a request out of an archive, never for one from the network.
    NotTested,
}

impl Time {
    const fn now(self) -> Option<Millis> {
        match self {
            Self::At(now) => Some(now),
            Self::NotTested => None,
        }
    }
}

/// A request that was verified. Only a verification makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    secret: usize,
    time: Option<Instant>,
    signs: Signs,
}

impl Verified {
    /// Which of the verifier's secrets matched, in the order in which they were added.
    pub const fn secret(&self) -> usize {
        self.secret
    }

    /// The signed time, where the scheme has one.
    pub const fn time(&self) -> Option<Instant> {
        self.time
    }

    /// What of this request is signed.
    pub const fn signs(&self) -> Signs {
        self.signs
    }
}

/// A scheme with the secrets of one source.
#[derive(Clone, Debug)]
pub struct Verifier {
    pub(crate) scheme: Scheme,
    pub(crate) secrets: Vec<Secret>,
    tolerance: Option<Tolerance>,
    body_required: bool,
    signs: Signs,
}

impl Verifier {
    /// A verifier without secrets, which refuses everything.
    pub fn new(scheme: &Scheme) -> Self {
        Self {
            tolerance: scheme.tolerance,
            scheme: scheme.clone(),
            secrets: Vec::new(),
            body_required: false,
            signs: scheme.signs(),
        }
    }

    /// Adds a secret that always counts.
    pub fn add(&mut self, text: &str) -> Result<&mut Self, BadSecret> {
        self.add_within(text, Window::always())
    }

    /// Adds a secret with the window in which it counts.
    pub fn add_within(&mut self, text: &str, window: Window) -> Result<&mut Self, BadSecret> {
        self.secrets.push(Secret::new(&self.scheme, text, window)?);
        Ok(self)
    }

    /// Another tolerance than the scheme's, in seconds, on both sides. Zero is the same second only.
    /// A scheme that signs no time has nothing to test, and stays as it is.
    pub fn set_tolerance(&mut self, seconds: u32) -> &mut Self {
        let side = self.tolerance.map_or(Side::Both, |tolerance| tolerance.side);
        self.tolerance = Some(Tolerance { seconds, side, stated: false });
        self
    }

    /// Refuses a request whose signature does not cover its body: HTTP message signatures, where the
    /// sender chooses what is covered, and schemes that never sign it.
    pub fn require_body(&mut self) -> &mut Self {
        self.body_required = true;
        self
    }

    /// The scheme.
    pub const fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Verifies a request as it came in.
    pub fn verify(&self, request: &Request<'_>, time: Time) -> Result<Verified, Refusal> {
        if self.secrets.is_empty() {
            return Err(Refusal::BadSecret);
        }
        let verified = match &self.scheme.construction {
            Construction::Template(template) => self.template(template, request, time),
            Construction::AdyenItems => self.items(&embedded::adyen(request)?, time),
            Construction::Mailgun => self.items(&[embedded::mailgun(request)?], time),
            Construction::HttpMessage => message::verify(self, request, time),
        }?;
        if self.body_required && !verified.signs.body && !request.body.is_empty() {
            return Err(Refusal::NoMatch);
        }
        Ok(verified)
    }

    fn template(
        &self,
        template: &Template,
        request: &Request<'_>,
        time: Time,
    ) -> Result<Verified, Refusal> {
        let names = match &template.names[..] {
            [only] => Some(only),
            several => several.iter().find(|names| candidate::present(names, request)),
        };
        let names = names.ok_or(Refusal::MissingHeader)?;
        let verdict = self.named_template(template, names, request, time);
        // Looked for only now: the usual request has its header.
        if verdict.is_err() && !candidate::present(names, request) {
            return Err(Refusal::MissingHeader);
        }
        verdict
    }

    fn named_template(
        &self,
        template: &Template,
        names: &Names,
        request: &Request<'_>,
        time: Time,
    ) -> Result<Verified, Refusal> {
        candidate::unambiguous(template, names, request)?;
        fixed_headers(template, request)?;
        let written = written_time(template, names, request)?;
        let mut at = match (written, &template.clock) {
            (Some(written), Some((_, unit))) => Some(self.in_window(written, *unit, time)?),
            (_, _) => None,
        };
        let content = Content::new(template, names, request, written)?;
        let secret = self.match_any(template, names, request, &content, time)?;
        body_digest(template, request)?;
        if let (Some((Place::Body(pointer), unit)), Time::At(_)) = (&template.clock, time) {
            let written =
                Json::check(request.body)?.at(pointer)?.and_then(crate::json::Value::scalar);
            let written = written.ok_or(Refusal::BadBody)?;
            at = Some(self.in_window(written.as_bytes(), *unit, time)?);
        }
        Ok(Verified { secret, time: at, signs: self.signs })
    }

    /// Holds each candidate against each live secret, in each spelling of the content.
    fn match_any(
        &self,
        template: &Template,
        names: &Names,
        request: &Request<'_>,
        content: &Content<'_>,
        time: Time,
    ) -> Result<usize, Refusal> {
        let mut well_formed = false;
        for spelling in 0..content.spellings() {
            for (index, secret) in self.live(time) {
                let search = Search { template, names, request, secret };
                if search.matches(content, spelling, &mut well_formed) {
                    return Ok(index);
                }
            }
        }
        let single = matches!(template.grammar, Grammar::Single { .. } | Grammar::Method);
        let tried = self.live(time).next().is_some();
        Err(if single && tried && !well_formed && content::signature_header(names).is_some() {
            Refusal::Malformed
        } else {
            Refusal::NoMatch
        })
    }

    /// Each item has to match some live secret.
    fn items(&self, items: &[Item], time: Time) -> Result<Verified, Refusal> {
        let mut matched = None;
        let mut at = None;
        for item in items {
            if let Some(written) = &item.timestamp {
                at = Some(self.in_window(written, Unit::Seconds, time)?);
            }
            let tag = item.tag.as_deref().ok_or(Refusal::Malformed)?;
            let hit = self.live(time).find(|(_, secret)| secret.key.verifies(&item.content, tag));
            matched = Some(hit.ok_or(Refusal::NoMatch)?.0);
        }
        let secret = matched.ok_or(Refusal::BadBody)?;
        Ok(Verified { secret, time: at, signs: self.signs })
    }

    /// The secrets that count, with their places.
    pub(crate) fn live(&self, time: Time) -> impl Iterator<Item = (usize, &Secret)> {
        let now = time.now();
        self.secrets.iter().enumerate().filter(move |(_, secret)| secret.window.is_live(now))
    }

    /// Reads a time and holds it against the window, whose edges belong to it.
    pub(crate) fn in_window(
        &self,
        written: &[u8],
        unit: Unit,
        time: Time,
    ) -> Result<Instant, Refusal> {
        let now =
            time.now().map(|now| Instant::from_millis(i64::try_from(now.0).unwrap_or(i64::MAX)));
        let at = match now {
            Some(now) => Instant::parse_at(written, unit, now.seconds),
            None => Instant::parse(written, unit),
        };
        let at = at.ok_or(Refusal::BadTimestamp)?;
        let (Some(now), Some(tolerance)) = (now, self.tolerance) else { return Ok(at) };
        let age = match unit {
            // The signed second is compared with the second that the clock shows.
            Unit::Seconds | Unit::HttpDate => {
                (i128::from(now.seconds) - i128::from(at.seconds)) * 1_000
            }
            Unit::Milliseconds | Unit::Rfc3339 => milliseconds(now) - milliseconds(at),
        };
        let allowed = i128::from(tolerance.seconds) * 1_000;
        if age > allowed {
            Err(Refusal::TooOld)
        } else if -age > allowed && tolerance.side == Side::Both {
            Err(Refusal::TooNew)
        } else {
            Ok(at)
        }
    }

    pub(crate) fn verified(secret: usize, time: Option<Instant>, signs: Signs) -> Verified {
        Verified { secret, time, signs }
    }
}

/// One secret in search of its candidate.
struct Search<'s, 'r> {
    template: &'s Template,
    names: &'s Names,
    request: &'s Request<'r>,
    secret: &'s Secret,
}

impl Search<'_, '_> {
    fn matches(&self, content: &Content<'_>, spelling: usize, well_formed: &mut bool) -> bool {
        let parts = &self.template.signed;
        if matches!(self.secret.key, super::key::Key::Token(_)) {
            return self.any(well_formed, &mut |candidate, _| {
                self.secret.key.verifies(&[], candidate.text)
            });
        }
        if !self.secret.key.is_symmetric() {
            let message = content.text(parts, spelling);
            let mut left = SIGNATURES_MAX;
            return self.any(well_formed, &mut |_, signature| {
                left > 0 && {
                    left -= 1;
                    self.secret.key.verifies(&message, signature)
                }
            });
        }
        let tag = |key: &super::key::Key| key.tag(&|sink| content.feed(parts, spelling, sink));
        if self.template.grammar == Grammar::Method {
            return self.any(well_formed, &mut |candidate, code| {
                let key = self.secret.key.for_method(candidate.method);
                key.and_then(tag).is_some_and(|tag| tag.matches(code))
            });
        }
        let Some(tag) = tag(&self.secret.key) else { return false };
        if self.template.encoding == super::Encoding::Base64 && self.has_text(&tag) {
            return true;
        }
        self.any(well_formed, &mut |_, code| tag.matches(code))
    }

    /// Whether a candidate is the tag's one canonical text, which spares decoding candidates.
    fn has_text(&self, tag: &super::key::Tag) -> bool {
        let mut place = [0; DECODED_MAX];
        let text = codec::base64_text(tag.bytes(), &mut place);
        let mut hit = false;
        let _ = candidate::each(self.template, self.names, self.request, &mut |candidate| {
            hit = super::key::same(text, candidate.text);
            if hit { Flow::Break(()) } else { Flow::Continue(()) }
        });
        hit
    }

    /// Whether any well-formed candidate passes the test.
    fn any(
        &self,
        well_formed: &mut bool,
        test: &mut dyn FnMut(Candidate<'_>, &[u8]) -> bool,
    ) -> bool {
        let mut hit = false;
        let encoding = self.template.encoding;
        let _ = candidate::each(self.template, self.names, self.request, &mut |candidate| {
            let mut place = [0; DECODED_MAX];
            let key = self.secret.key.for_method(candidate.method);
            let bytes = key.and_then(super::key::Key::tag_bytes);
            let decoded = if encoding == super::Encoding::Plain {
                Some(candidate.text)
            } else {
                candidate::decode(encoding, candidate.text, bytes, &mut place)
            };
            let Some(decoded) = decoded else { return Flow::Continue(()) };
            *well_formed = true;
            hit = test(candidate, decoded);
            if hit { Flow::Break(()) } else { Flow::Continue(()) }
        });
        hit
    }
}

/// The signed time as it is written; `None` where it stands in the body or nowhere.
pub(crate) fn written_time<'r>(
    template: &Template,
    names: &Names,
    request: &Request<'r>,
) -> Result<Option<&'r [u8]>, Refusal> {
    match (&template.clock, &template.grammar) {
        (Some((Place::Header, _)), _) => {
            let name = names.timestamp.as_deref().ok_or(Refusal::MissingHeader)?;
            request.one(name).map(Some)
        }
        (Some((Place::Member, _)), Grammar::Pairs { separator, timestamp: Some(key), .. }) => {
            candidate::member(names, *separator, key, request).map(Some)
        }
        (_, _) => Ok(None),
    }
}

fn fixed_headers(template: &Template, request: &Request<'_>) -> Result<(), Refusal> {
    let odd = template
        .fixed
        .iter()
        .any(|(name, value)| request.lines(name).any(|line| line != value.as_bytes()));
    if odd { Err(Refusal::Malformed) } else { Ok(()) }
}

/// The digest of the body in the signed URL, where the scheme has one.
pub(crate) fn body_digest(template: &Template, request: &Request<'_>) -> Result<(), Refusal> {
    let Some(name) = &template.body_sha256_query else { return Ok(()) };
    let url = request.url.ok_or(Refusal::Malformed)?;
    let claimed = url_forms::query(url, name).ok_or(Refusal::Malformed)?;
    if super::key::digest_matches(claimed.as_bytes(), request.body) {
        Ok(())
    } else {
        Err(Refusal::NoMatch)
    }
}

const fn milliseconds(at: Instant) -> i128 {
    at.seconds as i128 * 1_000 + (at.nanos / 1_000_000) as i128
}
