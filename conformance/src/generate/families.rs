//! The families: for each of five schemes, one request changed in one thing.

use serde_json::Value;

use super::{
    Flag, Made,
    layouts::{BODY, Draft, Edit, LAYOUTS, Layout},
};

/// One file a scheme.
pub(super) fn files() -> Vec<Made> {
    LAYOUTS
        .iter()
        .map(|layout| Made {
            name: format!("signature.verify.{}.json", layout.slug),
            kind: "signature.verify",
            flags: FLAGS.to_vec(),
            cases: cases(layout),
        })
        .collect()
}

fn cases(layout: &Layout) -> Vec<Value> {
    let mut all = bodies(layout);
    all.extend(tampering(layout));
    all.extend(encodings(layout));
    all.extend(secrets(layout));
    all.extend(headers(layout));
    if layout.timed {
        all.extend(times(layout));
    }
    if layout.between.is_some() {
        all.extend(rotation(layout));
        all.extend(junk(layout));
        all.extend(repeated_lines(layout));
    }
    all.extend(versions(layout));
    all
}

/// What a body may be: any bytes.
fn bodies(layout: &Layout) -> Vec<Value> {
    let large: Vec<u8> = BODY.iter().copied().cycle().take(65_536).collect();
    let bodies: [(&str, &[u8], &str); 12] = [
        ("plain", BODY, "control"),
        ("empty", b"", "an empty body is signed like any other"),
        ("one-byte", b"0", "a body of one byte"),
        ("nul", b"{\"a\":\"b\"}\0", "a NUL byte is part of the body"),
        ("not-utf8", b"\xff\xfe\x00{\x80}", "a body that is no UTF-8 is bytes all the same"),
        ("bom", b"\xef\xbb\xbf{\"a\":1}", "a byte order mark is part of the body"),
        ("crlf", b"{\r\n \"a\": 1\r\n}\r\n", "line ends are part of the body"),
        ("blanks", b"  {\"a\":1}  \n", "blanks around the text are part of the body"),
        ("escapes", b"{\"s\":\"\\u00e9\\/\"}", "escapes stay escapes"),
        ("raw-unicode", "{\"s\":\"é😀\u{2028}\"}".as_bytes(), "raw characters stay raw"),
        ("not-json", b"payload=%7B%22a%22%3A1%7D", "a form is signed as it is sent"),
        ("64k", &large, "a body larger than one buffer"),
    ];
    bodies
        .into_iter()
        .map(|(name, body, why)| {
            let draft = Draft { body: body.to_vec(), ..Draft::new(layout) };
            draft.case(&format!("body-{name}"), "must", "ExactBytes", true, why)
        })
        .collect()
}

/// A body, and what it was when it was signed.
fn tampering(layout: &Layout) -> Vec<Value> {
    let spaced = br#"{"type": "invoice.paid", "id": "evt_1", "amount": "10.50"}"#;
    let sorted = br#"{"amount":"10.50","id":"evt_1","type":"invoice.paid"}"#;
    let number = br#"{"type":"invoice.paid","id":"evt_1","amount":"10.5"}"#;
    let with = |front: &[u8], back: &[u8]| [front, BODY, back].concat();
    let changed: [(&str, Vec<u8>, &str); 11] = [
        (
            "one-bit",
            BODY.iter().map(|b| if *b == b'5' { b'4' } else { *b }).collect(),
            "one digit of the amount was changed",
        ),
        ("spaced", spaced.to_vec(), "re-serialised with blanks"),
        ("sorted", sorted.to_vec(), "re-serialised with sorted keys"),
        ("number", number.to_vec(), "a trailing zero was dropped"),
        ("newline-added", with(b"", b"\n"), "a line end was added"),
        ("crlf-added", with(b"", b"\r\n"), "CR LF was added"),
        ("bom-added", with(b"\xef\xbb\xbf", b""), "a byte order mark was added"),
        ("nul-added", with(b"", b"\0"), "a NUL byte was added"),
        ("truncated", BODY[..BODY.len() - 1].to_vec(), "the last byte is missing"),
        ("emptied", Vec::new(), "the body was dropped on the way"),
        ("doubled", with(b"", BODY), "the body stands there twice"),
    ];
    changed
        .into_iter()
        .map(|(name, body, why)| {
            let draft = Draft { body, signed_body: Some(BODY.to_vec()), ..Draft::new(layout) };
            draft.case(&format!("tampered-{name}"), "must", "ChangedBody", false, why)
        })
        .collect()
}

/// One tag in other spellings.
fn encodings(layout: &Layout) -> Vec<Value> {
    let draft =
        |encoding: &'static str, members: String| Draft { encoding, members, ..Draft::new(layout) };
    let member = |tag: &str| layout.member.replace("{}", tag);
    let junk = [
        ("junk-behind", "{tag0}zz", "a valid tag with junk behind it"),
        ("equals-behind", "{tag0}=ignored", "a second equals sign behind a valid tag"),
        ("junk-before", "zz{tag0}", "junk before a valid tag"),
        ("blank-inside", "{tag0} {tag0}x", "a blank within the value"),
        ("quoted", "\"{tag0}\"", "a tag in quotes"),
        ("doubled", "{tag0}{tag0}", "the tag twice without a separator"),
        ("prefix-twice", "{member}", "the prefix stands there twice"),
        ("non-ascii", "{tag0}\u{e9}", "a byte above 0x7f behind a valid tag"),
        ("empty", "", "nothing where the tag should be"),
        ("null", "null", "the word null"),
        ("undefined", "undefined", "the word undefined"),
    ];
    let mut all: Vec<Value> = junk
        .into_iter()
        // In a list by blanks, a blank begins the next member.
        .filter(|(name, ..)| !(layout.between == Some(" ") && *name == "blank-inside"))
        .map(|(name, tag, why)| {
            let tag = tag.replace("{member}", &member("{tag0}"));
            draft(layout.encoding, member(&tag)).case(
                &format!("encoding-{name}"),
                "must",
                "LenientDecoder",
                false,
                why,
            )
        })
        .collect();
    let hex = layout.encoding == "hex";
    let other = if hex { "base64" } else { "hex" };
    all.push(draft(other, member("{tag0}")).case(
        "encoding-other",
        "must",
        "LenientDecoder",
        false,
        "the right tag in the other encoding",
    ));
    if hex {
        all.push(draft("HEX", member("{tag0}")).case(
            "encoding-upper-case",
            "policy",
            "Spelling",
            true,
            "hexadecimal digits in upper case: the same bytes",
        ));
    } else {
        for (encoding, why) in [
            ("base64-unpadded", "the padding is missing"),
            ("base64url", "the URL-safe alphabet, where the tag has such a letter"),
        ] {
            let accept = encoding == "base64url";
            let body = if accept { b"{\"n\":1}".to_vec() } else { BODY.to_vec() };
            let draft = Draft { body, ..draft(encoding, member("{tag0}")) };
            all.push(draft.case(&format!("encoding-{encoding}"), "should", "Spelling", false, why));
        }
    }
    all
}

/// Which secret signed, and which are known.
fn secrets(layout: &Layout) -> Vec<Value> {
    let (mine, other) = (layout.secret, layout.other_secret);
    let case = |name: &str, tags: Vec<&'static str>, secrets: Vec<&'static str>, accept, why| {
        let draft = Draft { secrets, tags, ..Draft::new(layout) };
        draft.case(&format!("secret-{name}"), "must", "WrongSecret", accept, why)
    };
    vec![
        case("other", vec![other], vec![mine], false, "another secret signed it"),
        case("first-of-two", vec![mine], vec![mine, other], true, "the first of two known secrets"),
        case(
            "second-of-two",
            vec![other],
            vec![mine, other],
            true,
            "the second of two known secrets",
        ),
        case("blank", vec![mine], vec!["   "], false, "a blank secret is no secret"),
        case("empty", vec![mine], vec![""], false, "an empty secret is no secret"),
        case(
            "blank-beside-good",
            vec![mine],
            vec!["", mine],
            true,
            "a bad secret blocks no good one",
        ),
        case("truncated", vec!["whsec_"], vec![mine], false, "signed with the prefix alone"),
        case(
            "empty-key",
            vec![""],
            vec![mine],
            false,
            "signed with the empty key, which anybody has",
        ),
    ]
}

/// Names and values of header lines.
fn headers(layout: &Layout) -> Vec<Value> {
    let upper: Edit = |all| all.iter_mut().for_each(|(name, _)| *name = name.to_ascii_uppercase());
    let lower: Edit = |all| all.iter_mut().for_each(|(name, _)| *name = name.to_ascii_lowercase());
    let blanks: Edit = |all| all.iter_mut().for_each(|(_, value)| *value = format!(" \t{value}  "));
    let twice: Edit = |all| all.extend(all.last().cloned());
    let without: Edit = |all| all.truncate(all.len() - 1);
    let empty: Edit = |all| all.iter_mut().for_each(|(_, value)| value.clear());
    let underscore: Edit =
        |all| all.iter_mut().for_each(|(name, _)| *name = name.replace('-', "_"));
    let more: Edit = |all| all.insert(0, ("X-Signature".into(), "junk".into()));
    let edits: [(&str, &str, Edit, bool, &str); 8] = [
        ("upper-case", "must", upper, true, "names are compared without case"),
        ("lower-case", "must", lower, true, "names are compared without case"),
        ("blanks", "should", blanks, true, "blanks around a value are no part of it"),
        ("twice", "should", twice, true, "the same line twice says the same"),
        ("no-signature", "must", without, false, "no signature header"),
        ("empty-values", "must", empty, false, "every value is empty"),
        ("underscores", "must", underscore, false, "another name is another header"),
        ("stranger", "must", more, true, "a header of another scheme plays no part"),
    ];
    edits
        .into_iter()
        .map(|(name, level, edit, accept, why)| {
            let draft = Draft { edit: Some(edit), ..Draft::new(layout) };
            draft.case(&format!("header-{name}"), level, "HeaderLookup", accept, why)
        })
        .collect()
}

/// The signed time against the clock, and as it is written.
fn times(layout: &Layout) -> Vec<Value> {
    let offsets = [
        ("old-edge", -300, true, "exactly at the old edge"),
        ("too-old", -301, false, "one second past the old edge"),
        ("new-edge", 300, true, "exactly at the new edge"),
        ("too-new", 301, false, "one second past the new edge: a one-sided check lets it in"),
        ("a-day-old", -86_400, false, "a replay of yesterday"),
        ("a-day-new", 86_400, false, "a stamp of tomorrow"),
    ];
    let mut all: Vec<Value> = offsets
        .into_iter()
        .map(|(name, offset_s, accept, why)| {
            let draft = Draft { offset_s, ..Draft::new(layout) };
            draft.case(&format!("time-{name}"), "must", "Freshness", accept, why)
        })
        .collect();
    let texts = [
        ("milliseconds", "must", "1700000000000", "milliseconds where seconds are written"),
        ("plus", "should", "+1700000000", "a plus sign"),
        ("minus", "must", "-1700000000", "a minus sign"),
        ("fraction", "should", "1700000000.0", "a fraction"),
        ("exponent", "must", "17e8", "an exponent"),
        ("hexadecimal", "must", "0x6553F100", "a hexadecimal number"),
        ("separator", "should", "1_700_000_000", "digit separators"),
        ("junk", "must", "1700000000abc", "a number with junk behind it"),
        ("word", "must", "NaN", "no number"),
        ("calendar", "must", "2023-11-14T22:13:20Z", "calendar text where seconds are written"),
        ("huge", "must", "99999999999999999999", "more than 64 bits"),
        ("max", "must", "9223372036854775807", "the largest signed 64-bit value"),
        ("zero", "must", "0", "1970"),
        ("inner-blank", "should", "1700 000000", "a blank within the digits"),
    ];
    all.extend(texts.into_iter().map(|(name, level, text, why)| {
        let draft = Draft { time_text: Some(text.into()), ..Draft::new(layout) };
        draft.case(&format!("time-written-{name}"), level, "StrictTime", false, why)
    }));
    let strict = Draft { tolerance_s: 0, ..Draft::new(layout) };
    all.push(strict.case("time-tolerance-zero", "policy", "Freshness", true, "the same second"));
    let late = Draft { tolerance_s: 0, offset_s: -1, ..Draft::new(layout) };
    all.push(late.case(
        "time-tolerance-zero-late",
        "policy",
        "Freshness",
        false,
        "zero is no switch",
    ));
    let unsigned: Edit = |all| {
        for (_, value) in all {
            *value = value.replace("{timestamp}", "1700000001");
        }
    };
    let draft = Draft { edit: Some(unsigned), ..Draft::new(layout) };
    all.push(draft.case(
        "time-not-signed",
        "must",
        "Freshness",
        false,
        "a fresh time over a tag that was made with another",
    ));
    if layout.time_header.is_some() {
        let second: Edit = |all| {
            let time = all.iter().find(|(_, value)| value == "{timestamp}").cloned();
            all.extend(time.map(|(name, _)| (name, "1700000001".into())));
        };
        let draft = Draft { edit: Some(second), ..Draft::new(layout) };
        all.push(draft.case(
            "time-two-headers",
            "should",
            "HeaderLookup",
            false,
            "two different times under one name are ambiguous",
        ));
        let none: Edit = |all| all.retain(|(_, value)| value != "{timestamp}");
        let draft = Draft { edit: Some(none), ..Draft::new(layout) };
        all.push(draft.case(
            "time-no-header",
            "must",
            "Freshness",
            false,
            "a missing time switches no check off",
        ));
    }
    all
}

/// Several tags, for lists.
fn rotation(layout: &Layout) -> Vec<Value> {
    let (mine, other) = (layout.secret, layout.other_secret);
    let case = |name: &str, tags: Vec<&'static str>, secrets: Vec<&'static str>, accept, why| {
        let draft = Draft { secrets, tags, ..Draft::new(layout) };
        draft.case(&format!("rotation-{name}"), "must", "OnlyOneMember", accept, why)
    };
    let mut many = vec![other; 15];
    many.push(mine);
    vec![
        case("new-first", vec![mine, other], vec![mine], true, "the matching tag stands first"),
        case("old-first", vec![other, mine], vec![mine], true, "the matching tag stands last"),
        case(
            "middle",
            vec![other, mine, other],
            vec![mine],
            true,
            "the matching tag in the middle",
        ),
        case("both-known", vec![other, mine], vec![mine, other], true, "both secrets are known"),
        case("none-known", vec![other, other], vec![mine], false, "no tag is of the known secret"),
        case("last-of-16", many, vec![mine], true, "the sixteenth tag matches"),
    ]
}

/// Members that are none, beside a good one.
fn junk(layout: &Layout) -> Vec<Value> {
    let between = layout.between.unwrap_or_default();
    let good = layout.member.replace("{}", "{tag0}");
    let bare = layout.member.replace("{}", "");
    let members = [
        ("empty", String::new()),
        ("no-separator", "junk".to_owned()),
        ("only-version", bare.clone()),
        ("bad-encoding", format!("{bare}!!!!")),
        ("short", format!("{bare}abcd")),
        ("unknown-key", "x9=1".to_owned()),
        ("non-ascii", format!("{bare}\u{e9}\u{ff}")),
        ("separators", "=,;=".to_owned()),
    ];
    let mut all = Vec::new();
    for (name, junk) in members {
        for (place, members) in [
            ("before", format!("{junk}{between}{good}")),
            ("behind", format!("{good}{between}{junk}")),
        ] {
            let draft = Draft { members, ..Draft::new(layout) };
            all.push(draft.case(
                &format!("junk-{name}-{place}"),
                "must",
                "JunkListMember",
                true,
                "one malformed member must not block a valid one",
            ));
        }
    }
    let hundred = vec![format!("{bare}junk"); 100].join(between);
    let draft = Draft { members: format!("{hundred}{between}{good}"), ..Draft::new(layout) };
    all.push(draft.case(
        "junk-hundred",
        "should",
        "JunkListMember",
        true,
        "a hundred junk members before the good one",
    ));
    let draft = Draft { members: hundred, ..Draft::new(layout) };
    all.push(draft.case("junk-alone", "must", "JunkListMember", false, "junk members alone"));
    let wide = Draft { members: format!("{good}{between} {between}{bare}x"), ..Draft::new(layout) };
    all.push(wide.case("junk-blanks", "should", "JunkListMember", true, "blanks between members"));
    all
}

/// A list as two field lines.
fn repeated_lines(layout: &Layout) -> Vec<Value> {
    let split: Edit = |all| {
        if let Some((name, value)) = all.last().cloned() {
            let other = value.replace("{tag0}", "{tag1}");
            all.push((name, other));
        }
    };
    let members = layout.member.replace("{}", "{tag0}");
    let (mine, other) = (layout.secret, layout.other_secret);
    [("first", vec![mine, other]), ("last", vec![other, mine])]
        .into_iter()
        .map(|(place, tags)| {
            let members = members.clone();
            let draft = Draft { tags, members, edit: Some(split), ..Draft::new(layout) };
            draft.case(
                &format!("lines-match-{place}"),
                "policy",
                "HeaderLookup",
                true,
                "two field lines of one list: every line is looked at",
            )
        })
        .collect()
}

/// Versions and methods other than the one that counts.
fn versions(layout: &Layout) -> Vec<Value> {
    let others: &[(&str, &str)] = match layout.slug {
        "swh" => &[
            ("v0", "v0,{}"),
            ("v2", "v2,{}"),
            ("v1a", "v1a,{}"),
            ("upper", "V1,{}"),
            ("v11", "v11,{}"),
        ],
        "stripe" | "paymos" => {
            &[("v0", "v0={}"), ("v2", "v2={}"), ("upper", "V1={}"), ("v11", "v11={}")]
        }
        "github" => {
            &[("sha1", "sha1={}"), ("sha512", "sha512={}"), ("upper", "SHA256={}"), ("none", "{}")]
        }
        _ => &[("v1", "v1={}"), ("upper", "V0={}"), ("none", "{}")],
    };
    let mut all = Vec::new();
    for (name, member) in others {
        let other = member.replace("{}", "{tag0}");
        let draft = Draft { members: other.clone(), ..Draft::new(layout) };
        all.push(draft.case(
            &format!("version-{name}-alone"),
            "must",
            "Downgrade",
            false,
            "the right tag under another version or method",
        ));
        if let Some(between) = layout.between {
            let good = layout.member.replace("{}", "{tag0}");
            let draft = Draft { members: format!("{other}{between}{good}"), ..Draft::new(layout) };
            all.push(draft.case(
                &format!("version-{name}-beside"),
                "must",
                "JunkListMember",
                true,
                "another version beside the one that counts is skipped",
            ));
        }
    }
    all
}

const FLAGS: [Flag; 11] = [
    ("ExactBytes", "AVAILABILITY", "the received bytes are signed, before any parser"),
    ("ChangedBody", "AUTH_BYPASS", "a body that differs in one byte must not verify"),
    ("LenientDecoder", "AUTH_BYPASS", "a decoder that skips what it does not know accepts junk"),
    ("Spelling", "INTEROP", "one tag has one spelling; say which others are taken"),
    ("WrongSecret", "AUTH_BYPASS", "only a live secret of this source counts"),
    (
        "HeaderLookup",
        "AVAILABILITY",
        "names have no case, values no blanks around them, lines no order",
    ),
    ("Freshness", "AUTH_BYPASS", "a replay outside of the window is refused, on both sides"),
    (
        "StrictTime",
        "AUTH_BYPASS",
        "a time is whole ASCII digits: lenient parsers differ on the rest",
    ),
    ("OnlyOneMember", "AVAILABILITY", "a reader of the first or last member alone breaks rotation"),
    ("JunkListMember", "AVAILABILITY", "one malformed list member must not block a valid one"),
    ("Downgrade", "AUTH_BYPASS", "a tag counts only under its own version and method"),
];
