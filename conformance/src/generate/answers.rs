//! Times, waits, ladders and answers.

use hookproof_core::ladders::{LADDERS, Published};
use serde_json::{Value, json};

use super::{Made, plain};

pub(super) fn files() -> Vec<Made> {
    vec![timestamps(), retry_after(), tolerances(), backoff(), ladders(), responses()]
}

fn timestamps() -> Made {
    let good = |seconds: i64| json!({ "seconds": seconds });
    let bad = || json!({ "error": "bad_timestamp" });
    let rows: [(&str, &str, &str, Value, &str); 25] = [
        ("ms", "1700000000000", "ms", good(1_700_000_000), "milliseconds"),
        ("ms-rounded-down", "1700000000999", "ms", good(1_700_000_000), "rounded down"),
        ("ms-junk", "1700000000.5", "ms", bad(), "a fraction of a millisecond"),
        ("ms-empty", "", "ms", bad(), "nothing"),
        ("empty", "", "s", bad(), "nothing"),
        ("blank-before", " 1700000000", "s", bad(), "a blank is no digit"),
        ("blank-behind", "1700000000 ", "s", bad(), "a blank is no digit"),
        ("newline", "1700000000\n", "s", bad(), "a line end is no digit"),
        ("nul", "1700000000\u{0}", "s", bad(), "a NUL is no digit"),
        ("comma", "1,700,000,000", "s", bad(), "digit groups"),
        ("arabic-digits", "\u{661}\u{667}", "s", bad(), "digits of another script"),
        ("rfc3339", "2023-11-14T22:13:20Z", "rfc3339", good(1_700_000_000), "UTC"),
        (
            "rfc3339-offset",
            "2023-11-15T00:13:20+02:00",
            "rfc3339",
            good(1_700_000_000),
            "an offset",
        ),
        (
            "rfc3339-fraction",
            "2023-11-14T22:13:20.999Z",
            "rfc3339",
            good(1_700_000_000),
            "a fraction",
        ),
        ("rfc3339-leap", "2016-12-31T23:59:60Z", "rfc3339", good(1_483_228_800), "a leap second"),
        (
            "rfc3339-leap-offset",
            "2017-01-01T05:29:60+05:30",
            "rfc3339",
            good(1_483_228_800),
            "a leap second where it is not midnight",
        ),
        ("rfc3339-60", "2023-11-14T22:13:60Z", "rfc3339", bad(), "no leap second then"),
        ("rfc3339-60-local", "2016-12-31T23:59:60+01:00", "rfc3339", bad(), "no day of UTC ends"),
        (
            "http-date-60",
            "Tue, 14 Nov 2023 22:13:60 GMT",
            "http-date",
            bad(),
            "no leap second then",
        ),
        ("rfc3339-no-zone", "2023-11-14T22:13:20", "rfc3339", bad(), "no zone: no instant"),
        (
            "rfc3339-no-such-day",
            "2023-02-29T00:00:00Z",
            "rfc3339",
            bad(),
            "a day that does not exist",
        ),
        (
            "rfc3339-seconds",
            "1700000000",
            "rfc3339",
            bad(),
            "seconds where calendar text is written",
        ),
        (
            "http-date",
            "Tue, 14 Nov 2023 22:13:20 GMT",
            "http-date",
            good(1_700_000_000),
            "an HTTP date",
        ),
        (
            "http-date-two-digit-year",
            "Tuesday, 14-Nov-23 22:13:20 GMT",
            "http-date",
            good(1_700_000_000),
            "a two-digit year of this century",
        ),
        (
            "http-date-two-digit-year-past",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "http-date",
            good(784_111_777),
            "a two-digit year of the last century",
        ),
    ];
    let cases = rows.into_iter().map(|(name, value, unit, expected, why)| {
        let input = json!({ "value": value, "unit": unit });
        plain(&format!("time-{name}"), "must", "StrictTime", (input, expected), why)
    });
    Made {
        name: "timestamp.parse.more.json".into(),
        kind: "timestamp.parse",
        flags: vec![("StrictTime", "AUTH_BYPASS", "a whole value in its unit, or none")],
        cases: cases.collect(),
    }
}

fn retry_after() -> Made {
    let rows: [(&str, &str, &str, Value, &str); 14] = [
        ("negative", "must", "-5", Value::Null, "no sign"),
        ("plus", "should", "+5", Value::Null, "no sign"),
        ("fraction", "should", "1.5", Value::Null, "whole seconds alone"),
        ("exponent", "must", "1e3", Value::Null, "no exponent"),
        ("hexadecimal", "must", "0x10", Value::Null, "no other base"),
        ("word", "must", "soon", Value::Null, "no number and no date"),
        ("huge", "must", "99999999999999999999999", json!(86_400), "clamped, not overflowed"),
        ("ten-years", "must", "315360000", json!(86_400), "clamped to the cap"),
        ("cap", "must", "86400", json!(86_400), "exactly the cap"),
        ("leading-zeros", "should", "000120", json!(120), "digits are digits"),
        ("date-no-such-day", "must", "Thu, 30 Feb 2023 00:00:00 GMT", Value::Null, "no such day"),
        (
            "date-lower-case",
            "should",
            "tue, 14 nov 2023 22:15:20 gmt",
            Value::Null,
            "dates have case",
        ),
        ("date-utc", "should", "Tue, 14 Nov 2023 22:15:20 UTC", Value::Null, "the zone is GMT"),
        (
            "date-junk-behind",
            "must",
            "Tue, 14 Nov 2023 22:15:20 GMT; x",
            Value::Null,
            "whole or ignored",
        ),
    ];
    let cases = rows.into_iter().map(|(name, level, value, delay, why)| {
        let input =
            json!({ "value": value, "now": 1_700_000_000, "cap_s": 86_400, "backoff_s": 30 });
        plain(
            &format!("wait-{name}"),
            level,
            "AbsurdWait",
            (input, json!({ "delay_s": delay })),
            why,
        )
    });
    Made {
        name: "retry_after.parse.more.json".into(),
        kind: "retry_after.parse",
        flags: vec![("AbsurdWait", "AVAILABILITY", "a misread wait retries at once, or never")],
        cases: cases.collect(),
    }
}

fn tolerances() -> Made {
    let rows: [(&str, &str, &str, &str); 12] = [
        ("usual", "300", "accept", "the usual window"),
        ("empty", "", "config_error", "nothing is no number"),
        ("negative", "-1", "config_error", "a window has no sign"),
        ("word", "abc", "config_error", "no number"),
        ("nan", "NaN", "config_error", "no number"),
        ("infinite", "inf", "config_error", "a window that never ends is no window"),
        ("fraction", "1.5", "config_error", "whole seconds alone"),
        ("exponent", "1e400", "config_error", "no exponent"),
        ("unit", "300s", "config_error", "no unit"),
        ("blank", " 300 ", "config_error", "blanks are no digits"),
        ("huge", "99999999999999999999", "config_error", "more than 64 bits"),
        ("hexadecimal", "0x12c", "config_error", "no other base"),
    ];
    let cases = rows.into_iter().map(|(name, text, result, why)| {
        let pair = (json!({ "tolerance_s": text }), json!({ "result": result }));
        plain(&format!("tolerance-{name}"), "must", "SilentlyOff", pair, why)
    });
    Made {
        name: "config.tolerance.more.json".into(),
        kind: "config.tolerance",
        flags: vec![("SilentlyOff", "AUTH_BYPASS", "a misread tolerance switches the check off")],
        cases: cases.collect(),
    }
}

/// Name, attempt, factor, jitter, what the receiver asks for, the bounds, and why.
type BackoffRow = (&'static str, u64, u64, &'static str, Option<u64>, (u64, u64), &'static str);

fn backoff() -> Made {
    let rows: [BackoffRow; 9] = [
        ("full-first", 1, 2, "full", None, (0, 1_000), "full jitter of the first wait"),
        ("full-fifth", 5, 2, "full", None, (0, 16_000), "full jitter of the fifth wait"),
        ("pm10-first", 1, 2, "pm10", None, (900, 1_100), "a tenth either way"),
        ("pm10-cap", 64, 2, "pm10", None, (3_240_000, 3_600_000), "never above the cap"),
        ("asked-more", 1, 2, "none", Some(120), (120_000, 120_000), "the receiver asks for more"),
        ("asked-less", 5, 2, "none", Some(1), (16_000, 16_000), "the receiver asks for less"),
        ("factor-one", 1_000_000, 1, "none", None, (1_000, 1_000), "a constant wait"),
        ("factor-three", 4, 3, "none", None, (27_000, 27_000), "another factor"),
        ("attempt-max", 4_294_967_295, 2, "full", None, (0, 3_600_000), "the largest attempt"),
    ];
    let cases = rows.into_iter().map(|(name, attempt, factor, jitter, asked, bounds, why)| {
        let mut input = json!({
            "base_ms": 1_000, "factor": factor, "cap_ms": 3_600_000, "attempt": attempt, "jitter": jitter,
        });
        if let Some(asked) = asked {
            input["retry_after_s"] = json!(asked);
        }
        let expected = json!({ "min_ms": bounds.0, "max_ms": bounds.1 });
        plain(&format!("backoff-{name}"), "must", "Overflow", (input, expected), why)
    });
    Made {
        name: "backoff.delay.more.json".into(),
        kind: "backoff.delay",
        flags: vec![("Overflow", "AVAILABILITY", "an overflowing wait becomes no wait at all")],
        cases: cases.collect(),
    }
}

fn ladders() -> Made {
    let case = |ladder: &Published| {
        let expected = json!({
            "waits_s": ladder.waits_s,
            "attempts": ladder.waits_s.len() + 1,
            "total_s": ladder.waits_s.iter().sum::<u64>(),
        });
        let pair = (json!({ "ladder": ladder.name }), expected);
        let mut case =
            plain(&format!("ladder-{}", ladder.name), "must", "OffByOne", pair, "as published");
        case["source"] = json!(ladder.source);
        case
    };
    Made {
        name: "ladder.schedule.json".into(),
        kind: "ladder.schedule",
        flags: vec![("OffByOne", "DATA_LOSS", "waits are one fewer than attempts")],
        cases: LADDERS.iter().map(case).collect(),
    }
}

fn responses() -> Made {
    let statuses = [
        (100, "failed_retry"),
        (101, "failed_retry"),
        (103, "failed_retry"),
        (203, "success"),
        (207, "success"),
        (226, "success"),
        (300, "failed_retry"),
        (301, "failed_retry"),
        (303, "failed_retry"),
        (307, "failed_retry"),
        (308, "failed_retry"),
        (401, "failed_retry"),
        (403, "failed_retry"),
        (409, "failed_retry"),
        (422, "failed_retry"),
        (425, "failed_retry"),
        (451, "failed_retry"),
        (501, "failed_retry"),
        (502, "failed_retry"),
        (504, "failed_retry"),
        (599, "failed_retry"),
        (600, "failed_retry"),
        (999, "failed_retry"),
    ];
    let errors = [
        "connect_timeout",
        "timeout_before_send",
        "reset_before_send",
        "malformed_response",
        "unreachable",
        "closed_early",
    ];
    let status = statuses.into_iter().map(|(status, outcome)| {
        let pair = (json!({ "status": status }), json!({ "outcome": outcome }));
        plain(&format!("answer-{status}"), "must", "OnlySuccess", pair, "2xx alone is success")
    });
    let error = errors.into_iter().map(|error| {
        let pair = (json!({ "error": error }), json!({ "outcome": "failed_retry" }));
        let id = format!("answer-{}", error.replace('_', "-"));
        plain(&id, "must", "OnlySuccess", pair, "no answer is no success")
    });
    Made {
        name: "response.classify.more.json".into(),
        kind: "response.classify",
        flags: vec![("OnlySuccess", "DATA_LOSS", "what is taken for success is never sent again")],
        cases: status.chain(error).collect(),
    }
}
