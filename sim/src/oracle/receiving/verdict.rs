//! What the work did to its entity, and what it said of it (R8, R9, R10, R11, R13, R15, R19).

use hookproof_core::model::{Early, Entity, Kind, Model, Order, Proposal, Standing, State};

use super::{
    super::{Breach, Danger, breach},
    Now, Receiving,
    commit::Commit,
    receipt::{Mark, Receipt, Stand},
    rows::{Booked, model, operation},
    work::{done, ran},
};
use crate::{
    history::{About, HandlerOutcome, OperationKey, Reading, Reason, ReceiptNo, Verdict},
    promise::Promise,
};

/// A verdict and what it has to agree with.
struct Scene<'a> {
    no: u32,
    receipt: &'a Receipt,
    model: &'a Model,
    proposal: Proposal,
    /// The entity as it was, and as the commit leaves it.
    before: Entity,
    after: Entity,
    /// What the commit leaves shown as projected.
    projected: Option<State>,
    /// Where the event stood to the entity as it was.
    standing: Standing,
    /// The operation that the event asks for, and who had booked it before.
    operation: Option<OperationKey>,
    booked: Booked,
    /// The commit had an effect.
    effect: bool,
    /// The authoritative API may not have answered.
    mute: bool,
}

impl Receiving {
    /// Takes in `Worked`, which concludes its commit.
    pub(super) fn worked(
        &mut self,
        now: Now<'_>,
        number: ReceiptNo,
        fence: u32,
        verdict: Verdict,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let commit = self.commit.take();
        self.not_at_the_door(now.by, number)?;
        let receipt = *self.rows.receipt(number);
        let no = number.0;
        hold!(receipt.is_present(), R5, "receipt {no} is worked before it is received");
        if !receipt.stand.is_open() {
            return Err(done(number, &receipt));
        }
        // Whoever finds that its workers died has no claim of its own.
        let held = receipt.claim.is_some_and(|claim| claim.fence == fence);
        hold!(
            held || verdict == Verdict::SetAside(Reason::WorkerLost),
            R13,
            "the outcome of receipt {no} was recorded by a claim that is over"
        );
        let lost = verdict == Verdict::SetAside(Reason::WorkerLost);
        let works = receipt.claim.is_some_and(|claim| self.is_at_work(now, &claim));
        hold!(!(lost && works), R11, "receipt {no} is said to have lost its worker, and has not");
        self.judge(now, number, &receipt, verdict, commit.as_ref())?;
        self.stand(now, number, &receipt, verdict, danger);
        self.concluded(now, commit);
        Ok(())
    }

    /// A receipt set aside in a commit that says nothing else of it.
    pub(super) fn set_aside_alone(
        &mut self,
        now: Now<'_>,
        commit: &Commit,
        about: About,
        reason: Reason,
    ) -> Result<(), Breach> {
        let About::Receipt(number) = about else { return Ok(()) };
        let receipt = *self.rows.receipt(number);
        if !receipt.stand.is_open() {
            return Ok(());
        }
        self.judge(now, number, &receipt, Verdict::SetAside(reason), Some(commit))?;
        self.stand(now, number, &receipt, Verdict::SetAside(reason), &mut Danger::default());
        Ok(())
    }

    fn judge(
        &self,
        now: Now<'_>,
        number: ReceiptNo,
        receipt: &Receipt,
        verdict: Verdict,
        commit: Option<&Commit>,
    ) -> Result<(), Breach> {
        let no = number.0;
        match receipt.reading {
            Reading::Event { .. } => {
                if let Some(scene) = self.scene(now, number, receipt, commit) {
                    scene.judge(verdict, now)?;
                }
            }
            Reading::Unreadable => hold!(
                verdict == Verdict::SetAside(Reason::Unreadable),
                R19,
                "receipt {no} cannot be read, and it was not set aside for that"
            ),
            // Replayed under a newer software, which reads it in a way that no line tells.
            Reading::UnknownType => {}
        }
        if let Verdict::SetAside(reason) = verdict {
            let letter = commit.and_then(|commit| commit.letter_about(number));
            hold!(letter.is_some(), R11, "receipt {no} was set aside without a dead letter");
            hold!(letter == Some(reason), R11, "receipt {no} was set aside for two reasons");
            let alerted = commit.is_some_and(|commit| commit.alerted);
            hold!(alerted, R11, "no alert committed with the dead letter of receipt {no}");
        }
        Ok(())
    }

    fn scene<'a>(
        &self,
        now: Now<'a>,
        number: ReceiptNo,
        receipt: &'a Receipt,
        commit: Option<&Commit>,
    ) -> Option<Scene<'a>> {
        let (entity, proposal) = (receipt.entity()?, receipt.proposal()?);
        let model = model(now.terms, entity)?;
        let after = self.rows.entity(entity).as_row(entity);
        let before = match commit.and_then(|commit| commit.before) {
            Some((moved, state, version)) if moved == entity => Entity { state, version, ..after },
            Some(_) | None => after,
        };
        let projected = self.rows.entity(entity).projected;
        let operation = operation(now.terms, receipt);
        let effect = commit.and_then(|commit| commit.effect);
        let booked = match operation {
            Some(operation) if effect != Some(operation) => self.rows.booked(operation),
            Some(_) | None => Booked::No,
        };
        Some(Scene {
            no: number.0,
            receipt,
            model,
            proposal,
            before,
            after,
            projected,
            standing: model.standing(&before, &proposal),
            operation,
            booked,
            effect: effect.is_some(),
            mute: self.weather.mute || !now.terms.timely,
        })
    }

    /// The receipt stands as the verdict says.
    fn stand(
        &mut self,
        now: Now<'_>,
        number: ReceiptNo,
        receipt: &Receipt,
        verdict: Verdict,
        danger: &mut Danger,
    ) {
        let row = self.rows.receipt_mut(number);
        match verdict {
            Verdict::Applied => {
                row.conclude(Stand::Applied);
                row.mark(Mark::Applied);
                row.mark(Mark::Counted);
            }
            Verdict::AlreadyBooked => {
                row.conclude(Stand::AlreadyBooked);
                row.mark(Mark::Counted);
                danger.count(Promise::R7);
            }
            Verdict::Overtaken => {
                row.conclude(Stand::Overtaken);
                row.mark(Mark::Counted);
            }
            Verdict::Deferred { timer_ms, cap_ms } => {
                danger.count(Promise::R9);
                row.conclude(Stand::Deferred);
                row.strikes = row.strikes.saturating_sub(1);
                if let Some(claim) = receipt.claim.filter(|claim| !claim.jumped) {
                    row.wake = claim.at + timer_ms;
                    row.cap.earliest = row.cap.earliest.max(claim.at + cap_ms);
                    row.cap.latest = row.cap.latest.min(now.db + cap_ms);
                }
                self.due(now, number, timer_ms);
            }
            Verdict::SetAside(_) => {
                row.conclude(Stand::InReview);
                row.mark(Mark::Alerting);
            }
        }
    }
}

impl Scene<'_> {
    fn judge(&self, verdict: Verdict, now: Now<'_>) -> Result<(), Breach> {
        match verdict {
            Verdict::Applied => self.applied(),
            Verdict::AlreadyBooked => self.already_booked(),
            Verdict::Overtaken => self.overtaken(),
            Verdict::Deferred { timer_ms, cap_ms } => self.deferred(timer_ms, cap_ms, now),
            Verdict::SetAside(reason) => self.set_aside(reason, now),
        }?;
        self.shows(verdict)
    }

    /// An early event shows what it intends, until that is reached or will not be (R9).
    fn shows(&self, verdict: Verdict) -> Result<(), Breach> {
        if self.model.early() != Early::Project {
            return Ok(());
        }
        let no = self.no;
        let intended = self.model.rule(self.proposal.event).map(|rule| rule.to);
        let ahead = |state: State, of: State| state != of && self.model.leads(of, state);
        match (verdict, self.projected, intended) {
            (Verdict::Deferred { .. }, None, _) => {
                breaks!(R9, "receipt {no} is deferred, and nothing is shown as projected")
            }
            (Verdict::Deferred { .. }, Some(shown), Some(intended)) => {
                let told = shown == intended || !ahead(intended, shown);
                hold!(told, R9, "receipt {no} is deferred, and what it intends is not projected");
            }
            (Verdict::Applied | Verdict::AlreadyBooked, Some(shown), _) => {
                let told = ahead(shown, self.after.state);
                hold!(told, R9, "receipt {no} is done, and what is reached is shown as projected");
            }
            // What is set aside because it fails may still be replayed, and is intended.
            (
                Verdict::SetAside(Reason::DeferralCap | Reason::Impossible) | Verdict::Overtaken,
                Some(shown),
                Some(intended),
            ) => {
                let told = shown != intended;
                hold!(told, R9, "receipt {no} is not to be applied, and still projected");
            }
            (_, _, _) => {}
        }
        Ok(())
    }

    fn applied(&self) -> Result<(), Breach> {
        let no = self.no;
        let ran_since = self.receipt.claim.map_or(0, |claim| claim.ran);
        hold!(
            ran_since == 0 || ran_since & ran(HandlerOutcome::Done) != 0,
            R10,
            "receipt {no} was marked applied, and its handler failed"
        );
        let own = self.booked == Booked::By(ReceiptNo(no)) || self.receipt.is(Mark::Applied);
        hold!(
            self.effect || own || self.booked == Booked::No,
            R13,
            "receipt {no} was marked applied, and its operation had been booked by somebody else"
        );
        self.applied_in_its_turn()
    }

    /// Where the authoritative API decided, the entity moved to what it said.
    fn is_news(&self) -> bool {
        (self.before.state, self.before.version) != (self.after.state, self.after.version)
    }

    fn applied_in_its_turn(&self) -> Result<(), Breach> {
        let no = self.no;
        match self.standing {
            Standing::Due(_) => Ok(()),
            Standing::Late => {
                hold!(
                    self.before.state == self.after.state,
                    R15,
                    "receipt {no} is older than what its ledger has, and changed the state"
                );
                Ok(())
            }
            Standing::Early => {
                hold!(self.is_contained(), R8, "receipt {no} was applied before its prerequisite");
                hold!(self.is_news(), R13, "receipt {no} was marked applied, and changed nothing");
                Ok(())
            }
            Standing::Equal => {
                hold!(
                    self.is_contained(),
                    R15,
                    "receipt {no} is as new as its entity, and nobody asked"
                );
                hold!(self.is_news(), R13, "receipt {no} was marked applied, and changed nothing");
                Ok(())
            }
            // A replay finds its own work done.
            Standing::Overtaken | Standing::Impossible => {
                hold!(
                    self.is_contained() || self.receipt.is(Mark::Applied),
                    R8,
                    "receipt {no} was applied to an entity that does not lead to it"
                );
                Ok(())
            }
            Standing::Unknown => self.unknown(),
        }
    }

    fn already_booked(&self) -> Result<(), Breach> {
        let no = self.no;
        if self.booked == Booked::No {
            let Some(operation) = self.operation else {
                breaks!(R13, "receipt {no} was marked already booked, and asks for no operation")
            };
            breaks!(R13, "receipt {no} was marked already booked, and {operation} was not");
        }
        hold!(
            self.standing != Standing::Early || self.is_contained(),
            R8,
            "receipt {no} came too early, and was dropped because its operation was booked"
        );
        Ok(())
    }

    fn overtaken(&self) -> Result<(), Breach> {
        let no = self.no;
        hold!(!self.effect, R8, "receipt {no} was overtaken, and had an effect");
        hold!(!self.is_news(), R13, "receipt {no} was marked overtaken, and moved its entity");
        hold!(
            self.booked == Booked::No || self.receipt.is(Mark::Applied),
            R13,
            "receipt {no} was marked overtaken, and its operation is booked"
        );
        // A replay finds its own work done and passed.
        let replayed = self.receipt.is(Mark::Applied);
        let ok = match self.standing {
            Standing::Overtaken => true,
            Standing::Early | Standing::Equal => self.is_contained(),
            Standing::Impossible => replayed || self.is_contained(),
            Standing::Late => replayed,
            Standing::Due(_) => false,
            Standing::Unknown => return self.unknown(),
        };
        if ok {
            return Ok(());
        }
        let (promise, why) = match (self.model.kind(), self.standing) {
            (Kind::Ledger, _) => (Promise::R15, "its ledger keeps every event"),
            (Kind::Latest, Standing::Equal) => (Promise::R15, "only the API can tell"),
            (Kind::Latest, Standing::Early) => (Promise::R8, "it came too early"),
            (Kind::Latest, _) => (Promise::R8, "nothing newer was there"),
        };
        Err(breach(promise, format_args!("receipt {no} was dropped as overtaken: {why}")))
    }

    fn deferred(&self, timer_ms: u64, cap_ms: u64, now: Now<'_>) -> Result<(), Breach> {
        let no = self.no;
        let policy = &now.terms.inbox;
        hold!(!self.effect, R8, "receipt {no} was deferred, and had an effect");
        hold!(
            !matches!(self.standing, Standing::Due(_) | Standing::Late),
            R9,
            "receipt {no} was deferred, and its prerequisite is applied"
        );
        hold!(
            self.standing != Standing::Impossible,
            R8,
            "receipt {no} was deferred, and it can never be applied"
        );
        hold!(
            self.mute || !self.is_told(),
            R15,
            "receipt {no} was deferred, and the API said what it waits for"
        );
        hold!(timer_ms <= cap_ms, R9, "receipt {no} is deferred past its cap");
        hold!(
            timer_ms <= policy.defer_timer_ms + policy.defer_timer_ms / 20,
            R9,
            "receipt {no} is deferred for {timer_ms} ms, longer than the timer"
        );
        let adrift = self.receipt.is(Mark::Adrift);
        hold!(
            0 < cap_ms && (adrift || cap_ms <= policy.defer_cap_ms),
            R9,
            "receipt {no} is deferred past its cap ({cap_ms} ms are left)"
        );
        let latest = self.receipt.cap.latest;
        let moved = self.receipt.claim.is_some_and(|claim| claim.at + cap_ms > latest);
        hold!(adrift || !moved, R9, "receipt {no} is deferred again, and its cap was moved");
        Ok(())
    }

    fn set_aside(&self, reason: Reason, now: Now<'_>) -> Result<(), Breach> {
        let no = self.no;
        match reason {
            Reason::None => hold!(false, R11, "receipt {no} was set aside without a reason"),
            Reason::Failing | Reason::WorkerLost => hold!(
                self.receipt.strikes >= now.terms.inbox.ladder.attempts(),
                R10,
                "receipt {no} was set aside in try {}, and the ladder has more",
                self.receipt.strikes
            ),
            Reason::DeferralCap => {
                hold!(
                    matches!(self.standing, Standing::Early | Standing::Equal),
                    R9,
                    "receipt {no} was set aside at its cap, and it waits for nothing"
                );
                hold!(
                    now.db >= self.receipt.cap.earliest,
                    R9,
                    "receipt {no} was set aside before its cap"
                );
            }
            Reason::Impossible => {
                hold!(
                    matches!(self.standing, Standing::Impossible | Standing::Unknown),
                    R8,
                    "receipt {no} was set aside as impossible, and it is not"
                );
                hold!(
                    !self.receipt.is(Mark::Applied) && self.booked == Booked::No,
                    R12,
                    "receipt {no} was set aside as impossible, and what it asks for is done"
                );
            }
            Reason::Unreadable => {
                hold!(false, R19, "receipt {no} was set aside as unreadable, and it was read");
            }
            Reason::Exhausted
            | Reason::Unanswered
            | Reason::Gone
            | Reason::ClaimLost
            | Reason::EndpointGone
            | Reason::Operator => {
                hold!(false, R11, "receipt {no} was set aside for a reason of the sender");
            }
        }
        Ok(())
    }

    fn unknown(&self) -> Result<(), Breach> {
        let what =
            format_args!("receipt {} was worked, and its entity does not know the type", self.no);
        Err(breach(Promise::R19, what))
    }

    /// Whether what the authoritative API said last contains the event.
    fn is_told(&self) -> bool {
        self.receipt.fetched.is_some_and(|(state, version)| match self.model.order() {
            Order::Graph => {
                let rule = self.model.rule(self.proposal.event);
                rule.is_some_and(|rule| self.model.leads(rule.to, state))
            }
            Order::Version | Order::Sequence | Order::Instant => version >= self.proposal.version,
        })
    }

    /// Whether the authoritative API was asked, and the entity is now at least as new as the event.
    fn is_contained(&self) -> bool {
        let told = self.receipt.fetched.is_some();
        told && match self.model.order() {
            Order::Graph => {
                let rule = self.model.rule(self.proposal.event);
                rule.is_some_and(|rule| self.model.leads(rule.to, self.after.state))
            }
            Order::Version | Order::Sequence | Order::Instant => {
                self.after.version >= self.proposal.version
            }
        }
    }
}
