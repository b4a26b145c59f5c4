//! Instants as peers write them: digits, RFC 3339, HTTP dates. Strict, bounded, never a panic.

use alloc::{
    format,
    string::{String, ToString},
};

/// An instant as a peer wrote it, to the nanosecond. May lie far outside any clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    /// Seconds since the Unix epoch.
    pub seconds: i64,
    /// Nanoseconds within the second.
    pub nanos: u32,
}

/// How a provider writes the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Whole seconds since the Unix epoch, as ASCII digits.
    Seconds,
    /// Whole milliseconds since the Unix epoch, as ASCII digits.
    Milliseconds,
    /// `2023-11-14T22:13:20Z`, with a fraction and an offset where given.
    Rfc3339,
    /// `Tue, 14 Nov 2023 22:13:20 GMT` and the obsolete forms; also without comma and with `UTC`.
    HttpDate,
}

impl Unit {
    /// The name that a configuration uses: `s`, `ms`, `rfc3339`, `http-date`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Rfc3339 => "rfc3339",
            Self::HttpDate => "http-date",
        }
    }

    /// The unit with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Seconds, Self::Milliseconds, Self::Rfc3339, Self::HttpDate]
            .into_iter()
            .find(|unit| unit.name() == name)
    }
}

impl Instant {
    /// Reads a whole value: no sign, fraction, blank or junk where the unit has none. A two-digit year
    /// is one of 1970 to 2069.
    pub fn parse(value: &[u8], unit: Unit) -> Option<Self> {
        Self::parse_at(value, unit, PIVOT_S)
    }

    /// The same where the time is known (seconds), which places a two-digit year (see [`http_date`]).
    pub fn parse_at(value: &[u8], unit: Unit, now_s: i64) -> Option<Self> {
        match unit {
            Unit::Seconds => Some(Self { seconds: digits(value)?, nanos: 0 }),
            Unit::Milliseconds => digits(value).map(Self::from_millis),
            Unit::Rfc3339 => rfc3339(value),
            Unit::HttpDate => Some(Self {
                seconds: http_date(value, now_s).or_else(|| plain_date(value))?,
                nanos: 0,
            }),
        }
    }

    /// The instant of this many milliseconds since the Unix epoch.
    pub const fn from_millis(ms: i64) -> Self {
        let nanos = (ms.rem_euclid(1_000) * 1_000_000) as u32;
        Self { seconds: ms.div_euclid(1_000), nanos }
    }

    /// As a sender writes it, cut off to the unit: a date in UTC, to the second. Years that dates cannot
    /// name become the first or the last one.
    pub fn written(self, unit: Unit) -> String {
        let day = self.seconds.div_euclid(86_400);
        let of_day = self.seconds.rem_euclid(86_400);
        let (year, month, date) = civil(day);
        let clock = format!("{:02}:{:02}:{:02}", of_day / 3_600, of_day / 60 % 60, of_day % 60);
        match unit {
            Unit::Seconds => self.seconds.to_string(),
            Unit::Milliseconds => self.millis().unwrap_or(i64::MAX).to_string(),
            Unit::Rfc3339 => format!("{year:04}-{month:02}-{date:02}T{clock}Z"),
            Unit::HttpDate => {
                let text = |bytes| core::str::from_utf8(bytes).unwrap_or_default();
                let month = MONTHS.get(month as usize - 1).map_or("", |name| text(*name));
                format!("{}, {date:02} {month} {year:04} {clock} GMT", text(weekday(day)))
            }
        }
    }

    /// Milliseconds since the Unix epoch, rounded down; `None` where they do not fit.
    pub fn millis(self) -> Option<i64> {
        self.seconds.checked_mul(1_000)?.checked_add(i64::from(self.nanos / 1_000_000))
    }
}

/// A number of 1 to 19 ASCII digits that fits a signed 64-bit value, and nothing else.
pub fn digits(value: &[u8]) -> Option<i64> {
    if value.is_empty() || value.len() > DIGITS_MAX {
        return None;
    }
    value.iter().try_fold(0_i64, |sum, byte| {
        byte.is_ascii_digit().then_some(())?;
        sum.checked_mul(10)?.checked_add(i64::from(byte - b'0'))
    })
}

/// Reads `2023-11-14T22:13:20.5+01:00`: a real date and time, and an offset that is spelled out.
pub fn rfc3339(value: &[u8]) -> Option<Instant> {
    let (date, rest) = value.split_at_checked(10)?;
    let (mark, rest) = rest.split_first()?;
    let (clock, rest) = rest.split_at_checked(8)?;
    if date[4] != b'-' || date[7] != b'-' || !matches!(mark, b'T' | b't') {
        return None;
    }
    let day = days(number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?)?;
    let (nanos, zone) = fraction(rest)?;
    let ahead = offset(zone)?;
    let seconds = day * 86_400 + time_of_day(clock, ahead)? - ahead;
    Some(Instant { seconds, nanos })
}

/// Reads one of the three forms of RFC 9110 section 5.6.7 as seconds since the Unix epoch. The
/// weekday must be the date's. `now` (seconds) places a two-digit year: never over 50 years ahead.
pub fn http_date(value: &[u8], now: i64) -> Option<i64> {
    imf_fixdate(value).or_else(|| rfc850(value, now)).or_else(|| asctime(value))
}

/// `Tue, 14 Nov 2023 22:13:20 GMT`.
fn imf_fixdate(value: &[u8]) -> Option<i64> {
    let rest = value.strip_suffix(b" GMT")?;
    if rest.len() != 25 || &rest[3..5] != b", " || rest[7] != b' ' || rest[11] != b' ' {
        return None;
    }
    let day = days(number(&rest[12..16])?, month(&rest[8..11])?, number(&rest[5..7])?)?;
    (rest[16] == b' ' && weekday(day) == &rest[..3]).then_some(())?;
    Some(day * 86_400 + time_of_day(&rest[17..], 0)?)
}

/// `Tuesday, 14-Nov-23 22:13:20 GMT`.
fn rfc850(value: &[u8], now: i64) -> Option<i64> {
    let comma = value.iter().position(|byte| *byte == b',')?;
    let (name, rest) = value.split_at(comma);
    let rest = rest.strip_prefix(b", ")?.strip_suffix(b" GMT")?;
    if rest.len() != 18 || rest[2] != b'-' || rest[6] != b'-' || rest[9] != b' ' {
        return None;
    }
    let (this_year, this_month, this_date) = civil(now.div_euclid(86_400));
    let latest = this_year + 50 - (this_year + 50 - number(&rest[7..9])?).rem_euclid(100);
    let at = |year| {
        let day = days(year, month(&rest[3..6])?, number(&rest[..2])?)?;
        Some((day, day * 86_400 + time_of_day(&rest[10..], 0)?))
    };
    // Fifty years after a leap day there is none.
    let limit = days(this_year + 50, this_month, this_date)
        .or_else(|| days(this_year + 50, this_month, 28))
        .map_or(i64::MAX, |day| day * 86_400 + now.rem_euclid(86_400));
    let ahead = at(latest).is_none_or(|(_, at)| at > limit);
    let (day, at) = at(if ahead { latest - 100 } else { latest })?;
    let full = WEEKDAYS_FULL.iter().find(|full| full.starts_with(weekday(day)))?;
    (full == &name).then_some(at)
}

/// `Tue Nov 14 22:13:20 2023`, a day below 10 padded by a blank.
fn asctime(value: &[u8]) -> Option<i64> {
    if value.len() != 24 || value[3] != b' ' || value[7] != b' ' || value[10] != b' ' {
        return None;
    }
    let date = match &value[8..10] {
        [b' ', digit] => number(core::slice::from_ref(digit))?,
        two => number(two)?,
    };
    let day = days(number(&value[20..])?, month(&value[4..7])?, date)?;
    (value[19] == b' ' && weekday(day) == &value[..3]).then_some(())?;
    Some(day * 86_400 + time_of_day(&value[11..19], 0)?)
}

/// `Thu 07 Sep 2017 06:30:04 UTC`, as Scalr writes it.
fn plain_date(value: &[u8]) -> Option<i64> {
    let rest = value.strip_suffix(b" UTC").or_else(|| value.strip_suffix(b" GMT"))?;
    if rest.len() != 24 || [3, 6, 10, 15].into_iter().any(|at| rest[at] != b' ') {
        return None;
    }
    let day = days(number(&rest[11..15])?, month(&rest[7..10])?, number(&rest[4..6])?)?;
    (weekday(day) == &rest[..3]).then_some(())?;
    Some(day * 86_400 + time_of_day(&rest[16..], 0)?)
}

/// Seconds from `22:13:20`, so many ahead of UTC. A leap second ends a day of UTC, and counts as the
/// first one of the next; no other minute has one.
fn time_of_day(clock: &[u8], ahead: i64) -> Option<i64> {
    if clock.len() != 8 || clock[2] != b':' || clock[5] != b':' {
        return None;
    }
    let (hour, minute, second) =
        (number(&clock[..2])?, number(&clock[3..5])?, number(&clock[6..])?);
    let of_day = hour * 3_600 + minute * 60 + second;
    let second_is_one = second < 60 || (second == 60 && (of_day - ahead).rem_euclid(86_400) == 0);
    (hour < 24 && minute < 60 && second_is_one).then_some(of_day)
}

/// The nanoseconds of `.5`, digits beyond the ninth cut off, and what follows.
fn fraction(rest: &[u8]) -> Option<(u32, &[u8])> {
    let Some(digits) = rest.strip_prefix(b".") else { return Some((0, rest)) };
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 || length > DIGITS_MAX {
        return None;
    }
    let (digits, zone) = digits.split_at(length);
    let nanos = (0..9)
        .fold(0, |sum, at| sum * 10 + digits.get(at).map_or(0, |digit| u32::from(digit - b'0')));
    Some((nanos, zone))
}

/// The seconds that a zone is ahead of UTC.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, rest) = match zone {
        [b'Z' | b'z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    if rest.len() != 5 || rest[2] != b':' {
        return None;
    }
    let (hours, minutes) = (number(&rest[..2])?, number(&rest[3..])?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn number(text: &[u8]) -> Option<i64> {
    digits(text)
}

fn month(name: &[u8]) -> Option<i64> {
    (1..).zip(MONTHS).find(|(_, month)| *month == name).map(|(number, _)| number)
}

/// Days since the Unix epoch of a date that exists (years 0 to 9999).
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let longest = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=longest).contains(&day) || !(0..=9_999).contains(&year) {
        return None;
    }
    let shifted = year - i64::from(month <= 2);
    let (era, year_of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// Year, month and date of a day since the epoch, held to years that dates can name.
fn civil(day: i64) -> (i64, i64, i64) {
    let day = day.clamp(0, 2_932_896) + 719_468;
    let day_of_era = day.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Counted from March, so that a leap day is the last of its year.
    let from_march = (5 * day_of_year + 2) / 153;
    let month = (from_march + 2) % 12 + 1;
    let year = day.div_euclid(146_097) * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * from_march + 2) / 5 + 1)
}

fn weekday(day: i64) -> &'static [u8] {
    &WEEKDAYS_FULL[(day + 3).rem_euclid(7) as usize][..3]
}

const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];
const WEEKDAYS_FULL: [&[u8]; 7] =
    [b"Monday", b"Tuesday", b"Wednesday", b"Thursday", b"Friday", b"Saturday", b"Sunday"];
/// The end of 2019, where nobody says what time it is.
const PIVOT_S: i64 = 1_577_836_799;
/// As many digits as the largest signed 64-bit value has.
const DIGITS_MAX: usize = 19;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn digits_are_digits_alone() {
        assert_eq!(digits(b"1700000000"), Some(1_700_000_000));
        assert_eq!(digits(b"9223372036854775807"), Some(i64::MAX));
        for bad in ["", "+1", "-1", " 1", "1 ", "1_0", "1.0", "1e9", "0x1", "9223372036854775808"] {
            assert_eq!(digits(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn the_three_http_dates_are_one_instant() {
        let noon = Some(1_700_000_120);
        let now = 1_700_000_000;
        assert_eq!(http_date(b"Tue, 14 Nov 2023 22:15:20 GMT", now), noon);
        assert_eq!(http_date(b"Tuesday, 14-Nov-23 22:15:20 GMT", now), noon);
        assert_eq!(http_date(b"Tue Nov 14 22:15:20 2023", now), noon);
        assert_eq!(http_date(b"Sun Nov  6 08:49:37 1994", now), Some(784_111_777));
        assert_eq!(http_date(b"Sunday, 06-Nov-94 08:49:37 GMT", now), Some(784_111_777));
    }

    #[test]
    fn a_two_digit_year_lies_at_most_fifty_years_ahead() {
        let at = |text: &str, now| http_date(text.as_bytes(), now);
        let of_1999 = 915_148_800;
        assert_eq!(at("Monday, 01-Jan-01 00:00:00 GMT", of_1999), Some(978_307_200));
        assert_eq!(at("Monday, 06-Nov-73 08:49:37 GMT", 1_700_000_000), Some(3_277_183_777));
        assert_eq!(at("Monday, 31-Dec-73 08:49:37 GMT", 1_700_000_000), Some(126_175_777));
        let of_2025 = 1_750_000_000;
        assert_eq!(at("Saturday, 15-Jun-75 15:06:40 GMT", of_2025), Some(3_327_836_800));
        assert_eq!(at("Sunday, 15-Jun-75 15:06:41 GMT", of_2025), Some(172_076_801));
        let unknown = |text: &str| Instant::parse(text.as_bytes(), Unit::HttpDate);
        let seconds = |text: &str| unknown(text).map(|at| at.seconds);
        assert_eq!(seconds("Sunday, 06-Nov-94 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Tuesday, 14-Nov-23 22:13:20 GMT"), Some(1_700_000_000));
    }

    #[test]
    fn a_date_that_does_not_exist_is_none() {
        for bad in [
            "Mon, 14 Nov 2023 22:15:20 GMT",
            "Tue, 14 Nov 2023 22:15:20 +0000",
            "Wed, 99 Foo 2023 00:00:00 GMT",
            "Tue, 14 Nov 2023 24:15:20 GMT",
            "Tue, 14 Nov 2023 22:15:20 GMT ",
            "tue, 14 nov 2023 22:15:20 gmt",
            "Wed, 30 Feb 2022 00:00:00 GMT",
            "2023-11-14T22:15:20Z",
        ] {
            assert_eq!(http_date(bad.as_bytes(), 1_700_000_000), None, "{bad}");
        }
    }

    #[test]
    fn rfc3339_knows_offsets_fractions_and_leap_days() {
        let at = |text: &str| rfc3339(text.as_bytes());
        assert_eq!(at("2023-11-14T22:13:20Z").map(|i| i.seconds), Some(1_700_000_000));
        assert_eq!(at("2023-11-15T00:13:20+02:00").map(|i| i.seconds), Some(1_700_000_000));
        assert_eq!(at("2020-02-29T00:00:00.100Z").map(|i| i.nanos), Some(100_000_000));
        for bad in ["2021-02-29T00:00:00Z", "2023-11-14 22:13:20Z", "2023-11-14T22:13:20", "x"] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_leap_second_ends_a_day_of_utc_and_no_other_minute() {
        let at = |text: &str| rfc3339(text.as_bytes()).map(|at| at.seconds);
        for leap in
            ["2016-12-31T23:59:60Z", "2017-01-01T05:29:60+05:30", "2016-12-31T15:59:60-08:00"]
        {
            assert_eq!(at(leap), Some(1_483_228_800), "{leap}");
        }
        for bad in ["2016-12-31T22:59:60Z", "2016-12-31T23:59:60+01:00", "2016-12-31T23:59:61Z"] {
            assert_eq!(at(bad), None, "{bad}");
        }
        assert_eq!(http_date(b"Sat, 31 Dec 2016 23:59:60 GMT", 0), Some(1_483_228_800));
        assert_eq!(http_date(b"Sat, 31 Dec 2016 23:58:60 GMT", 0), None);
    }

    #[test]
    fn scalr_writes_dates_its_own_way() {
        let seconds = Instant::parse(b"Thu 07 Sep 2017 06:30:04 UTC", Unit::HttpDate);
        assert_eq!(seconds.map(|i| i.seconds), Some(1_504_765_804));
    }

    #[test]
    fn an_instant_is_written_as_each_unit_writes_it() {
        let at = Instant { seconds: 1_700_000_000, nanos: 7_000_000 };
        assert_eq!(at.written(Unit::Seconds), "1700000000");
        assert_eq!(at.written(Unit::Milliseconds), "1700000000007");
        assert_eq!(at.written(Unit::Rfc3339), "2023-11-14T22:13:20Z");
        assert_eq!(at.written(Unit::HttpDate), "Tue, 14 Nov 2023 22:13:20 GMT");
        assert_eq!(
            Instant::from_millis(0).written(Unit::HttpDate),
            "Thu, 01 Jan 1970 00:00:00 GMT"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(seconds in 0_i64..253_402_300_800) {
            let at = Instant { seconds, nanos: 0 };
            for unit in [Unit::Seconds, Unit::Milliseconds, Unit::Rfc3339, Unit::HttpDate] {
                let text = at.written(unit);
                prop_assert_eq!(Instant::parse(text.as_bytes(), unit), Some(at), "{}", text);
            }
        }

        #[test]
        fn no_text_makes_a_reader_panic(text: Vec<u8>, now: i64) {
            for unit in [Unit::Seconds, Unit::Milliseconds, Unit::Rfc3339, Unit::HttpDate] {
                let _ = Instant::parse_at(&text, unit, now);
            }
            let _ = http_date(&text, now);
        }

        #[test]
        fn nearly_a_date_makes_no_reader_panic(text in "[A-Z][a-z]{2}, [0-9]{2}.[A-Z][a-z]{2}.[0-9]{2,4} [0-9:]{8} GMT", now: i64) {
            let _ = http_date(text.as_bytes(), now);
        }
    }
}
