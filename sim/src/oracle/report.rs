//! What the oracle says of a history.

use super::{Breach, Danger, Oracle, alone::owes_at_end};
use crate::promise::Promise;

/// How a promise fared in one history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing in the history breaks it, and the history is long enough to say so.
    Pass,
    /// It was broken.
    Fail,
    /// The history does not decide it.
    Inconclusive,
}

/// One promise in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The promise.
    pub promise: Promise,
    /// How it fared.
    pub verdict: Verdict,
    /// How often it was in danger.
    pub danger: u32,
}

/// A breach with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The index of the line, counted from 0.
    pub line: usize,
    /// What was broken.
    pub breach: Breach,
}

/// What the oracle says of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Every promise that the oracle decides, in the order of the contract.
    pub rows: Vec<Row>,
    /// The breaches of the line at which judging stopped, at most one a monitor.
    pub broken: Vec<Broken>,
    /// All counts of danger.
    pub danger: Danger,
}

impl Report {
    /// How this promise fared; one that the oracle does not decide is inconclusive.
    pub fn verdict(&self, promise: Promise) -> Verdict {
        let row = self.rows.iter().find(|row| row.promise == promise);
        row.map_or(Verdict::Inconclusive, |row| row.verdict)
    }

    /// The first breach.
    pub fn breach(&self) -> Option<&Broken> {
        self.broken.first()
    }
}

impl Oracle<'_> {
    /// What can be said of the history so far.
    pub fn report(&self) -> Report {
        let rows = Promise::CHECKED
            .into_iter()
            .map(|promise| Row {
                promise,
                verdict: self.verdict(promise),
                danger: self.danger.of(promise),
            })
            .collect();
        Report { rows, broken: self.broken.clone(), danger: self.danger }
    }

    /// A promise is kept only as far as the history was read: a breach of another one ends the
    /// reading, and what a promise owes at the end is open until the history has ended.
    fn verdict(&self, promise: Promise) -> Verdict {
        if self.broken.iter().any(|broken| broken.breach.promise == promise) {
            return Verdict::Fail;
        }
        let read = self.broken.is_empty() && (self.ended || !owes_at_end(promise));
        if read && self.decides(promise) { Verdict::Pass } else { Verdict::Inconclusive }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{judge, sending::tests::tale};

    #[test]
    fn what_is_owed_at_the_end_is_open_until_the_end() {
        let tale = tale().committed(0).fanned(0, 0, 0).fan_out_done(0, 1).acknowledged(0);
        let open = judge(&tale.terms, &tale.lines);
        assert_eq!(open.breach(), None);
        assert_eq!(open.verdict(Promise::S3), Verdict::Pass);
        for promise in [Promise::S2, Promise::S12, Promise::E1] {
            assert_eq!(open.verdict(promise), Verdict::Inconclusive, "{promise}");
        }
        let ended = tale.ended();
        let report = judge(&ended.terms, &ended.lines);
        assert_eq!(report.verdict(Promise::S2), Verdict::Pass);
        assert_eq!(report.verdict(Promise::E1), Verdict::Inconclusive, "no row was shown");
    }

    #[test]
    fn lateness_decides_s8_where_it_counts() {
        let mut tale = tale();
        assert_eq!(judge(&tale.terms, &tale.lines).verdict(Promise::S8), Verdict::Pass);
        tale.terms.timely = false;
        assert_eq!(judge(&tale.terms, &tale.lines).verdict(Promise::S8), Verdict::Inconclusive);
    }

    #[test]
    fn a_breach_ends_the_reading_at_its_line() {
        let tale = tale().committed(0).committed(0).ended();
        let report = judge(&tale.terms, &tale.lines);
        let broken = report.breach().expect("a breach");
        assert_eq!((broken.line, broken.breach.promise), (2, Promise::S15));
        assert_eq!(report.verdict(Promise::S15), Verdict::Fail);
        assert_eq!(report.verdict(Promise::S3), Verdict::Inconclusive);
        assert_eq!(report.verdict(Promise::S16), Verdict::Inconclusive, "it is not decided here");
    }
}
