//! A scheme that a user declares in TOML.

use std::{borrow::Cow, path::Path};

use hookproof_core::{
    instant::Unit,
    scheme::{
        Algorithm, BadScheme, Carrier, Construction, Encoding, Facts, Grammar, KeyForm, Names,
        Part, Place, Scheme, Side, Template, Tolerance, parse_template,
    },
};
use serde::Deserialize;
use toml::Spanned;

use crate::input::{self, Fault};

/// Shown by `hookproof schemes --help`; tests read it, and each line that it holds as a comment.
pub(crate) const EXAMPLE: &str = r#"name = "acme"
template = "{id}.{timestamp}.{body}"  # also {url} {path} {method} {header:Name} {compact_body} {form}
algorithm = "hmac-sha256"             # hmac-sha1, -sha384, -sha512, ed25519, ecdsa-p256-der, ...
encoding = "base64"                   # hex, hex-or-base64
key = "base64"                        # text, hex, ed25519-public, p256-public
key_prefix = "whsec_"                 # may stand before a base64 key
tolerance_s = 300
unit = "s"                            # ms, rfc3339, http-date
side = "both"                         # past-only lets the future in
# time_in_body = "/sent_at"           # where the signed JSON body says the time: no {timestamp} then

[headers]
signature = "Acme-Signature"
id = "Acme-Id"
timestamp = "Acme-Timestamp"          # leave it out where the list or the body holds the time

[list]                                # leave it out where the header holds one bare tag
form = "versions"                     # v1,TAG v1,TAG
version = "v1"
"#;
/// What may stand there in place of `[list]`.
pub(crate) const OTHER_LISTS: [&str; 2] = [
    r#"[list]
form = "pairs"                        # t=TIME,v1=TAG,v1=TAG
separator = ","
timestamp = "t"                       # leave it out where a header or the body holds the time
tags = ["v1"]                         # every key under which tags stand
"#,
    r#"[list]
form = "single"                       # sha256=TAG
prefix = "sha256="
"#,
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    name: Spanned<String>,
    #[serde(default)]
    provider: Option<String>,
    template: Spanned<String>,
    algorithm: Spanned<Name<Algorithm>>,
    encoding: Name<Encoding>,
    key: Spanned<KeyName>,
    #[serde(default)]
    key_prefix: Option<Spanned<String>>,
    #[serde(default)]
    tolerance_s: Option<Spanned<u32>>,
    #[serde(default)]
    side: Option<Spanned<SideName>>,
    #[serde(default)]
    unit: Option<Spanned<String>>,
    #[serde(default)]
    time_in_body: Option<Spanned<String>>,
    headers: Headers,
    #[serde(default)]
    list: Option<Spanned<List>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Headers {
    signature: Spanned<String>,
    #[serde(default)]
    id: Option<Spanned<String>>,
    #[serde(default)]
    timestamp: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(tag = "form", rename_all = "kebab-case", deny_unknown_fields)]
enum List {
    Single {
        #[serde(default)]
        prefix: String,
    },
    Versions {
        version: String,
    },
    Pairs {
        #[serde(default = "comma")]
        separator: char,
        #[serde(default)]
        timestamp: Option<String>,
        tags: Vec<String>,
    },
}

const fn comma() -> char {
    ','
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum KeyName {
    Text,
    Hex,
    Base64,
    Ed25519Public,
    P256Public,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SideName {
    Both,
    PastOnly,
}

/// A value of the core by the name that files call it.
struct Name<T>(T);

/// The names of a closed set of values.
trait Named: Sized + Copy + 'static {
    const NAMES: &'static [(&'static str, Self)];
}

impl Named for Algorithm {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("hmac-sha1", Self::HmacSha1),
        ("hmac-sha256", Self::HmacSha256),
        ("hmac-sha384", Self::HmacSha384),
        ("hmac-sha512", Self::HmacSha512),
        ("sha256-concat", Self::Sha256Concat),
        ("ed25519", Self::Ed25519),
        ("ecdsa-p256-der", Self::EcdsaP256Der),
        ("ecdsa-p256-raw", Self::EcdsaP256Raw),
        ("token", Self::Token),
    ];
}

impl Named for Encoding {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("hex", Self::Hex),
        ("base64", Self::Base64),
        ("hex-or-base64", Self::HexOrBase64),
        ("plain", Self::Plain),
    ];
}

impl<'de, T: Named> Deserialize<'de> for Name<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let found = T::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| Self(*value)).ok_or_else(|| {
            let names: Vec<&str> = T::NAMES.iter().map(|(name, _)| *name).collect();
            serde::de::Error::custom(format!("expected one of {}", names.join(", ")))
        })
    }
}

/// Reads and checks the scheme in this file.
pub(crate) fn read(path: &Path) -> Result<Scheme, Fault> {
    let text = input::text(path)?;
    parse(&text)
        .map_err(|(line, why)| Fault::unreadable(format!("{}:{line}: {why}", path.display())))
}

/// A line, and what is wrong in it.
type Wrong = (usize, String);

fn parse(text: &str) -> Result<Scheme, Wrong> {
    let line =
        |at: usize| text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
    let declared: Declared = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (line(at), format!("{} (an example: `hookproof schemes --help`)", error.message()))
    })?;
    declared.scheme().map_err(|(at, why)| (line(at), why))
}

impl Declared {
    /// The row that is meant, or the byte of the text that does not fit and why.
    fn scheme(self) -> Result<Scheme, Wrong> {
        let template_at = self.template.span().start;
        let signed = parse_template(self.template.get_ref())
            .map_err(|bad| (template_at, format!("{bad}: {TEMPLATE_NAMES}")))?;
        let clock = self.clock(&signed)?;
        // One that no place is named for is a mistake of its own.
        let timed = clock.is_some() || signed.contains(&Part::Timestamp);
        let unit = self.unit(timed)?;
        let clock = clock.map(|place| (place, unit));
        let tolerance = self.tolerance(timed)?;
        let key = self.key_form()?;
        let name_at = self.name.span().start;
        let (algorithm_at, key_at) = (self.algorithm.span().start, self.key.span().start);
        let header_at = self.headers.signature.span().start;
        let list_at = self.list.as_ref().map_or(template_at, |list| list.span().start);
        let pointer_at = self.time_in_body.as_ref().map_or(template_at, |at| at.span().start);
        let algorithm = self.algorithm.get_ref().0;
        let names = self.headers.names()?;
        let scheme = Scheme {
            name: Cow::Owned(self.name.into_inner()),
            provider: self.provider.map_or(Cow::Borrowed("your own"), Cow::Owned),
            construction: Construction::Template(Template {
                names: Cow::Owned(vec![names]),
                grammar: self.list.map_or(BARE, |list| list.into_inner().grammar()),
                encoding: self.encoding.0,
                signed: Cow::Owned(signed),
                clock,
                fixed: Cow::Borrowed(&[]),
                body_sha256_query: None,
            }),
            algorithm,
            key,
            tolerance,
            facts: Facts::declared(),
        };
        scheme.check().map_err(|bad| {
            let at = match bad {
                BadScheme::Template
                | BadScheme::MissingName
                | BadScheme::SignsNothing
                | BadScheme::Ambiguous => template_at,
                BadScheme::Name => name_at,
                BadScheme::Token => algorithm_at,
                BadScheme::KeyForm => key_at.max(algorithm_at),
                BadScheme::Header => header_at,
                BadScheme::List | BadScheme::RoundTrip => list_at,
                BadScheme::Pointer | BadScheme::UnsignedTime => pointer_at,
            };
            (at, format!("{bad}: {}", remedy(bad)))
        })?;
        Ok(scheme)
    }

    fn unit(&self, clock: bool) -> Result<Unit, Wrong> {
        let Some(unit) = &self.unit else { return Ok(Unit::Seconds) };
        let at = unit.span().start;
        let unit = Unit::named(unit.get_ref())
            .ok_or_else(|| (at, "expected a unit: s, ms, rfc3339 or http-date".to_owned()))?;
        if clock { Ok(unit) } else { Err((at, untimed("unit"))) }
    }

    /// Where the time stands: in one place. One that is not signed can be changed by anybody, so it is
    /// refused.
    fn clock(&self, signed: &[Part]) -> Result<Option<Place>, Wrong> {
        let is_member = |list: &&Spanned<List>| {
            matches!(list.get_ref(), List::Pairs { timestamp: Some(_), .. })
        };
        let header = self.headers.timestamp.as_ref().map(|name| (name.span().start, Place::Header));
        let member = self.list.as_ref().filter(is_member);
        let member = member.map(|list| (list.span().start, Place::Member));
        let body = self.time_in_body.as_ref().map(|pointer| {
            (pointer.span().start, Place::Body(Cow::Owned(pointer.get_ref().clone())))
        });
        let mut places = [header, member, body].into_iter().flatten();
        let Some((at, place)) = places.next() else { return Ok(None) };
        if let Some((at, _)) = places.next() {
            return Err((
                at,
                "expected one time: in a header, in the list, or (time_in_body) in the body; leave the \
                 others out"
                    .to_owned(),
            ));
        }
        let in_body = matches!(place, Place::Body(_));
        match (in_body, signed.contains(&Part::Timestamp)) {
            (true, false) | (false, true) => Ok(Some(place)),
            (true, true) => Err((
                at,
                "expected one time: {timestamp} in the template stands for a header or member, \
                 time_in_body for a place in the signed {body}; leave one of them out"
                    .to_owned(),
            )),
            (false, false) => Err((
                at,
                "expected {timestamp} in the template: a time that is not signed can be changed by \
                 anybody"
                    .to_owned(),
            )),
        }
    }

    fn key_form(&self) -> Result<KeyForm, Wrong> {
        let prefix = self.key_prefix.as_ref();
        let form = match self.key.get_ref() {
            KeyName::Base64 => {
                let prefix = prefix.map_or("", |prefix| prefix.get_ref()).to_owned();
                return Ok(KeyForm::Base64 { prefix: Cow::Owned(prefix) });
            }
            KeyName::Text => KeyForm::Text,
            KeyName::Hex => KeyForm::Hex,
            KeyName::Ed25519Public => KeyForm::Ed25519Public,
            KeyName::P256Public => KeyForm::P256Public,
        };
        match prefix {
            None => Ok(form),
            Some(prefix) => Err((
                prefix.span().start,
                "expected no key_prefix: it stands before a base64 key alone (of a text it is a part)"
                    .to_owned(),
            )),
        }
    }

    fn tolerance(&self, clock: bool) -> Result<Option<Tolerance>, Wrong> {
        let side = match self.side.as_ref().map(Spanned::get_ref) {
            None | Some(SideName::Both) => Side::Both,
            Some(SideName::PastOnly) => Side::PastOnly,
        };
        if let (Some(side), false) = (&self.side, clock) {
            return Err((side.span().start, untimed("side")));
        }
        match (&self.tolerance_s, clock) {
            (Some(seconds), true) => {
                Ok(Some(Tolerance { seconds: *seconds.get_ref(), side, stated: true }))
            }
            (Some(seconds), false) => Err((seconds.span().start, untimed("tolerance"))),
            (None, true) => Ok(Some(Tolerance { side, ..Tolerance::OURS })),
            (None, false) => Ok(None),
        }
    }
}

/// What is said of a time where there is none.
fn untimed(what: &str) -> String {
    format!("expected no {what}, since no time is signed: sign {{timestamp}}, or leave it out")
}

impl Headers {
    fn names(self) -> Result<Names, Wrong> {
        Ok(Names {
            signature: Carrier::One(Cow::Owned(header_name(self.signature)?)),
            id: self.id.map(header_name).transpose()?.map(Cow::Owned),
            timestamp: self.timestamp.map(header_name).transpose()?.map(Cow::Owned),
        })
    }
}

fn header_name(name: Spanned<String>) -> Result<String, Wrong> {
    let at = name.span().start;
    let name = name.into_inner();
    if crate::request::is_token(name.as_bytes()) {
        Ok(name)
    } else {
        Err((at, "expected the name of a header, like Acme-Signature".to_owned()))
    }
}

impl List {
    fn grammar(self) -> Grammar {
        match self {
            Self::Single { prefix } => Grammar::Single { prefix: Cow::Owned(prefix) },
            Self::Versions { version } => Grammar::Versions { version: Cow::Owned(version) },
            Self::Pairs { separator, timestamp, tags } => Grammar::Pairs {
                separator: u8::try_from(separator).unwrap_or(u8::MAX),
                spaced: false,
                timestamp: timestamp.map(Cow::Owned),
                tags: Cow::Owned(tags.into_iter().map(Cow::Owned).collect()),
                headers: None,
            },
        }
    }
}

const fn remedy(bad: BadScheme) -> &'static str {
    match bad {
        BadScheme::Template => TEMPLATE_NAMES,
        BadScheme::MissingName => {
            "name `id` or `timestamp` under [headers], or `timestamp` under [list]"
        }
        BadScheme::SignsNothing => "put {body} into the template",
        BadScheme::KeyForm => {
            "ed25519 takes ed25519-public, ecdsa-p256-… p256-public, the others text, hex or base64"
        }
        BadScheme::Header => "name each header once, and none like Content-Length or Connection",
        BadScheme::List => {
            "a separator is one of , ; : | & or a blank; keys and versions are visible ASCII without \
             it and without `=` (a version without `,`); tags has one key or more, none of them the \
             timestamp's; a prefix is one line of ASCII"
        }
        BadScheme::Pointer => "expected a JSON pointer like /sent_at, a ~ in a key written ~0",
        BadScheme::Name => "give it one of its own, in up to 64 visible letters",
        BadScheme::UnsignedTime => "put {body} into the template, or leave time_in_body out",
        BadScheme::Ambiguous => {
            "let a text stand behind each part that the part cannot hold, like \\n behind {id} or \
             {header:Name}, or a signed {timestamp} between two texts, as in {id}.{timestamp}.{body}"
        }
        BadScheme::Token => {
            "leave {timestamp}, tolerance_s and every place of a time out, or take an algorithm that signs"
        }
        BadScheme::RoundTrip => {
            "does the list's separator stand within the time, is the signature header signed itself, or \
             is a tag in another encoding than a token's plain one?"
        }
    }
}

const BARE: Grammar = Grammar::Single { prefix: Cow::Borrowed("") };
const TEMPLATE_NAMES: &str = "known are {id} {timestamp} {body} {url} {path} {method} {header:Name} \
                              {compact_body} {form}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_a_scheme_like_the_one_that_ships() {
        let scheme = parse(EXAMPLE).expect("the example");
        assert!(scheme.signs().id && scheme.signs().body && scheme.signs().time);
        assert_eq!(scheme.id_header(), Some("Acme-Id"));
        assert!(scheme.signs_with_all());
    }

    #[test]
    fn every_other_form_of_the_help_is_a_scheme_too() {
        let (front, _) = EXAMPLE.split_once("[list]").expect("a list");
        let [pairs, single] = OTHER_LISTS.map(|list| front.to_owned() + list);
        let untimed = |text: &str| {
            let lines = text.lines().filter(|line| !line.starts_with("timestamp = \"Acme"));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert!(parse(&untimed(&pairs)).expect("pairs with the time").signs().time);
        let beside = pairs.replace("timestamp = \"t\"", "");
        assert!(parse(&beside).expect("pairs beside a header for the time").signs_with_all());
        assert!(!parse(&single).expect("one tag behind a prefix").signs_with_all());
        let in_body = untimed(EXAMPLE).replace("# time_in_body", "time_in_body");
        let in_body = in_body.replace("{id}.{timestamp}.{body}", "{body}");
        assert!(parse(&in_body).expect("the time in the body").signs().time);
    }

    #[test]
    fn what_does_not_fit_is_said_with_its_line() {
        let line_of = |text: &str| parse(text).map(|_| ()).unwrap_err();
        for (from, to, line, why) in [
            ("{body}", "{bodies}", 2, "unknown or unclosed {name}"),
            ("{id}.{timestamp}.{body}", "x", 15, "expected {timestamp} in the template"),
            ("id = \"Acme-Id\"\n", "", 2, "no header is named for"),
            ("timestamp = \"Acme-Timestamp\" ", "", 2, "no header is named for"),
            ("\"hmac-sha256\" ", "\"hmac-md5\"", 3, "expected one of hmac-sha1"),
            ("unit = \"s\"", "unit = \"h\"", 8, "expected a unit"),
            ("\"hmac-sha256\" ", "\"ed25519\"", 5, "does not go with"),
            ("tolerance_s = 300", "tolerance_s = -1", 7, "invalid value"),
            ("tolerance_s", "tolerance", 7, "unknown field `tolerance`"),
            ("Acme-Signature", "Acme Signature", 13, "the name of a header"),
            ("unit = \"s\"", "time_in_body = \"/at\"", 8, "expected one time"),
            ("name = \"acme\"", "name = ", 1, ""),
            ("key = \"base64\" ", "key = \"text\"", 6, "expected no key_prefix"),
            ("\"Acme-Id\"", "\"acme-signature\"", 13, "stands for two things"),
            ("Acme-Signature", "Transfer-Encoding", 13, "frames the request"),
            ("{id}.", "{header:Acme-Signature}\\n", 17, "does not verify"),
            ("{id}.{timestamp}.{body}", "{id}{body}.{timestamp}", 2, "taken apart in two ways"),
            ("{id}.{timestamp}.{body}", "{id}{timestamp}.{body}", 2, "taken apart in two ways"),
            ("\"acme\"", "\"\"", 1, "the name is none"),
            ("\"acme\"", "\"Stripe\"", 1, "a scheme that ships"),
            ("\"acme\"", "\"a\\u001b[31m\"", 1, "the name is none"),
            ("\"hmac-sha256\" ", "\"token\"", 3, "a shared token signs nothing"),
            ("version = \"v1\"", "version = \"v,1\"", 17, "taken apart"),
            ("version = \"v1\"", "version = \"v 1\"", 17, "taken apart"),
            ("version = \"v1\"", "version = \"v1\\nX: y\"", 17, "taken apart"),
            ("version = \"v1\"", "version = \"\"", 17, "taken apart"),
        ] {
            assert!(EXAMPLE.contains(from), "{from}");
            let (found, said) = line_of(&EXAMPLE.replace(from, to));
            assert!(found == line && said.contains(why), "{to}: {found}: {said}");
        }
    }

    #[test]
    fn a_list_that_could_not_be_taken_apart_again_is_refused() {
        let (front, _) = EXAMPLE.split_once("[list]").expect("a list");
        let of = |list: &str| parse(&format!("{front}[list]\n{list}\n")).map(|_| ());
        for bad in [
            "form = \"pairs\"\ntags = []",
            "form = \"pairs\"\ntags = [\"\"]",
            "form = \"pairs\"\ntags = [\"v=1\"]",
            "form = \"pairs\"\ntags = [\"v 1\"]",
            "form = \"pairs\"\ntags = [\"v,1\"]",
            "form = \"pairs\"\ntags = [\"v1\", \"v1\"]",
            "form = \"pairs\"\nseparator = \"=\"\ntags = [\"v1\"]",
            "form = \"pairs\"\nseparator = \"1\"\ntags = [\"v\"]",
            "form = \"pairs\"\nseparator = \"a\"\ntags = [\"v1\"]",
            "form = \"pairs\"\nseparator = \"\\n\"\ntags = [\"v1\"]",
            "form = \"pairs\"\nseparator = \"é\"\ntags = [\"v1\"]",
            "form = \"pairs\"\nseparator = \"→\"\ntags = [\"v1\"]",
            "form = \"single\"\nprefix = \"a\\nb\"",
            "form = \"single\"\nprefix = \" a\"",
        ] {
            let (_, said) = of(bad).unwrap_err();
            assert!(said.contains("taken apart"), "{bad}: {said}");
        }
        for good in [
            "form = \"pairs\"\nseparator = \";\"\ntags = [\"v1\"]",
            "form = \"single\"\nprefix = \"Bearer \"",
        ] {
            assert_eq!(of(good), Ok(()), "{good}");
        }
        let dated = front.replace("unit = \"s\"", "unit = \"http-date\"");
        let dated = dated
            .lines()
            .filter(|line| !line.starts_with("timestamp = "))
            .collect::<Vec<_>>()
            .join("\n");
        let dated =
            format!("{dated}\n[list]\nform = \"pairs\"\ntimestamp = \"t\"\ntags = [\"v1\"]\n");
        let (_, said) = parse(&dated).map(|_| ()).unwrap_err();
        assert!(said.contains("does not verify"), "{said}");
    }

    #[test]
    fn a_time_stands_in_one_signed_place_or_nowhere() {
        let front =
            "name = \"acme\"\nalgorithm = \"hmac-sha256\"\nencoding = \"hex\"\nkey = \"text\"\n";
        let of = |template: &str, more: &str, tail: &str| {
            let headers = "[headers]\nsignature = \"S\"\n";
            let text = format!("{front}template = \"{template}\"\n{more}\n{headers}{tail}\n");
            parse(&text).map(|scheme| scheme.signs().time).map_err(|(_, said)| said)
        };
        let at = |pointer: &str| format!("time_in_body = \"{pointer}\"");
        let list = "[list]\nform = \"pairs\"\ntags = [\"v1\"]\ntimestamp = \"t\"";
        let header = "timestamp = \"T\"\n";
        let both = format!("{header}{list}");
        for (template, more, tail, why) in [
            ("{url}", &*at("/t"), "", "a time that is not signed"),
            ("{form}", &*at("/t"), "", "a time that is not signed"),
            ("{body}", &*at("t"), "", "no JSON pointer"),
            ("{body}", &*at("/t~2"), "", "no JSON pointer"),
            ("{body}", &*at("/t~"), "", "no JSON pointer"),
            ("{body}", &*at("/t"), header, "expected one time"),
            ("{timestamp}.{body}", "", &*both, "expected one time"),
            ("{body}", "", list, "expected {timestamp} in the template"),
            ("{body}", "unit = \"ms\"", "", "expected no unit"),
            ("{body}", "side = \"both\"", "", "expected no side"),
            ("{body}", "tolerance_s = 5", "", "expected no tolerance"),
            ("{timestamp}{body}", "side = \"past-only\"", header, "taken apart in two ways"),
        ] {
            let said = of(template, more, tail).unwrap_err();
            assert!(said.contains(why), "{template} {more} {tail}: {said}");
        }
        assert_eq!(of("{body}", &at("/a~0b~1c"), ""), Ok(true));
        assert_eq!(of("{compact_body}", &at("/t"), ""), Ok(true));
        assert_eq!(of("{timestamp}.{body}", "", list), Ok(true));
        assert_eq!(of("{body}", "", ""), Ok(false));
    }
}
