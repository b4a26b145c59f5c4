//! What excuses: faults, crashes, clocks; and who is late when nothing does.

use core::iter;

use hookproof_core::Millis;

use super::{
    super::{Breach, Danger, Terms, breach, pack::NEVER},
    Now, Receiving,
    door::Sign,
    lag_ms,
    receipt::{Claim, Mark, Receipt, Stand},
    rows::Rows,
};
use crate::{
    history::{Fact, Family, Line, Node, ReceiptNo, Side},
    promise::Promise,
};

/// What the receiver suffers from.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a trouble of its own")]
pub(super) struct Weather {
    /// How far the clock of its database is ahead of true time.
    ahead_ms: i64,
    /// Its database does not answer.
    pub(super) down: bool,
    /// A database took no writes, or a pool had no room. No line says whose, or when that ended; so it
    /// has where the door stores a receipt.
    pub(super) troubled: bool,
    /// A commit of an ingress hung, and may outlive its answer.
    pub(super) hung: bool,
    /// A worker of it crashed or stalled. For dangers alone.
    workers_troubled: bool,
    /// Its workers that are known to be up, as a set, and those of them that stand still.
    pub(super) up: u64,
    pub(super) stalled: u64,
    /// Until when a decision may commit that was made before its database's clock jumped.
    pub(super) astray_until: Millis,
    /// Whether one ever stood still, and whether the authoritative API ever failed to answer.
    pub(super) stood_still: bool,
    pub(super) mute: bool,
    /// On the database's clock: until then there was an excuse for not taking up what was due. It never
    /// ends once that clock was put back: a deadline may have been decided before and written after, so
    /// nobody can tell any more what is late.
    pub(super) grace: Millis,
    /// On the database's clock: nothing is late before.
    next_check: Millis,
}

impl Default for Weather {
    fn default() -> Self {
        Self {
            ahead_ms: 0,
            down: false,
            troubled: false,
            hung: false,
            workers_troubled: false,
            up: 0,
            stalled: 0,
            astray_until: Millis(0),
            stood_still: false,
            mute: false,
            grace: Millis(0),
            next_check: NEVER,
        }
    }
}

impl Weather {
    /// What the clock of the receiver's database shows.
    pub(super) fn database(&self, at: Millis) -> Millis {
        Millis(at.0.saturating_add_signed(self.ahead_ms))
    }

    pub(super) fn database_is_troubled(&self) -> bool {
        self.down || self.troubled
    }

    pub(super) fn workers_are_troubled(&self) -> bool {
        self.workers_troubled
    }

    /// A worker that says something is up, and does not stand still.
    pub(super) fn hear_worker(&mut self, line: &Line) {
        let Node::Worker(worker) = line.by else { return };
        let bit = 1_u64.checked_shl(u32::from(worker)).unwrap_or(0);
        self.stalled &= !bit;
        self.up = if line.fact == Fact::Crashed { self.up & !bit } else { self.up | bit };
    }

    fn workers_can_work(&self) -> bool {
        self.up != 0 && self.stalled == 0 && !self.database_is_troubled()
    }

    fn stall(&mut self, worker: u8) {
        self.stood_still = true;
        self.stalled |= 1_u64.checked_shl(u32::from(worker)).unwrap_or(0);
    }
}

impl Receiving {
    /// Whether the worker that holds this claim has it for sure: its time is not over, however long
    /// before its line its transaction read the clock.
    pub(super) fn is_at_work(&self, now: Now<'_>, claim: &Claim) -> bool {
        now.terms.timely
            && !self.weather.stood_still
            && !claim.jumped
            && now.db + lag_ms(now.terms) < claim.at + now.terms.inbox.work_limit_ms
    }

    /// Takes in what only excuses, or endangers.
    pub(super) fn weathered(&mut self, now: Now<'_>, fact: &Fact, danger: &mut Danger) {
        match (*fact, now.by) {
            (Fact::DatabaseUp { side: Side::Receiver, up }, _) => {
                self.weather.down = !up;
                self.excuse_all();
            }
            (Fact::Fault { family }, by) => self.struck(now, family, by),
            (Fact::Conflicted | Fact::RolledBackByDatabase, Node::Ingress(ingress)) => {
                self.rolled_back(ingress, Sign::Errored, danger);
            }
            (Fact::CommitUnknown, Node::Ingress(ingress)) => {
                self.rolled_back(ingress, Sign::Excused, danger);
            }
            (Fact::Conflicted, Node::Worker(_)) => {
                danger.count(Promise::R7);
                danger.count(Promise::R8);
            }
            (Fact::ClockJumped { by_ms }, Node::Database(Side::Receiver)) => {
                self.jumped(now, by_ms);
            }
            (Fact::Quiet, _) => {
                self.weather.troubled = false;
                self.weather.workers_troubled = false;
            }
            _ => {}
        }
        self.excuse_lateness(now);
    }

    /// Takes in `Crashed`: what the process had in flight is gone.
    pub(super) fn crashed(&mut self, now: Now<'_>, danger: &mut Danger) {
        match now.by {
            Node::Ingress(ingress) => {
                if self.door.of(ingress).next().is_some() {
                    danger.count(Promise::R3);
                }
                self.door.requests.retain(|request| request.ingress != ingress);
                self.count_unworked(danger);
            }
            Node::Worker(_) => {
                self.weather.workers_troubled = true;
                self.count_unworked(danger);
            }
            _ => {}
        }
        self.excuse_lateness(now);
    }

    /// Takes in `PowerLost` of the receiver.
    pub(super) fn power_lost(&mut self, now: Now<'_>, danger: &mut Danger) {
        if self.rows.receipts.iter().any(|receipt| receipt.is(Mark::Acknowledged)) {
            danger.count(Promise::R3);
        }
        self.count_unworked(danger);
        self.rows.shake();
        self.excuse_all();
        self.excuse_lateness(now);
    }

    /// Takes in `Restored`: the rows are those of the backup, and so are the effects in them.
    pub(super) fn restored(&mut self, now: Now<'_>, side: Side) {
        if side == Side::Sender {
            self.alerting.clear();
            return;
        }
        match &self.backup {
            Some(backup) => self.rows.restore(backup),
            None => self.rows.restore(&Rows::default()),
        }
        self.commit = None;
        self.excuse_all();
        self.excuse_lateness(now);
        self.open.clear();
        for number in (0..self.rows.receipts.len() as u32).map(ReceiptNo) {
            let receipt = self.rows.receipt(number);
            if receipt.stand.is_open() {
                let wait_ms = receipt.due.since(now.db);
                self.due(now, number, wait_ms);
            }
        }
    }

    fn struck(&mut self, now: Now<'_>, family: Family, by: Node) {
        let of_database = [Family::DatabaseDown, Family::DatabaseReadOnly, Family::PoolExhausted]
            .contains(&family);
        match by {
            _ if of_database => {
                self.weather.troubled = true;
                self.excuse_all();
            }
            Node::Ingress(ingress) => {
                let stands = family == Family::Stall && now.terms.timely;
                self.weather.hung |= family == Family::Hang || stands;
                self.door.of(ingress).for_each(|request| request.sign(Sign::Excused));
            }
            Node::Worker(worker) => {
                self.weather.workers_troubled = true;
                self.weather.mute |= family == Family::FailingApi;
                if [Family::Stall, Family::Hang].contains(&family) {
                    self.weather.stall(worker);
                }
            }
            _ => {}
        }
    }

    fn rolled_back(&mut self, ingress: u8, sign: Sign, danger: &mut Danger) {
        for request in self.door.of(ingress) {
            request.sign(sign);
            request.sign(Sign::Excused);
            danger.count(Promise::R3);
        }
    }

    fn excuse_all(&mut self) {
        for request in &mut self.door.requests {
            request.sign(Sign::Excused);
        }
    }

    /// Between the receipt and the work: here a receiver that says too early that it is done loses it.
    fn count_unworked(&self, danger: &mut Danger) {
        if self.rows.receipts.iter().any(|receipt| receipt.stand.is_open()) {
            danger.count(Promise::R13);
        }
    }

    /// The clock of the database moved. Set back, it makes a sweep pull in what sleeps too long, so
    /// that nothing more is known of when it is due.
    fn jumped(&mut self, now: Now<'_>, by_ms: i64) {
        self.weather.ahead_ms = self.weather.ahead_ms.saturating_add(by_ms);
        self.weather.astray_until = now.at + lag_ms(now.terms);
        if by_ms >= 0 {
            return;
        }
        self.weather.grace = NEVER;
        let db = self.weather.database(now.at);
        // What has arrived may be stored by the clock as it is now.
        for request in self.door.requests.iter_mut().filter(|request| request.keep != NEVER) {
            let earlier = request.keep.0.saturating_add_signed(by_ms);
            request.keep = if request.keep <= now.db { Millis(0) } else { Millis(earlier) };
        }
        for rows in iter::once(&mut self.rows).chain(self.backup.as_deref_mut()) {
            rows.receipts.iter_mut().for_each(|receipt| pull_in(receipt, now, db));
        }
    }

    /// Until now there was an excuse for not taking up what was due.
    pub(super) fn excuse_lateness(&mut self, now: Now<'_>) {
        if now.terms.timely && self.weather.grace != NEVER {
            self.weather.grace = self.weather.database(now.at);
        }
    }

    /// The receipt is due after this wait, at the latest.
    pub(super) fn due(&mut self, now: Now<'_>, number: ReceiptNo, wait_ms: u64) {
        if !now.terms.timely {
            return;
        }
        let receipt = self.rows.receipt_mut(number);
        receipt.due = now.db + wait_ms;
        let check = receipt.due + patience_ms(now.terms);
        if !receipt.is(Mark::Listed) {
            receipt.mark(Mark::Listed);
            self.open.push(number);
        }
        self.weather.next_check = self.weather.next_check.min(check);
    }

    /// Judges what waits for longer than anything explains.
    pub(super) fn nothing_is_late(&mut self, now: Now<'_>) -> Result<(), Breach> {
        if let Some(request) = self.door.overdue(now.at) {
            return Err(breach(
                Promise::R5,
                format_args!(
                    "delivery id {} waits for its answer, and no fault is why",
                    request.id.0
                ),
            ));
        }
        if now.db <= self.weather.next_check {
            return Ok(());
        }
        let patience_ms = patience_ms(now.terms);
        if !self.weather.workers_can_work() {
            self.excuse_lateness(now);
            self.weather.next_check = now.db + patience_ms;
            return Ok(());
        }
        match self.first_late(now, patience_ms) {
            Some(number) => self.is_late(number),
            None => Ok(()),
        }
    }

    fn first_late(&mut self, now: Now<'_>, patience_ms: u64) -> Option<ReceiptNo> {
        let Self { open, rows, weather, .. } = self;
        let (mut late, mut next) = (None, NEVER);
        open.retain(|&number| {
            let receipt = rows.receipt_mut(number);
            if !receipt.stand.is_open() {
                receipt.unmark(Mark::Listed);
                return false;
            }
            let check = receipt.due.max(weather.grace) + patience_ms;
            if check < now.db {
                late = late.or(Some(number));
            } else {
                next = next.min(check);
            }
            true
        });
        weather.next_check = if late.is_some() { now.db + patience_ms } else { next };
        late
    }

    /// An event that waits although workers have time. Where nothing failed it is no other event's
    /// doing, and the end will show that it was left.
    fn is_late(&self, number: ReceiptNo) -> Result<(), Breach> {
        let (no, receipt) = (number.0, self.rows.receipt(number));
        let fails = |number: &ReceiptNo| self.rows.receipt(*number).stand == Stand::Retrying;
        hold!(
            !receipt.is(Mark::Replayed),
            R12,
            "receipt {no} was replayed, and nobody works on it"
        );
        hold!(
            !self.open.iter().any(fails),
            R10,
            "receipt {no} is due, an event fails, and nobody works on it"
        );
        hold!(
            receipt.stand != Stand::Deferred || receipt.claim.is_some(),
            R9,
            "receipt {no} is deferred, its timer is over, and nobody looks at it"
        );
        Ok(())
    }
}

/// The clock was set back to `db`: what had passed has passed, and what sleeps may be pulled in.
fn pull_in(receipt: &mut Receipt, now: Now<'_>, db: Millis) {
    if receipt.keep <= now.db {
        receipt.keep = Millis(0);
    }
    if receipt.cap.latest <= now.db {
        receipt.cap.latest = NEVER;
    }
    receipt.cap.earliest = match receipt.cap.earliest {
        passed if passed <= now.db => Millis(0),
        // What was not claimed yet may count from here.
        ahead => ahead.min(db + now.terms.inbox.defer_cap_ms),
    };
    receipt.wake = Millis(0);
    if receipt.stand.is_open() {
        receipt.mark(Mark::Adrift);
    }
    if let Some(claim) = &mut receipt.claim {
        claim.at = claim.at.min(db);
        claim.jumped = true;
    }
}

/// How long an event that is due may wait for a worker, if workers have time: one piece of work, two
/// looks for due rows, and a pause after an outage.
pub(super) fn patience_ms(terms: &Terms) -> u64 {
    terms.inbox.work_limit_ms + 2 * terms.poll_ms + terms.inbox.pause_ms + MARGIN_MS
}

/// How much later than its limit something may be noticed.
const MARGIN_MS: u64 = 5_000;
