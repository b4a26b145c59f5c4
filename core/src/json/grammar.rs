//! The grammar of RFC 8259: where values end.

use alloc::vec::Vec;

pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

pub(super) fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|byte| is_blank(*byte)) {
        at += 1;
    }
    at
}

/// The end of the value that starts here; `None` where the grammar is broken.
pub(super) fn skip_value(text: &[u8], mut at: usize) -> Option<usize> {
    let mut open = Nesting::default();
    loop {
        at = match text.get(at)? {
            bracket @ (b'{' | b'[') => {
                let object = *bracket == b'{';
                let first = skip_blanks(text, at + 1);
                if text.get(first) == Some(if object { &b'}' } else { &b']' }) {
                    first + 1
                } else {
                    open.push(object)?;
                    at = if object { skip_key(text, first)? } else { first };
                    continue;
                }
            }
            b'"' => skip_string(text, at)?,
            _ => skip_plain(text, at)?,
        };
        match close(text, at, &mut open)? {
            Step::Done(end) => return Some(end),
            Step::Value(next) => at = next,
        }
    }
}

enum Step {
    Done(usize),
    Value(usize),
}

/// After a value: closes what ends here too, and goes to the next value if there is one.
fn close(text: &[u8], mut at: usize, open: &mut Nesting) -> Option<Step> {
    loop {
        let Some(object) = open.top() else { return Some(Step::Done(at)) };
        at = skip_blanks(text, at);
        match (text.get(at)?, object) {
            (b'}', true) | (b']', false) => open.pop(),
            (b',', true) => {
                return Some(Step::Value(skip_key(text, skip_blanks(text, at + 1))?));
            }
            (b',', false) => return Some(Step::Value(skip_blanks(text, at + 1))),
            _ => return None,
        }
        at += 1;
    }
}

/// From a key to its value.
fn skip_key(text: &[u8], at: usize) -> Option<usize> {
    let colon = skip_blanks(text, skip_string(text, at)?);
    (text.get(colon) == Some(&b':')).then(|| skip_blanks(text, colon + 1))
}

/// Behind the string that starts here.
pub(super) fn skip_string(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    (text.get(at - 1) == Some(&b'"')).then_some(())?;
    loop {
        at += match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match text.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                b'u' => {
                    super::hex4(text.get(at + 2..at + 6)?)?;
                    6
                }
                _ => return None,
            },
            0..0x20 => return None,
            _ => 1,
        }
    }
}

/// Behind the number, `true`, `false` or `null` that starts here.
fn skip_plain(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..];
    for word in [&b"true"[..], b"false", b"null"] {
        if rest.starts_with(word) {
            return Some(at + word.len());
        }
    }
    let digits = |from: usize| rest[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(rest.first() == Some(&b'-'));
    let whole = digits(sign);
    if whole == 0 || (whole > 1 && rest[sign] == b'0') {
        return None;
    }
    let mut end = sign + whole;
    if rest.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        (fraction > 0).then_some(())?;
        end += 1 + fraction;
    }
    if matches!(rest.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + signed);
        (exponent > 0).then_some(())?;
        end += 1 + signed + exponent;
    }
    Some(at + end)
}

/// Which brackets are open: one bit each.
#[derive(Default)]
struct Nesting {
    bits: Vec<u64>,
    depth: usize,
}

impl Nesting {
    fn push(&mut self, object: bool) -> Option<()> {
        if self.depth == DEPTH_MAX {
            return None;
        }
        if self.depth.is_multiple_of(64) {
            self.bits.push(0);
        }
        let word = self.bits.last_mut()?;
        *word = *word << 1 | u64::from(object);
        self.depth += 1;
        Some(())
    }

    fn top(&self) -> Option<bool> {
        Some(self.bits.last()? & 1 == 1)
    }

    fn pop(&mut self) {
        self.depth -= 1;
        if self.depth.is_multiple_of(64) {
            self.bits.pop();
        } else if let Some(word) = self.bits.last_mut() {
            *word >>= 1;
        }
    }
}

/// How deep values may be nested.
pub const DEPTH_MAX: usize = 4_096;
