//! Numbers, lengths of time and colours, as people read them.

use std::{iter, time::Duration};

use anstyle::{AnsiColor, Style};

/// What held.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What did not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What nothing can be said of.
pub(crate) const OPEN: Style = AnsiColor::Yellow.on_default();
/// What can be passed over.
pub(crate) const DIM: Style = Style::new().dimmed();
/// What heads something.
pub(crate) const HEAD: Style = Style::new().bold();
/// Nothing special.
pub(crate) const PLAIN: Style = Style::new();

/// A number with its thousands apart.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut said = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            said.push(',');
        }
        said.push(digit);
    }
    said
}

/// A count with its noun.
pub(crate) fn count(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// A long simulated time, in the largest unit of which there are a few.
pub(crate) fn simulated(ms: u64) -> String {
    const UNITS: [(u64, &str); 5] = [
        (365 * 86_400_000, "years"),
        (86_400_000, "days"),
        (3_600_000, "hours"),
        (60_000, "minutes"),
        (1_000, "seconds"),
    ];
    let unit = UNITS.iter().find(|(unit, _)| ms / unit >= 3);
    unit.map_or_else(
        || format!("{} ms", number(ms)),
        |(unit, name)| format!("{} {name}", number(ms / unit)),
    )
}

/// A measured time, to a tenth of a second.
pub(crate) fn seconds(time: Duration) -> String {
    let tenths = time.as_millis() / 100;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

/// How many in a second; 0 where no time passed.
pub(crate) fn per_second(count: u64, time: Duration) -> u64 {
    let rate = (u128::from(count) * 1_000_000).checked_div(time.as_micros()).unwrap_or(0);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// A text that begins in this column, wrapped between words; what is wrapped begins there as well.
pub(crate) fn hanging(text: &str, column: usize) -> String {
    wrapped(text, column, column)
}

/// A text that begins in one column, wrapped between words; what is wrapped begins in another.
pub(crate) fn wrapped(text: &str, first: usize, others: usize) -> String {
    let mut said = String::new();
    let mut column = first;
    for word in text.split(' ') {
        let width = word.chars().count();
        if said.is_empty() {
            column += width;
        } else if column + 1 + width > WIDTH {
            said.push('\n');
            said.extend(iter::repeat_n(' ', others));
            column = others + width;
        } else {
            said.push(' ');
            column += 1 + width;
        }
        said.push_str(word);
    }
    said
}

/// The columns that a sentence has.
const WIDTH: usize = 100;

/// A text in which nothing hides: what cannot be seen, or turns around what is beside it, is spelled out.
pub(crate) fn visible(text: &str) -> String {
    let mut said = String::new();
    for c in text.chars() {
        match c {
            c if is_hidden(c) => said.extend(c.escape_default()),
            c => said.push(c),
        }
    }
    said
}

/// JSON in which nothing hides: hidden characters stand in texts alone, where escapes are the same.
pub(crate) fn visible_json(json: &serde_json::Value) -> String {
    let mut said = String::new();
    for c in json.to_string().chars() {
        if is_hidden(c) {
            said.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            said.push(c);
        }
    }
    said
}

/// Control characters, and those of Unicode that format: joiners, marks of direction, tags.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// A text cut at the end of a word to at most this many characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most - 2).collect();
    let words = head.rsplit_once(' ').map_or(head.as_str(), |(words, _)| words);
    format!("{} …", words.trim_end_matches([',', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count(1, "rogue", "rogues"), "1 rogue");
    }

    #[test]
    fn long_times_are_said_in_a_unit_that_fits() {
        assert_eq!(simulated(2_999), "2,999 ms");
        assert_eq!(simulated(3 * 3_600_000), "3 hours");
        assert_eq!(simulated(365 * 86_400_000 * 5), "5 years");
    }

    #[test]
    fn nothing_in_no_time_is_no_speed() {
        assert_eq!(per_second(5, Duration::ZERO), 0);
        assert_eq!(per_second(5, Duration::from_millis(2_500)), 2);
    }

    #[test]
    fn what_is_wrapped_stands_under_its_beginning() {
        assert_eq!(hanging("as it is", 90), "as it is");
        assert_eq!(hanging("to the end, and on", 89), format!("to the end,\n{:89}and on", ""));
        assert_eq!(wrapped("to the end, and on", 89, 2), "to the end,\n  and on");
    }

    #[test]
    fn nothing_hides_in_what_is_said() {
        assert_eq!(visible("a\u{202e}b\u{200b}é\n"), "a\\u{202e}b\\u{200b}é\\n");
        let json = serde_json::json!({ "a": "\u{202e}\u{e0041}é" });
        assert_eq!(visible_json(&json), "{\"a\":\"\\u202e\\udb40\\udc41é\"}");
    }

    #[test]
    fn a_sentence_is_cut_between_words() {
        assert_eq!(short("the body is the same", 40), "the body is the same");
        assert_eq!(short("the body is, byte for byte, the same", 15), "the body is …");
    }
}
