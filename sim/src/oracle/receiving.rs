//! R: from the door of the receiver to the effect.
//!
//! The monitor keeps what the receiver's database must hold if the lines are true, the requests that
//! have not been answered, and the commit that is being read. Each file below decides some promises:
//! `door` and `answers` R3 R4 R5 R6 R19, `work` R10, `moved` R8 R15, `verdict` R8 R9 R13 R15, `commit`
//! R9, `effects` R6 R7 R14 R16, `letters` R11 R12 R16, `weather` who may be late (R5 R9 R10 R12), and
//! `ends` what only the end can decide.

mod answers;
mod commit;
mod door;
mod effects;
mod ends;
mod letters;
mod moved;
mod packed;
mod receipt;
mod rows;
#[cfg(test)]
mod tests;
mod verdict;
mod weather;
mod work;

use hookproof_core::Millis;

use super::{Breach, Danger, Terms, pack::Names};
use crate::{
    history::{About, Body, DeliveryNo, EntityNo, Fact, Line, Node, Person, ReceiptNo, Side},
    promise::Promise,
};
use commit::Commit;
use door::Door;
use receipt::Receipt;
use rows::Rows;
use weather::Weather;

/// What is known of this half.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    rows: Rows,
    /// What a restore goes back to.
    backup: Option<Box<Rows>>,
    door: Door,
    /// Which entity the bytes are about, by their number.
    about: Vec<Option<EntityNo>>,
    /// Deliveries whose alert was committed and not yet sent, in order.
    alerting: Vec<DeliveryNo>,
    /// The commit being read.
    commit: Option<Commit>,
    /// The audit line of what a person does, until what was done.
    audited: Option<(About, Person)>,
    weather: Weather,
    /// Receipts that may be late. Kept only where lateness counts.
    open: Vec<ReceiptNo>,
    /// An effect was given up on its way outside.
    outside_failed: bool,
    /// The end has said how receipts stand.
    stands: bool,
}

clone_reusing!(Receiving {
    rows,
    backup,
    door,
    about,
    alerting,
    commit,
    audited,
    weather,
    open,
    outside_failed,
    stands,
});

/// A line with what most predicates need of it.
#[derive(Clone, Copy)]
struct Now<'a> {
    terms: &'a Terms,
    /// True time.
    at: Millis,
    by: Node,
    /// On the clock of the receiver's database.
    db: Millis,
}

impl Receiving {
    /// Forgets the history and keeps the memory.
    pub(super) fn reset(&mut self) {
        self.rows.clear();
        self.backup = None;
        self.door.clear();
        self.about.clear();
        self.alerting.clear();
        self.open.clear();
        self.commit = None;
        self.audited = None;
        self.weather = Weather::default();
        self.outside_failed = false;
        self.stands = false;
    }

    /// Takes in the next line.
    pub(super) fn observe(
        &mut self,
        terms: &Terms,
        line: &Line,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        if self.commit.is_some_and(|commit| !commit.goes_on(line)) {
            self.close(terms)?;
        }
        let now = Now { terms, at: line.at, by: line.by, db: self.weather.database(line.at) };
        if terms.timely {
            self.nothing_is_late(now)?;
            self.weather.hear_worker(line);
        }
        self.take(now, &line.fact, danger)
    }

    fn take(&mut self, now: Now<'_>, fact: &Fact, danger: &mut Danger) -> Result<(), Breach> {
        match *fact {
            Fact::Committed { entity, body, .. } => self.committed(body, entity),
            Fact::Settled { delivery, stand, .. } => {
                return self.settled(now, delivery, stand, true);
            }
            Fact::Closed { delivery, stand } => {
                return self.settled(now, delivery, stand, false);
            }
            Fact::Arrived { .. } => self.arrived(now, fact, danger),
            Fact::Received { .. } => return self.received(now, fact, danger),
            Fact::Differed { receipt, body } => return self.differed(now, receipt, body),
            Fact::Answered { .. } => return self.answered(now, fact, danger),
            Fact::WorkClaimed { receipt, fence, strike } => {
                return self.work_claimed(now, receipt, fence, strike, danger);
            }
            Fact::HandlerRan { receipt, outcome } => {
                return self.handler_ran(now, receipt, outcome);
            }
            Fact::Worked { receipt, fence, verdict } => {
                return self.worked(now, receipt, fence, verdict, danger);
            }
            Fact::Moved { .. } => return self.moved(now, fact),
            Fact::Projected { entity, shown } => self.projected(now, entity, shown),
            Fact::Effect { operation, by } => return self.effect(now, operation, by),
            Fact::WorkFailed { .. } => return self.work_failed(now, fact, danger),
            Fact::Woken { receipt, .. } => self.woken(now, receipt),
            Fact::BookedByHand { operation, .. } => {
                return self.booked_by_hand(operation, danger);
            }
            Fact::ExternalCall { operation, key, did } => {
                return self.external_call(now, operation, key, did, danger);
            }
            Fact::Fetched { receipt, fence, entity, state, version } => {
                self.fetched(now, receipt, fence, (entity, (state, version)), danger);
            }
            _ => return self.hear(now, fact, danger),
        }
        Ok(())
    }

    /// Takes in what people and the world do, and the end.
    fn hear(&mut self, now: Now<'_>, fact: &Fact, danger: &mut Danger) -> Result<(), Breach> {
        let audited = core::mem::take(&mut self.audited);
        match *fact {
            Fact::DeadLettered { about, reason } => {
                return self.dead_lettered(now, about, reason, danger);
            }
            Fact::Alerted { about } => return self.alerted(now, about),
            Fact::AlertSent { about } => self.alert_sent(about),
            Fact::Audited { about, by } => self.audited = Some((about, by)),
            Fact::Replayed { receipt, by, allowed, answer } => {
                let audited = audited == Some((About::Receipt(receipt), by));
                return self.replayed(now, receipt, answer, (allowed, audited), danger);
            }
            Fact::Purged { receipt } => return self.purged(now, receipt, danger),
            Fact::BackedUp { side: Side::Receiver } => {
                self.backup = Some(Box::new(self.rows.clone()));
            }
            Fact::Restored { side, .. } => self.restored(now, side),
            Fact::Crashed => self.crashed(now, danger),
            Fact::PowerLost { side: Side::Receiver } => self.power_lost(now, danger),
            Fact::Restarted { .. }
            | Fact::DatabaseUp { .. }
            | Fact::Conflicted
            | Fact::RolledBackByDatabase
            | Fact::CommitUnknown
            | Fact::ClockJumped { .. }
            | Fact::Fault { .. }
            | Fact::Quiet => self.weathered(now, fact, danger),
            Fact::ReceiptStands { receipt, stand, .. } => {
                return self.receipt_stands(receipt, stand);
            }
            Fact::EntityStands { entity, state, version } => {
                return self.entity_stands(now, entity, state, version);
            }
            // The sender's, and what both sides only report.
            _ => {}
        }
        Ok(())
    }

    /// Judges what is owed when nothing more will happen; runs after `observe` of `Ended`.
    pub(super) fn end(
        &mut self,
        terms: &Terms,
        _now: Millis,
        _danger: &mut Danger,
    ) -> Result<(), Breach> {
        self.ended(terms)
    }

    /// Whether a promise can be decided only by a history that has ended.
    pub(super) fn owes_at_end(promise: Promise) -> bool {
        use Promise::{R9, R10, R11, R12, R13, R14, R20};
        matches!(promise, R9 | R10 | R11 | R12 | R13 | R14 | R20)
    }

    /// Whether this history, under these terms, shows what the promise needs (true for the
    /// promises of others).
    pub(super) fn decides(&self, terms: &Terms, promise: Promise) -> bool {
        match promise {
            // Half of it says how long an event may wait.
            Promise::R10 => terms.timely,
            Promise::R13 => self.stands || !self.rows.receipts.iter().any(Receipt::is_present),
            _ => true,
        }
    }

    /// Appends what later verdicts depend on.
    pub(super) fn pack(&self, terms: &Terms, now: Millis, names: Names<'_>, key: &mut Vec<u8>) {
        self.write(terms, now, names, key);
    }

    /// Judges the commit being read: no more of it will come.
    pub(super) fn pause(&mut self, terms: &Terms) -> Result<(), Breach> {
        if self.commit.is_some() { self.close(terms) } else { Ok(()) }
    }

    fn committed(&mut self, body: Body, entity: EntityNo) {
        *super::row(&mut self.about, body.index()) = Some(entity);
    }
}

/// How long before its line a decision can have been made where lateness counts: a transaction reads
/// the time and commits between two looks for due rows.
fn lag_ms(terms: &Terms) -> u64 {
    if terms.timely { terms.poll_ms } else { 0 }
}
