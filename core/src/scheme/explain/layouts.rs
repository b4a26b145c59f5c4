//! How writers of JSON lay it out.

use alloc::vec::Vec;

/// A way of laying out JSON.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    colon: &'static str,
    object: Inside,
    list: Inside,
    /// What begins a line, and one step of its indent, where members have lines of their own.
    lines: Option<(&'static str, &'static str)>,
    /// Whether elements stand in one line even so.
    flat_lists: bool,
}

/// What stands within brackets.
#[derive(Clone, Copy)]
struct Inside {
    comma: &'static str,
    pad: &'static str,
}

impl Layout {
    pub(super) const COMPACT: Self = Self::line(":", Inside::BARE, Inside::BARE);
    pub(super) const SPACED: Self = Self::line(": ", Inside::SPACED, Inside::SPACED);
    pub(super) const INDENT_2: Self = Self::lines("\n", "  ");
    /// What nearly every writer does.
    pub(super) const COMMON: [Self; 5] = [
        Self::COMPACT,
        Self::SPACED,
        Self::INDENT_2,
        Self::lines("\n", "    "),
        Self::lines("\n", "\t"),
    ];

    /// The common layouts, then those that mix blanks, have other line ends, or keep lists in a line.
    pub(super) fn all() -> Vec<Self> {
        let mut all = Self::COMMON.to_vec();
        for (end, step) in INDENTS {
            all.push(Self::lines(end, step));
            for colon in [": ", " : ", ":"] {
                for list in [Inside::SPACED, Inside { pad: " ", ..Inside::SPACED }, Inside::BARE] {
                    let lines = Self::lines(end, step);
                    all.push(Self { colon, ..lines });
                    all.push(Self { colon, list, flat_lists: true, ..lines });
                }
            }
        }
        for colon in [":", ": ", " : "] {
            for comma in [",", ", ", ",  ", " , "] {
                for list_comma in [",", ", "] {
                    for (pad, list_pad) in [("", ""), (" ", ""), (" ", " "), ("", " ")] {
                        let list = Inside { comma: list_comma, pad: list_pad };
                        all.push(Self::line(colon, Inside { comma, pad }, list));
                    }
                }
            }
        }
        all
    }

    const fn line(colon: &'static str, object: Inside, list: Inside) -> Self {
        Self { colon, object, list, lines: None, flat_lists: false }
    }

    const fn lines(end: &'static str, step: &'static str) -> Self {
        let lines = Some((end, step));
        Self { lines, ..Self::line(": ", Inside::BARE, Inside::BARE) }
    }

    /// A compact text laid out like this.
    pub(super) fn of(&self, compact: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(compact.len() * 2);
        let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
        for (at, &byte) in compact.iter().enumerate() {
            if in_string {
                in_string = escaped || byte != b'"';
                escaped = !escaped && byte == b'\\';
                out.push(byte);
                continue;
            }
            match byte {
                b'{' | b'[' => {
                    out.push(byte);
                    if matches!(compact.get(at + 1), Some(b'}' | b']')) {
                        out.extend_from_slice(self.within_nothing().as_bytes());
                    } else {
                        open.push(byte);
                        self.part(&open, byte, &mut out);
                    }
                }
                b'}' | b']' => {
                    if !matches!(compact.get(at.wrapping_sub(1)), Some(b'{' | b'[')) {
                        let opened = open.pop().unwrap_or_default();
                        self.part(&open, opened, &mut out);
                    }
                    out.push(byte);
                }
                b',' => {
                    let opened = open.last().copied().unwrap_or_default();
                    out.extend_from_slice(self.inside(opened).comma.as_bytes());
                    if self.breaks(opened) {
                        self.part(&open, opened, &mut out);
                    }
                }
                b':' => out.extend_from_slice(self.colon.as_bytes()),
                _ => {
                    in_string = byte == b'"';
                    out.push(byte);
                }
            }
        }
        out
    }

    /// What stands behind an opening bracket and before its closing one: a new line, or a pad.
    fn part(&self, open: &[u8], bracket: u8, out: &mut Vec<u8>) {
        match self.lines.filter(|_| self.breaks(bracket)) {
            Some((end, step)) => {
                out.extend_from_slice(end.as_bytes());
                let depth = open.iter().filter(|bracket| self.breaks(**bracket)).count();
                (0..depth).for_each(|_| out.extend_from_slice(step.as_bytes()));
            }
            None => out.extend_from_slice(self.inside(bracket).pad.as_bytes()),
        }
    }

    fn breaks(&self, bracket: u8) -> bool {
        self.lines.is_some() && !(bracket == b'[' && self.flat_lists)
    }

    const fn inside(&self, bracket: u8) -> Inside {
        if bracket == b'[' { self.list } else { self.object }
    }

    /// Jackson pads what is empty.
    const fn within_nothing(&self) -> &'static str {
        if self.flat_lists { self.list.pad } else { "" }
    }
}

impl Inside {
    const BARE: Self = Self { comma: ",", pad: "" };
    const SPACED: Self = Self { comma: ", ", pad: "" };
}

const INDENTS: [(&str, &str); 7] = [
    ("\r\n", "  "),
    ("\r\n", "    "),
    ("\r\n", "\t"),
    ("\n", "  "),
    ("\n", "    "),
    ("\n", " "),
    ("\n", "   "),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compact_text_is_laid_out_like_others_do() {
        let text = br#"{"a":[1,{"b":"x,y:{"}],"c":{},"d":[]}"#;
        assert_eq!(Layout::SPACED.of(text), br#"{"a": [1, {"b": "x,y:{"}], "c": {}, "d": []}"#);
        assert_eq!(Layout::INDENT_2.of(b"{\"a\":[1]}"), b"{\n  \"a\": [\n    1\n  ]\n}");
        assert_eq!(Layout::COMPACT.of(text), text);
    }

    #[test]
    fn blanks_in_any_mixture_and_the_lines_of_others_are_among_all() {
        let compact = br#"{"b":1,"a":[1,2],"c":{}}"#;
        let all: Vec<Vec<u8>> = Layout::all().iter().map(|layout| layout.of(compact)).collect();
        for text in [
            "{ \"b\": 1,  \"a\": [1, 2],  \"c\": {} }",
            "{\"b\":1, \"a\":[1,2], \"c\":{}}",
            "{\"b\" : 1, \"a\" : [1, 2], \"c\" : {}}",
            "{\r\n  \"b\": 1,\r\n  \"a\": [\r\n    1,\r\n    2\r\n  ],\r\n  \"c\": {}\r\n}",
            "{\n  \"b\" : 1,\n  \"a\" : [ 1, 2 ],\n  \"c\" : { }\n}",
        ] {
            assert!(all.iter().any(|layout| layout == text.as_bytes()), "{text}");
        }
    }
}
