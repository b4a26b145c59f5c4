//! Whether the signed text of a declared scheme can be taken apart in one way only.
//!
//! Where it cannot, whoever has seen one tag moves bytes from one part to the next: another id and
//! another body, the same text, the same tag.

use super::{Part, Scheme, Side, Template};
use crate::instant::Unit;

/// Whether no two requests have one text. From the front each part is taken off whose end shows, from
/// the back each whose beginning does; one part may be left. So may two around a time, as in Standard
/// Webhooks: to move that, one of them would have to hold another time of this window.
pub(crate) fn in_one_way(scheme: &Scheme, template: &Template) -> bool {
    let ends_by_itself = scheme.tolerance.is_some_and(|tolerance| tolerance.side == Side::Both);
    Text { unit: template.clock.as_ref().map(|(_, unit)| *unit), ends_by_itself }
        .is_unique(&template.signed)
}

/// What is known of the time in a signed text.
struct Text {
    unit: Option<Unit>,
    /// Within a window, all times have as many digits.
    ends_by_itself: bool,
}

impl Text {
    fn is_unique(&self, parts: &[Part]) -> bool {
        let left = self.without_back(self.without_front(parts));
        if left.len() < 2 {
            return true;
        }
        let time = (1..left.len() - 1).find(|at| self.is_apart(left, *at));
        time.is_some_and(|at| self.is_unique(&left[..at]) && self.is_unique(&left[at + 1..]))
    }

    fn without_front<'p>(&self, mut parts: &'p [Part]) -> &'p [Part] {
        loop {
            parts = match parts {
                [Part::Text(_), rest @ ..] => rest,
                [part, Part::Text(text), rest @ ..]
                    if self.never_holds(part, text.as_bytes().first()) =>
                {
                    rest
                }
                [part, rest @ ..] if is_known(part) || self.is_date(part) => rest,
                [Part::Timestamp, rest @ ..] if self.ends_by_itself => rest,
                _ => return parts,
            }
        }
    }

    fn without_back<'p>(&self, mut parts: &'p [Part]) -> &'p [Part] {
        loop {
            parts = match parts {
                [rest @ .., Part::Text(_)] => rest,
                [rest @ .., Part::Text(text), part]
                    if self.never_holds(part, text.as_bytes().last()) =>
                {
                    rest
                }
                [rest @ .., part] if is_known(part) || self.is_date(part) => rest,
                _ => return parts,
            }
        }
    }

    /// Whether a time stands here between texts that are no part of it.
    fn is_apart(&self, parts: &[Part], at: usize) -> bool {
        let edges = [
            matches!(&parts[at - 1], Part::Text(text) if self.never_holds(&parts[at], text.as_bytes().last())),
            matches!(&parts[at + 1], Part::Text(text) if self.never_holds(&parts[at], text.as_bytes().first())),
        ];
        parts[at] == Part::Timestamp && (self.is_date(&parts[at]) || edges == [true, true])
    }

    /// A date shows where it begins and ends.
    fn is_date(&self, part: &Part) -> bool {
        *part == Part::Timestamp && matches!(self.unit, Some(Unit::Rfc3339 | Unit::HttpDate))
    }

    /// Whether a part can never hold this byte of a text beside it.
    fn never_holds(&self, part: &Part, byte: Option<&u8>) -> bool {
        let Some(byte) = byte else { return false };
        match part {
            Part::Timestamp => !self.is_date(part) && !byte.is_ascii_digit(),
            // No header brings a line end, nor another control character but a tab.
            Part::Id | Part::Header(_) => byte.is_ascii_control() && *byte != b'\t',
            Part::Url(_) | Part::Path | Part::EncodedPath | Part::Method => *byte <= b' ',
            Part::Text(_)
            | Part::Body
            | Part::CompactBody
            | Part::FormParams
            | Part::NamedHeaders
            | Part::ListedHeaders(_) => false,
        }
    }
}

/// The receiver knows its own URL and method, so nothing can be moved into them.
const fn is_known(part: &Part) -> bool {
    matches!(part, Part::Url(_) | Part::Path | Part::EncodedPath | Part::Method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::parse_template;

    fn is_unique(template: &str, unit: Unit, ends_by_itself: bool) -> bool {
        let parts = parse_template(template).expect("a template");
        Text { unit: Some(unit), ends_by_itself }.is_unique(&parts)
    }

    #[test]
    fn a_text_with_one_reading_is_told_from_one_with_two() {
        for one in [
            "{body}",
            "v0:{timestamp}:{body}",
            "{timestamp}{body}",
            "{id}.{timestamp}.{body}",
            "{id}.{timestamp}",
            "{body}.{timestamp}",
            "{url}{body}",
            "{method}{url}{body}.{timestamp}",
            "{id}\n{header:X-A}\n{body}",
            "{method}\n{path}\n{timestamp}\n{body}",
        ] {
            assert!(is_unique(one, Unit::Seconds, true), "{one}");
        }
        for several in [
            "{body}{id}",
            "{id}{body}.{timestamp}",
            "{id}.{body}",
            "{id}\t{body}",
            "{id}{timestamp}.{body}",
            "{id}1{timestamp}.{body}",
            "{body}{timestamp}",
            "{timestamp}.{header:X-A}{header:X-B}",
            "{body}\n{compact_body}",
            "{id}.{timestamp}.{header:X-A}.{body}",
        ] {
            assert!(!is_unique(several, Unit::Seconds, true), "{several}");
        }
        assert!(!is_unique("{timestamp}{body}", Unit::Seconds, false), "the future is let in");
        assert!(is_unique("{body}{timestamp}", Unit::Rfc3339, true), "a date has one beginning");
    }
}
