//! The words that stand in columns for the core's states: what an operator reads in a table.

use hookproof_core::{Reason, endpoint::Life, inbox::End};

use crate::error::Error;

/// How an endpoint's life is written.
pub(crate) const LIVES: [(Life, &str); 5] = [
    (Life::Active, "active"),
    (Life::Paused, "paused"),
    (Life::Disabled, "disabled"),
    (Life::Unsubscribed, "unsubscribed"),
    (Life::Deleted, "deleted"),
];

/// How the end of a receipt's work is written.
pub(crate) const ENDS: [(End, &str); 3] = [
    (End::Applied, "applied"),
    (End::AlreadyBooked, "already booked"),
    (End::Overtaken, "overtaken"),
];

/// How a reason is written.
pub(crate) const REASONS: [(Reason, &str); 11] = [
    (Reason::Exhausted, "exhausted"),
    (Reason::Unanswered, "unanswered"),
    (Reason::Gone, "gone"),
    (Reason::ClaimLost, "claim lost"),
    (Reason::EndpointGone, "endpoint gone"),
    (Reason::Operator, "operator"),
    (Reason::Failing, "failing"),
    (Reason::WorkerLost, "worker lost"),
    (Reason::DeferralCap, "deferral cap"),
    (Reason::Impossible, "impossible"),
    (Reason::Unreadable, "unreadable"),
];

/// The word for a value.
pub(crate) fn word<T: Copy + PartialEq>(words: &[(T, &'static str)], value: T) -> &'static str {
    let found = words.iter().find(|(one, _)| *one == value);
    found.map_or_else(|| unreachable!("each value has its word: a test counts them"), |(_, w)| w)
}

/// The value of a word.
pub(crate) fn value<T: Copy>(words: &[(T, &'static str)], word: &str) -> Result<T, Error> {
    let found = words.iter().find(|(_, one)| *one == word);
    found.map(|(value, _)| *value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(_, word)| *word).collect();
        unreadable(&format!("one of {}", known.join(", ")), word)
    })
}

/// A row that this version cannot read.
pub(crate) fn unreadable(expected: &str, found: &str) -> Error {
    Error::unfit(
        expected,
        format!("`{found}`"),
        "a newer version or a hand wrote this row; put it right, or run that version",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_word_of_its_own() {
        for (reason, text) in REASONS {
            assert_eq!(word(&REASONS, reason), text);
            assert_eq!(value(&REASONS, text), Ok(reason));
        }
    }

    #[test]
    fn a_word_from_nowhere_is_refused_with_those_that_are_known() {
        let error = value(&LIVES, "asleep").expect_err("no such life");
        let text = error.to_string();
        assert!(text.starts_with("expected one of active, paused,"), "{text}");
        assert!(text.contains("found `asleep`"), "{text}");
    }
}
