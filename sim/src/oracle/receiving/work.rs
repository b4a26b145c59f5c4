//! Tries and failures of the work (R5, R10).

use super::{
    super::{Breach, Danger, Terms, breach},
    Now, Receiving,
    receipt::{Claim, Mark, Receipt, Stand},
    rows::{Booked, operation, standing},
};
use crate::{
    history::{Fact, HandlerOutcome, ReceiptNo, ReceiptStand, WorkFault},
    promise::Promise,
};
use hookproof_core::{Millis, model::Standing};

impl Receiving {
    /// Takes in `WorkClaimed`.
    pub(super) fn work_claimed(
        &mut self,
        now: Now<'_>,
        number: ReceiptNo,
        fence: u32,
        strike: u16,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let receipt = *self.worked_on(now, number)?;
        let (no, expected) = (number.0, receipt.strikes + 1);
        hold!(
            !receipt.claim.is_some_and(|claim| self.is_at_work(now, &claim)),
            R10,
            "receipt {no} is claimed, and its worker's time is not over"
        );
        hold!(
            receipt.claim.is_some() || receipt.stand != Stand::Retrying || now.db >= receipt.wake,
            R10,
            "receipt {no} is tried again before its wait is over"
        );
        hold!(
            strike == expected,
            R10,
            "receipt {no} is in try {strike}, where try {expected} is next"
        );
        hold!(
            strike <= now.terms.inbox.ladder.attempts(),
            R10,
            "receipt {no} is in try {strike}, and its ladder has fewer"
        );
        self.count_claim(now.terms, &receipt, danger);
        let jumped = now.terms.timely && now.at <= self.weather.astray_until;
        let row = self.rows.receipt_mut(number);
        row.claim = Some(Claim { fence, at: now.db, ran: 0, jumped });
        row.strikes = strike;
        row.wake = Millis(0);
        row.fetched = None;
        row.unmark(Mark::Shaken);
        self.due(now, number, claim_limit_ms(now.terms, strike));
        self.excuse_lateness(now);
        Ok(())
    }

    /// The receipt of a line of the work: it must be there, unfinished, and its request answered.
    fn worked_on(&mut self, now: Now<'_>, number: ReceiptNo) -> Result<&Receipt, Breach> {
        self.not_at_the_door(now.by, number)?;
        let receipt = self.rows.receipt(number);
        hold!(receipt.is_present(), R5, "receipt {} is worked before it is received", number.0);
        if receipt.stand.is_open() { Ok(receipt) } else { Err(done(number, receipt)) }
    }

    fn count_claim(&self, terms: &Terms, receipt: &Receipt, danger: &mut Danger) {
        let asked = operation(terms, receipt);
        let booked = asked.is_some_and(|asked| self.rows.booked(asked) != Booked::No);
        if booked || (asked.is_some() && receipt.claim.is_some()) {
            danger.count(Promise::R7);
        }
        match standing(terms, &self.rows, receipt) {
            Some(Standing::Due(_)) | None => {}
            Some(Standing::Late | Standing::Equal) => {
                danger.count(Promise::R15);
                danger.count(Promise::R20);
            }
            Some(
                Standing::Early | Standing::Overtaken | Standing::Impossible | Standing::Unknown,
            ) => {
                danger.count(Promise::R8);
                danger.count(Promise::R20);
            }
        }
    }

    /// Takes in `HandlerRan`.
    pub(super) fn handler_ran(
        &mut self,
        now: Now<'_>,
        number: ReceiptNo,
        outcome: HandlerOutcome,
    ) -> Result<(), Breach> {
        self.not_at_the_door(now.by, number)?;
        let receipt = self.rows.receipt_mut(number);
        let was = receipt.is_present() || receipt.is(Mark::Gone);
        hold!(was, R5, "receipt {} is worked before it is received", number.0);
        if let Some(claim) = &mut receipt.claim {
            claim.ran |= ran(outcome);
        }
        let receipt = *receipt;
        let asked = operation(now.terms, &receipt);
        let booked = asked.filter(|asked| self.rows.booked(*asked) != Booked::No);
        hold!(
            booked.is_none() || receipt.is(Mark::Shaken),
            R7,
            "the handler of receipt {} ran, and its operation is booked",
            number.0
        );
        Ok(())
    }

    /// Takes in `WorkFailed`.
    pub(super) fn work_failed(
        &mut self,
        now: Now<'_>,
        fact: &Fact,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let Fact::WorkFailed { receipt: number, fence, fault, stand, strike, wait_ms } = *fact
        else {
            return Ok(());
        };
        let receipt = *self.worked_on(now, number)?;
        danger.count(Promise::R10);
        let Some(claim) = receipt.claim.filter(|claim| claim.fence == fence) else {
            return Err(breach(
                Promise::R10,
                format_args!(
                    "a failure of receipt {} was recorded by a claim that is over",
                    number.0
                ),
            ));
        };
        match fault {
            WorkFault::Event => self.climbed(now, number, &claim, strike, wait_ms)?,
            WorkFault::Infrastructure => self.paused(now, number, strike, wait_ms)?,
        }
        let told = match self.rows.receipt(number).stand {
            Stand::Retrying => ReceiptStand::Retrying,
            _ => ReceiptStand::Queued,
        };
        hold!(stand == told, R13, "receipt {} is {told}, and its row says {stand}", number.0);
        self.due(now, number, wait_ms);
        Ok(())
    }

    fn climbed(
        &mut self,
        now: Now<'_>,
        number: ReceiptNo,
        claim: &Claim,
        strike: u16,
        wait_ms: u64,
    ) -> Result<(), Breach> {
        let no = number.0;
        let strikes = self.rows.receipt(number).strikes;
        hold!(
            claim.ran & ran(HandlerOutcome::Failed) != 0,
            R10,
            "receipt {no} climbed its ladder, and its handler did not fail"
        );
        hold!(strike == strikes, R10, "receipt {no} failed in try {strikes}, recorded as {strike}");
        let Some(wait) = now.terms.inbox.ladder.wait(strike, 0) else {
            return Err(breach(
                Promise::R10,
                format_args!("receipt {no} is to be tried again, and its ladder is used up"),
            ));
        };
        let longest = wait + wait / 20;
        hold!(
            (wait..=longest).contains(&wait_ms),
            R10,
            "receipt {no} waits {wait_ms} ms, where its ladder says {wait} to {longest}"
        );
        let receipt = self.rows.receipt_mut(number);
        receipt.conclude(Stand::Retrying);
        // The row's own clock began when the failure was decided, which was after the claim.
        receipt.wake = if claim.jumped { Millis(0) } else { claim.at + wait };
        Ok(())
    }

    /// A fault of the infrastructure climbs nothing, and a replay that it hit has not run.
    fn paused(
        &mut self,
        now: Now<'_>,
        number: ReceiptNo,
        strike: u16,
        wait_ms: u64,
    ) -> Result<(), Breach> {
        let pause_ms = now.terms.inbox.pause_ms;
        hold!(
            wait_ms == pause_ms,
            R10,
            "a fault of the infrastructure puts receipt {} off by {wait_ms} ms, and not by {pause_ms}",
            number.0
        );
        let receipt = self.rows.receipt_mut(number);
        let pardoned = receipt.strikes.saturating_sub(1);
        hold!(
            strike == receipt.strikes || strike == pardoned,
            R10,
            "a fault of the infrastructure moved receipt {} to try {strike}",
            number.0
        );
        let replayed = receipt.is(Mark::Replayed);
        receipt.conclude(match receipt.stand {
            Stand::Retrying => Stand::Retrying,
            _ => Stand::Queued,
        });
        receipt.strikes = pardoned;
        if replayed {
            receipt.mark(Mark::Replayed);
        }
        Ok(())
    }

    /// Takes in `Woken`.
    pub(super) fn woken(&mut self, now: Now<'_>, number: ReceiptNo) {
        let receipt = self.rows.receipt_mut(number);
        if receipt.stand != Stand::Deferred {
            return;
        }
        receipt.wake = Millis(0);
        if receipt.is(Mark::Owed) {
            receipt.unmark(Mark::Owed);
            if let Some(commit) = &mut self.commit {
                commit.owed -= 1;
                if commit.owed == 0 {
                    self.commit = None;
                }
            }
        }
        self.due(now, number, 0);
    }
}

/// Work on a receipt that is finished.
pub(super) fn done(number: ReceiptNo, receipt: &Receipt) -> Breach {
    let no = number.0;
    if receipt.is(Mark::Shaken) {
        let what = format_args!("receipt {no} is worked again: its work was lost with the machine");
        return breach(Promise::R3, what);
    }
    match receipt.stand {
        Stand::InReview => {
            breach(Promise::R10, format_args!("receipt {no} is tried again after it was set aside"))
        }
        _ => breach(Promise::R13, format_args!("receipt {no} is worked again after it was done")),
    }
}

/// The outcome of a handler, as a set of one.
pub(super) fn ran(outcome: HandlerOutcome) -> u8 {
    match outcome {
        HandlerOutcome::Done => 1,
        HandlerOutcome::Failed => 2,
        HandlerOutcome::Infrastructure => 4,
    }
}

/// How long a claim may keep its receipt from others, when its worker dies.
fn claim_limit_ms(terms: &Terms, strike: u16) -> u64 {
    let wait = terms.inbox.ladder.wait(strike, 0).unwrap_or(0);
    terms.inbox.work_limit_ms.max(wait + wait / 20)
}
