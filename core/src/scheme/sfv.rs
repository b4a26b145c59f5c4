//! The part of structured fields (RFC 9651) that message signatures need: dictionaries of inner lists
//! and byte sequences. Strict: what does not parse is refused as a whole.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use crate::codec;

/// A member of `Signature-Input`: the covered components and the parameters, as serialised.
#[derive(Clone)]
pub(crate) struct InnerList {
    pub(crate) components: Vec<Component>,
    pub(crate) parameters: Vec<(String, Bare)>,
    /// The canonical text of list and parameters.
    pub(crate) text: String,
}

/// A covered component.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) parameters: Vec<(String, Bare)>,
    /// The canonical text of name and parameters.
    pub(crate) text: String,
}

/// A bare item.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Bare {
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
    /// A token, a boolean, a decimal, a date or a display string: nothing that we act on.
    Word(String),
}

impl Bare {
    /// Appends the canonical text (RFC 9651 section 4.1), which is what signers sign.
    fn write(&self, out: &mut String) {
        match self {
            Self::Integer(number) => out.push_str(&number.to_string()),
            Self::Text(text) => {
                out.push('"');
                for character in text.chars() {
                    if matches!(character, '"' | '\\') {
                        out.push('\\');
                    }
                    out.push(character);
                }
                out.push('"');
            }
            Self::Bytes(bytes) => {
                out.push(':');
                out.push_str(&codec::to_base64(bytes));
                out.push(':');
            }
            Self::Word(word) => out.push_str(word),
        }
    }
}

/// `label=("a" "b";p);created=1, …`; `None` under the label of another member.
pub(crate) fn inner_lists(text: &[u8]) -> Option<Vec<(String, Option<InnerList>)>> {
    let lists = members(text)?.into_iter().map(|(label, member)| match member {
        Member::List(list) => (label, Some(list)),
        Member::Item(_) => (label, None),
    });
    Some(lists.collect())
}

/// `label=:base64:, …`, parameters ignored; `None` under the label of another member.
pub(crate) fn byte_sequences(text: &[u8]) -> Option<Vec<(String, Option<Vec<u8>>)>> {
    let sequences = members(text)?.into_iter().map(|(label, member)| match member {
        Member::Item(Bare::Bytes(bytes)) => (label, Some(bytes)),
        Member::Item(_) | Member::List(_) => (label, None),
    });
    Some(sequences.collect())
}

/// What stands under a key of a dictionary.
enum Member {
    List(InnerList),
    Item(Bare),
}

fn members(text: &[u8]) -> Option<Vec<(String, Member)>> {
    let mut reader = Reader { text, at: 0 };
    let mut all = Vec::new();
    loop {
        let label = reader.key()?;
        all.push((label, reader.member()?));
        if !reader.next_member()? {
            return Some(all);
        }
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    fn skip(&mut self, blanks: &[u8]) {
        while self.peek().is_some_and(|byte| blanks.contains(&byte)) {
            self.at += 1;
        }
    }

    /// Whether another member follows; `None` where junk does.
    fn next_member(&mut self) -> Option<bool> {
        self.skip(b" \t");
        if self.at == self.text.len() {
            return Some(false);
        }
        self.expect(b',')?;
        self.skip(b" \t");
        Some(true)
    }

    fn run(&mut self, is_in: impl Fn(u8) -> bool) -> &str {
        let start = self.at;
        while self.peek().is_some_and(&is_in) {
            self.at += 1;
        }
        core::str::from_utf8(&self.text[start..self.at]).unwrap_or_default()
    }

    fn key(&mut self) -> Option<String> {
        self.peek().filter(|byte| byte.is_ascii_lowercase() || *byte == b'*')?;
        Some(String::from(self.run(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte)
        })))
    }

    /// Behind its key; a key alone is true.
    fn member(&mut self) -> Option<Member> {
        let item = match self.take(b'=') {
            true if self.peek() == Some(b'(') => return self.inner_list().map(Member::List),
            true => self.bare()?,
            false => Bare::Word(String::from("?1")),
        };
        self.parameters(&mut String::new())?;
        Some(Member::Item(item))
    }

    fn inner_list(&mut self) -> Option<InnerList> {
        let mut text = String::from("(");
        let mut components = Vec::new();
        self.expect(b'(')?;
        loop {
            self.skip(b" ");
            if self.take(b')') {
                break;
            }
            if !components.is_empty() {
                if self.text.get(self.at.checked_sub(1)?) != Some(&b' ') {
                    return None;
                }
                text.push(' ');
            }
            if components.len() == ITEMS_MAX {
                return None;
            }
            let component = self.component()?;
            text.push_str(&component.text);
            components.push(component);
        }
        text.push(')');
        let parameters = self.parameters(&mut text)?;
        Some(InnerList { components, parameters, text })
    }

    fn component(&mut self) -> Option<Component> {
        let mut text = String::new();
        let name = self.bare()?;
        name.write(&mut text);
        // What is no string names no component: its own list is of no use, the others are.
        let name = if let Bare::Text(name) = name { name } else { String::from("@") };
        let parameters = self.parameters(&mut text)?;
        Some(Component { name, parameters, text })
    }

    fn parameters(&mut self, canonical: &mut String) -> Option<Vec<(String, Bare)>> {
        let mut all: Vec<(String, Bare)> = Vec::new();
        while self.take(b';') {
            self.skip(b" ");
            let key = self.key()?;
            canonical.push(';');
            canonical.push_str(&key);
            let value = if self.take(b'=') { self.bare()? } else { Bare::Word(String::from("?1")) };
            if value != Bare::Word(String::from("?1")) {
                canonical.push('=');
                value.write(canonical);
            }
            if all.len() == ITEMS_MAX || all.iter().any(|(other, _)| *other == key) {
                return None;
            }
            all.push((key, value));
        }
        Some(all)
    }

    fn bare(&mut self) -> Option<Bare> {
        match self.peek()? {
            b'"' => self.string(),
            b':' => self.bytes(),
            b'-' | b'0'..=b'9' => self.number(),
            b'?' => {
                self.at += 1;
                let word = self.run(|byte| matches!(byte, b'0' | b'1'));
                (word.len() == 1).then(|| Bare::Word(alloc::format!("?{word}")))
            }
            b'@' => {
                self.at += 1;
                let Bare::Integer(seconds) = self.number()? else { return None };
                Some(Bare::Word(alloc::format!("@{seconds}")))
            }
            b'%' => self.display_string(),
            byte if byte.is_ascii_alphabetic() || byte == b'*' => {
                Some(Bare::Word(String::from(self.run(|byte| {
                    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte)
                }))))
            }
            _ => None,
        }
    }

    fn string(&mut self) -> Option<Bare> {
        self.expect(b'"')?;
        let mut text = String::new();
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return Some(Bare::Text(text)),
                b'\\' => {
                    let escaped = self.peek().filter(|byte| matches!(byte, b'"' | b'\\'))?;
                    self.at += 1;
                    text.push(char::from(escaped));
                }
                0x20..0x7f => text.push(char::from(byte)),
                _ => return None,
            }
        }
    }

    fn bytes(&mut self) -> Option<Bare> {
        self.expect(b':')?;
        let start = self.at;
        while self.peek()? != b':' {
            self.at += 1;
        }
        let bytes = codec::base64(&self.text[start..self.at]);
        self.at += 1;
        bytes.map(Bare::Bytes)
    }

    /// An integer of up to 15 digits, or a decimal of up to 12 and 3.
    fn number(&mut self) -> Option<Bare> {
        let sign = if self.take(b'-') { -1 } else { 1 };
        let digits = self.run(|byte| byte.is_ascii_digit());
        let length = digits.len();
        let value: i64 = digits.parse().ok().filter(|_| length <= 15)?;
        if !self.take(b'.') {
            return Some(Bare::Integer(sign * value));
        }
        let digits = self.run(|byte| byte.is_ascii_digit());
        if length > 12 || !(1..=3).contains(&digits.len()) {
            return None;
        }
        let fraction = digits.trim_end_matches('0');
        let zero = value == 0 && fraction.is_empty();
        let sign = if sign < 0 && !zero { "-" } else { "" };
        let fraction = if fraction.is_empty() { "0" } else { fraction };
        Some(Bare::Word(alloc::format!("{sign}{value}.{fraction}")))
    }

    /// `%"f%c3%bc"`: what needs no escape is written without.
    fn display_string(&mut self) -> Option<Bare> {
        self.expect(b'%')?;
        self.expect(b'"')?;
        let mut decoded = Vec::new();
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => break,
                b'%' => {
                    let digits = self.text.get(self.at..self.at + 2)?;
                    let mut escaped = [0];
                    let lower = digits.iter().all(|digit| !digit.is_ascii_uppercase());
                    (lower && codec::hex_into(digits, &mut escaped)).then_some(())?;
                    decoded.push(escaped[0]);
                    self.at += 2;
                }
                0x20..0x7f => decoded.push(byte),
                _ => return None,
            }
        }
        core::str::from_utf8(&decoded).ok()?;
        let mut word = String::from("%\"");
        for byte in decoded {
            match byte {
                b'%' | b'"' | 0..0x20 | 0x7f.. => {
                    word.push('%');
                    word.push_str(&codec::to_hex(&[byte]));
                }
                _ => word.push(char::from(byte)),
            }
        }
        word.push('"');
        Some(Bare::Word(word))
    }
}

/// The most components of a list, and the most parameters of an item: each is compared with each.
const ITEMS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lists(all: Option<Vec<(String, Option<InnerList>)>>) -> Vec<InnerList> {
        all.expect("a dictionary").into_iter().filter_map(|(_, list)| list).collect()
    }

    #[test]
    fn an_inner_list_is_read_and_written_canonically() {
        let all = inner_lists(b"s1=(  \"a\"  \"b\";name=\"x\" ); created=1;alg=\"x\" , s2=()");
        let all = lists(all);
        assert_eq!(all[0].text, "(\"a\" \"b\";name=\"x\");created=1;alg=\"x\"");
        assert_eq!(all[1].text, "()");
        let all = inner_lists(br#"a=();x=-01;y=?1;z=-0.500;d=@007;s=%"%61%c3%bc%25""#);
        let all = lists(all);
        assert_eq!(all[0].text, r#"();x=-1;y;z=-0.5;d=@7;s=%"a%c3%bc%25""#);
    }

    #[test]
    fn junk_is_refused_as_a_whole() {
        for bad in [
            "",
            "a=",
            "a=(",
            "a=(\"b\"\"c\")",
            "a=(b",
            "A=()",
            "a=();x=",
            "a=(),",
            "a=() b",
            "a=();x=1.",
            "a=();x=1.0000",
            "a=();x=1234567890123.0",
            "a=();x=@1.5",
            "a=();x=%\"%FF\"",
            "a=();x=%\"%ff\"",
            "a=();x=1234567890123456",
        ] {
            assert!(inner_lists(bad.as_bytes()).is_none(), "{bad}");
        }
        let others = inner_lists(b"a, b=1;c, d=:AA==:").expect("a dictionary");
        assert!(others.iter().all(|(_, list)| list.is_none()));
        for bad in ["a=:AA=:", "a=:AA==", "a=:AA==:,", "a=:AB==:"] {
            assert!(byte_sequences(bad.as_bytes()).is_none(), "{bad}");
        }
        assert!(byte_sequences(b"a=:\xff:").is_none(), "what is no text is not empty either");
    }

    #[test]
    fn a_list_has_an_end() {
        let list = |count| alloc::format!("a=({})", alloc::vec!["\"x\""; count].join(" "));
        assert!(inner_lists(list(ITEMS_MAX).as_bytes()).is_some());
        assert!(inner_lists(list(ITEMS_MAX + 1).as_bytes()).is_none());
        let parameters: Vec<String> = (0..=ITEMS_MAX).map(|at| alloc::format!("p{at}")).collect();
        let parameters = parameters.join(";");
        assert!(inner_lists(alloc::format!("a=();{parameters}").as_bytes()).is_none());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in r#"[a-c=();":,?01 -]{0,30}"#) {
            let _ = inner_lists(text.as_bytes());
            let _ = byte_sequences(text.as_bytes());
        }
    }
}
