//! A request as a text that a person can read, write and mutate:
//!
//! ```text
//! stripe-v1
//! 1700000000000 the secret
//! POST https://hooks.example.com/in
//! Stripe-Signature: t=1700000000,v1=…
//!
//! {"the":"body"}
//! ```
//!
//! A first line that names no scheme is a template of a declared one (`{id}.{timestamp}.{body}`).

use std::borrow::Cow;

use hookproof_core::{
    Millis,
    instant::Unit,
    scheme::{
        self, Carrier, Construction, Encoding, Field, KeyForm, Place, Request, Scheme, Time,
        parse_template,
    },
};

/// What was given.
pub struct Given<'d> {
    /// The scheme.
    pub scheme: Scheme,
    /// When the request is verified; a dash where time is not tested.
    pub time: Time,
    /// The secret's text.
    pub secret: &'d str,
    /// The method, where there is one.
    pub method: Option<&'d str>,
    /// The URL, where there is one.
    pub url: Option<&'d str>,
    /// The field lines.
    pub headers: Vec<Field<'d>>,
    /// What stands behind the empty line.
    pub body: &'d [u8],
}

impl<'d> Given<'d> {
    /// Reads one; `None` where the head is too short to be one.
    pub fn read(data: &'d [u8]) -> Option<Self> {
        let mut rest = data;
        let scheme = scheme_of(str::from_utf8(line(&mut rest)?).ok()?)?;
        let (now, secret) = str::from_utf8(line(&mut rest)?).ok()?.split_once(' ')?;
        let time = match now {
            "-" => Time::NotTested,
            now => Time::At(Millis(now.parse().ok()?)),
        };
        let start = str::from_utf8(line(&mut rest)?).ok()?;
        let (method, url) = start.split_once(' ').unwrap_or((start, ""));
        let mut headers = Vec::new();
        while let Some(field) = line(&mut rest).filter(|field| !field.is_empty()) {
            let colon = field.iter().position(|byte| *byte == b':')?;
            headers.push((str::from_utf8(&field[..colon]).ok()?, &field[colon + 1..]));
        }
        let present = |text: &'d str| (!text.is_empty()).then_some(text);
        let (method, url) = (present(method), present(url));
        Some(Self { scheme, time, secret, method, url, headers, body: rest })
    }

    /// The request.
    pub fn request(&self) -> Request<'_> {
        Request {
            headers: &self.headers,
            body: self.body,
            method: self.method,
            url: self.url,
            status: None,
            form: None,
        }
    }
}

/// Up to the line's end, which is taken too.
fn line<'d>(rest: &mut &'d [u8]) -> Option<&'d [u8]> {
    if rest.is_empty() {
        return None;
    }
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (front, behind) = rest.split_at(end);
    *rest = behind.get(1..).unwrap_or_default();
    Some(front)
}

fn scheme_of(name: &str) -> Option<Scheme> {
    if let Some(known) = scheme::named(name) {
        return Some(known.clone());
    }
    let header = Cow::Borrowed("x-signature");
    let mut own = Scheme::body_only(Cow::Borrowed("own"), header, Encoding::Hex, KeyForm::Text);
    if let Construction::Template(template) = &mut own.construction {
        template.signed = Cow::Owned(parse_template(name).ok()?);
        template.clock = Some((Place::Header, Unit::Seconds));
        for names in template.names.to_mut() {
            names.id = Some(Cow::Borrowed("x-id"));
            names.timestamp = Some(Cow::Borrowed("x-time"));
        }
    }
    own.check().is_ok().then_some(own)
}

/// Another secret of the same form; `None` where there is none at hand.
pub fn other_secret(form: &KeyForm) -> Option<&'static str> {
    Some(match form {
        KeyForm::Text => "another secret",
        KeyForm::Base64 { .. } => "YW5vdGhlciBzZWNyZXQgb2Ygb3Vycw==",
        KeyForm::Hex => "616e6f7468657220736563726574206f66206f757273",
        KeyForm::Ed25519Public => "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
        KeyForm::P256Public => return None,
    })
}

/// The header that holds a list of tags, in which junk must not matter.
pub fn list_header(scheme: &Scheme) -> Option<&str> {
    let Construction::Template(template) = &scheme.construction else { return None };
    match (&template.names[..], scheme.signs_with_all()) {
        ([names], true) => match &names.signature {
            Carrier::One(name) => Some(name),
            Carrier::Each(_) | Carrier::Numbered(_) => None,
        },
        (_, _) => None,
    }
}

/// Members and lines that are no tags, or tags that match nothing.
pub const JUNK: [&[u8]; 9] = [
    b"",
    b",",
    b"junk",
    b"v1",
    b"v1=",
    b"v1,",
    b"v1,!!!! v1,AAAA v9,AAAA",
    b"v1=zz,v0=00,h1=00;h1=",
    b"\xff\xfe v1,\xff",
];
