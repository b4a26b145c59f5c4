//! Dates by the letters of `strftime`, so that any language has a function for them.

/// The second, by its format: `%Y %y %m %d %b %A %a %H %M %S`, English names, anything else as it is.
pub(super) fn written(format: &str, seconds: i64) -> String {
    let (year, month, date) = civil(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    // The first day of the epoch was a Thursday.
    let weekday = WEEKDAYS[(seconds.div_euclid(86_400) + 3).rem_euclid(7) as usize];
    let two = |number: i64| format!("{number:02}");
    let mut text = String::new();
    let mut rest = format;
    while let Some((front, behind)) = rest.split_once('%') {
        text.push_str(front);
        let letter = behind.chars().next().unwrap_or('%');
        rest = behind.get(letter.len_utf8()..).unwrap_or_default();
        let part = match letter {
            'Y' => format!("{year:04}"),
            'y' => two(year.rem_euclid(100)),
            'm' => two(month),
            'd' => two(date),
            'b' => MONTHS[month as usize - 1].into(),
            'A' => weekday.into(),
            'a' => weekday[..3].into(),
            'H' => two(of_day / 3_600),
            'M' => two(of_day / 60 % 60),
            'S' => two(of_day % 60),
            other => other.into(),
        };
        text.push_str(&part);
    }
    text + rest
}

/// Year, month and date, counted up year by year: slow, and easy to check.
fn civil(mut day: i64) -> (i64, i64, i64) {
    let mut year = 1_970;
    while day < 0 {
        year -= 1;
        day += length(year);
    }
    while day >= length(year) {
        day -= length(year);
        year += 1;
    }
    let february = 28 + i64::from(length(year) == 366);
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    (year, month, day + 1)
}

fn length(year: i64) -> i64 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    365 + i64::from(leap)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_written_by_its_format() {
        let at = |format| written(format, 1_700_000_000);
        assert_eq!(at("%Y-%m-%dT%H:%M:%SZ"), "2023-11-14T22:13:20Z");
        assert_eq!(at("%a, %d %b %Y %H:%M:%S GMT"), "Tue, 14 Nov 2023 22:13:20 GMT");
        assert_eq!(at("%A, %d-%b-%y"), "Tuesday, 14-Nov-23");
        assert_eq!(written("%d %b %Y", 1_582_934_400), "29 Feb 2020");
        assert_eq!(written("%d %b %Y %a", -1), "31 Dec 1969 Wed");
    }
}
