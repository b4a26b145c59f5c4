//! One promise judged alone, on the lines that it needs and no others.
//!
//! Only the monitors that decide it read them. A breach of another promise ends the reading: what the
//! monitor knows is not what the lines say any more.

use hookproof_core::Millis;

use super::{Accounted, Breach, Broken, Oracle, Receiving, Sending, Terms, and_then};
use crate::{
    history::{Fact, Line},
    promise::Promise,
};

/// What one promise came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alone {
    /// Where it was broken, or where a breach of another promise ended the reading.
    pub(crate) broken: Option<Broken>,
    /// Whether the history is long enough, and shows what the promise needs.
    pub(crate) told: bool,
    /// How often it was in danger.
    pub(crate) danger: u32,
}

/// The monitors that decide a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Monitors {
    pub(crate) sending: bool,
    pub(crate) receiving: bool,
    pub(crate) securing: bool,
}

impl Monitors {
    /// Those of a promise.
    pub(crate) fn of(promise: Promise) -> Self {
        use Promise::{E1, R1, R2, R17, R18, S4, S9, S10, S13};
        let securing = matches!(promise, S4 | S9 | S10 | S13 | R1 | R2 | R17 | R18);
        let sends = promise < R1;
        Self {
            sending: promise == E1 || promise == S10 || (sends && !securing),
            receiving: !sends && promise < E1 && !securing,
            securing,
        }
    }
}

/// Judges one promise.
pub(crate) fn judge_alone(terms: &Terms, lines: &[Line], promise: Promise) -> Alone {
    let mut oracle = Oracle::new(terms);
    let mut broken = None;
    for line in lines {
        if let Err(breach) = oracle.observe_for(line, promise)
            && (breach.promise == promise || !is_harmless(&line.fact, promise, breach.promise))
        {
            broken = Some(Broken { line: oracle.lines - 1, breach });
            break;
        }
    }
    let told = oracle.is_told(promise);
    Alone { broken, told, danger: oracle.danger.of(promise) }
}

/// Whether the monitor knows all that the promise needs, though another one broke here. An answer is the
/// last that is heard of its request, unless it acknowledges what there is no receipt of. And whose claim
/// a request was made under says nothing of its commit and its id.
fn is_harmless(fact: &Fact, promise: Promise, broken: Promise) -> bool {
    match fact {
        Fact::Answered { status, .. } => {
            Monitors::of(promise).securing || !(200..300).contains(status)
        }
        Fact::Requested { .. } => match promise {
            Promise::S1 => true,
            Promise::S3 => broken != Promise::S1,
            _ => false,
        },
        _ => false,
    }
}

impl Oracle<'_> {
    fn observe_for(&mut self, line: &Line, promise: Promise) -> Result<(), Breach> {
        let of = Monitors::of(promise);
        let Self { terms, sending, receiving, securing, accounted, danger, .. } = self;
        let ends = line.fact == Fact::Ended;
        self.lines += 1;
        self.ended |= ends;
        accounted.observe(terms, line);
        let mut verdict = Ok(());
        if of.sending {
            and_then(&mut verdict, || sending.observe(terms, line, danger));
        }
        if of.receiving {
            and_then(&mut verdict, || receiving.observe(terms, line, danger));
        }
        if of.securing {
            and_then(&mut verdict, || securing.observe(terms, line, danger));
        }
        if ends {
            self.end_for(line.at, promise, &mut verdict);
        }
        verdict
    }

    fn end_for(&mut self, at: Millis, promise: Promise, verdict: &mut Result<(), Breach>) {
        let of = Monitors::of(promise);
        let Self { terms, sending, receiving, accounted, danger, .. } = self;
        if promise == Promise::E1 {
            and_then(verdict, || accounted.end(sending, danger));
            return;
        }
        if of.sending {
            and_then(verdict, || sending.end());
        }
        if of.receiving {
            and_then(verdict, || receiving.end(terms, at, danger));
        }
    }

    fn is_told(&self, promise: Promise) -> bool {
        self.decides(promise) && (self.ended || !owes_at_end(promise))
    }
}

/// What a promise owes at the end is open until the history has ended.
pub(super) fn owes_at_end(promise: Promise) -> bool {
    Sending::owes_at_end(promise)
        || Receiving::owes_at_end(promise)
        || Accounted::owes_at_end(promise)
}

impl Oracle<'_> {
    /// Whether the history, under these terms, shows what the promise needs.
    pub(super) fn decides(&self, promise: Promise) -> bool {
        Sending::decides(self.terms, promise)
            && self.receiving.decides(self.terms, promise)
            && self.accounted.decides(promise)
    }
}
