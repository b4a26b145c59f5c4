//! The receiver's work: claim a receipt, hold its event against the entity, and record what came of
//! it. Three plans, so that a failing handler rolls its own transaction back and nothing else.

mod ground;

use alloc::{vec, vec::Vec};

pub use self::ground::Ground;
use crate::{
    Id, Millis, Reason,
    inbox::{End, Receipt, Stand},
    model::{Early, Operation, Proposal, Standing, State},
    outbox::{Delivery, Subject},
    plan::{About, Audit, Plan, Put, Write},
    profile::InboxPolicy,
};

/// What a claim of a receipt gives out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// The right to work on it.
    Work(Job),
    /// Its workers died on it too often: it was set aside.
    SetAside,
}

/// A claimed receipt: the right to record one outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Job {
    receipt: Id,
    fence: u32,
}

/// What came of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Worked {
    /// It is done.
    Done(End),
    /// It waits for its prerequisite.
    Deferred {
        /// Until when at the latest.
        wake: Millis,
    },
    /// It was set aside.
    SetAside(Reason),
    /// The authoritative API must be asked, outside any transaction, and [`Job::fetched`] told.
    Refetch,
}

/// Whose fault a failure was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The event's, or its handler's: it climbs.
    Event,
    /// The infrastructure's: it climbs nothing (R10).
    Infrastructure,
}

/// What came of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failed {
    /// It is due again then.
    Retrying {
        /// When.
        wake: Millis,
    },
    /// Its ladder is used up: it was set aside.
    SetAside(Reason),
}

/// The authoritative API's word on an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fetched {
    /// The state there.
    pub state: State,
    /// Its version; ignored where the order is the graph's.
    pub version: u64,
}

impl Receipt {
    /// Takes a due receipt for work and counts the strike. If its worker dies it is due again once
    /// the work limit is over. It sleeps no more, so a wake leaves it alone: whoever works on it finds
    /// the entity under its lock, and a second worker would only cost it strikes.
    pub fn claim(&self, now: Millis, policy: &InboxPolicy) -> Option<Plan<Claim>> {
        let wake = now + policy.work_limit_ms;
        let stand = match self.stand {
            Stand::Queued { wake: due }
            | Stand::Deferred { wake: due }
            | Stand::Retrying { wake: due }
                if due > now =>
            {
                return None;
            }
            Stand::Queued { .. } | Stand::Deferred { .. } => Stand::Queued { wake },
            Stand::Retrying { .. } => Stand::Retrying { wake },
            Stand::Done(_) | Stand::Ignored | Stand::InReview(_) => return None,
        };
        if self.strikes >= policy.ladder.attempts() {
            return Some(Plan::new(self.set_aside(Reason::WorkerLost), Claim::SetAside));
        }
        let fence = self.fence.wrapping_add(1);
        let cap = if self.fence == 0 { now + policy.defer_cap_ms } else { self.cap };
        let row = Self { strikes: self.strikes.saturating_add(1), fence, cap, ..self.next(stand) };
        Some(Plan::new(vec![self.put(row)], Claim::Work(Job { receipt: self.id, fence })))
    }

    fn set_aside(&self, reason: Reason) -> Vec<Write> {
        let alert = Write::Alert { about: About::Receipt(self.id), reason };
        vec![self.put(self.next(Stand::InReview(reason))), alert]
    }

    fn finish(&self, end: End) -> Write {
        let applied = self.applied || end == End::Applied;
        let end = if self.applied { End::Applied } else { end };
        self.put(Self { applied, strikes: 0, ..self.next(Stand::Done(end)) })
    }

    /// A strike that does not count.
    fn pardoned(&self) -> u16 {
        self.strikes.saturating_sub(1)
    }

    fn is_held_by(&self, job: Job) -> bool {
        self.id == job.receipt && self.fence == job.fence && self.wake().is_some()
    }
}

impl Job {
    /// The receipt that it is about.
    pub const fn receipt(&self) -> Id {
        self.receipt
    }

    /// The claim's number.
    pub const fn fence(&self) -> u32 {
        self.fence
    }

    /// Decides what the event does to the entity that it finds. `receipt` is the row as it stands;
    /// `None`: the claim was taken over.
    pub fn work(
        &self,
        receipt: &Receipt,
        ground: &Ground<'_>,
        now: Millis,
        policy: &InboxPolicy,
    ) -> Option<Plan<Worked>> {
        let proposal = self.proposal(receipt)?;
        Some(match ground.standing(&proposal) {
            Standing::Due(to) => apply(receipt, ground, &proposal, Some(to), now),
            Standing::Late => apply(receipt, ground, &proposal, None, now),
            Standing::Equal => Plan::new(vec![], Worked::Refetch),
            Standing::Early if ground.model.early() == Early::Refetch => {
                Plan::new(vec![], Worked::Refetch)
            }
            Standing::Early => defer(receipt, ground, &proposal, now, policy),
            Standing::Overtaken | Standing::Impossible if ground.booked => {
                end(receipt, ground, &proposal, End::AlreadyBooked)
            }
            Standing::Overtaken => end(receipt, ground, &proposal, End::Overtaken),
            // A replay finds its own work done and passed.
            Standing::Impossible if receipt.applied => {
                end(receipt, ground, &proposal, End::Overtaken)
            }
            Standing::Impossible | Standing::Unknown => {
                set_aside(receipt, ground, &proposal, Reason::Impossible)
            }
        })
    }

    /// Decides on what the authoritative API said (R15): it moves the entity forward or not at all.
    /// `None` in `fetched`: it could not be asked, and the event waits like any deferred one. If the
    /// entity moved meanwhile so that there is nothing to ask any more, the entity decides.
    pub fn fetched(
        &self,
        receipt: &Receipt,
        ground: &Ground<'_>,
        fetched: Option<Fetched>,
        now: Millis,
        policy: &InboxPolicy,
    ) -> Option<Plan<Worked>> {
        let proposal = self.proposal(receipt)?;
        match ground.standing(&proposal) {
            Standing::Early | Standing::Equal => {}
            Standing::Due(_)
            | Standing::Late
            | Standing::Overtaken
            | Standing::Impossible
            | Standing::Unknown => return self.work(receipt, ground, now, policy),
        }
        let Some(fetched) = fetched.filter(|f| ground.covers(*f, &proposal)) else {
            return Some(defer(receipt, ground, &proposal, now, policy));
        };
        if !ground.is_news(fetched) {
            return Some(end(receipt, ground, &proposal, End::Overtaken));
        }
        let writes = vec![
            ground.move_to(fetched.state, fetched.version),
            receipt.finish(End::Applied),
            Write::Wake { entity: ground.entity.id },
        ];
        Some(Plan::new(writes, Worked::Done(End::Applied)))
    }

    /// Records a failure after its transaction was rolled back. `None`: the claim was taken over.
    pub fn fail(
        &self,
        receipt: &Receipt,
        fault: Fault,
        now: Millis,
        roll: u64,
        policy: &InboxPolicy,
    ) -> Option<Plan<Failed>> {
        if !receipt.is_held_by(*self) {
            return None;
        }
        let (strikes, wait) = match fault {
            Fault::Event => (receipt.strikes, policy.ladder.wait(receipt.strikes, roll)),
            Fault::Infrastructure => (receipt.pardoned(), Some(policy.pause_ms)),
        };
        let Some(wait) = wait else {
            let reason = Reason::Failing;
            return Some(Plan::new(receipt.set_aside(reason), Failed::SetAside(reason)));
        };
        let wake = now + wait;
        let stand = match (fault, receipt.stand) {
            // An outage is not the event's doing: it stays what it was.
            (Fault::Infrastructure, Stand::Queued { .. }) => Stand::Queued { wake },
            (Fault::Infrastructure | Fault::Event, _) => Stand::Retrying { wake },
        };
        let row = Receipt { strikes, fence: receipt.fence.wrapping_add(1), ..receipt.next(stand) };
        Some(Plan::new(vec![receipt.put(row)], Failed::Retrying { wake }))
    }

    fn proposal(&self, receipt: &Receipt) -> Option<Proposal> {
        receipt.proposal.filter(|_| receipt.is_held_by(*self))
    }
}

/// Books an operation by hand: what an event asks for later finds it done.
pub fn book(operation: Operation, by: Id) -> Plan<()> {
    let audit = Write::Audit(Audit::Booked { operation, by });
    Plan::new(vec![Write::Operation(operation), audit], ())
}

/// The event's turn: the state moves, and the operation is booked unless somebody else did. A late
/// entry of a ledger moves nothing and holds nothing: what is newer than it stays so.
fn apply(
    receipt: &Receipt,
    ground: &Ground<'_>,
    proposal: &Proposal,
    to: Option<State>,
    now: Millis,
) -> Plan<Worked> {
    let operation = ground.model.operation(proposal);
    let booked = operation.is_some() && ground.booked;
    let end = if booked { End::AlreadyBooked } else { End::Applied };
    let moved = to.map(|to| ground.move_to(to, proposal.version));
    let mut writes: Vec<Write> = moved.into_iter().collect();
    match operation {
        Some(operation) if !booked => {
            writes.extend([Write::Operation(operation), receipt.finish(end)]);
            writes.extend(effect_outside(ground, proposal, operation, now));
            writes.push(Write::Wake { entity: ground.entity.id });
            writes.push(Write::Handle { receipt: receipt.id, operation });
        }
        Some(_) | None => {
            writes.extend([receipt.finish(end), Write::Wake { entity: ground.entity.id }]);
        }
    }
    Plan::new(writes, Worked::Done(end))
}

fn effect_outside(
    ground: &Ground<'_>,
    proposal: &Proposal,
    operation: Operation,
    now: Millis,
) -> Option<Write> {
    if !ground.model.rule(proposal.event)?.external {
        return None;
    }
    assert!(
        ground.outside.is_some(),
        "an effect outside is booked beside its delivery or not at all"
    );
    let (target, id) = ground.outside?;
    let row = Delivery::made(id, Subject::Effect(operation), target, now);
    Some(Write::Delivery(Put { was: None, row }))
}

/// Too early: it waits for the wake or the timer, at most until its cap, and gives its strike back.
fn defer(
    receipt: &Receipt,
    ground: &Ground<'_>,
    proposal: &Proposal,
    now: Millis,
    policy: &InboxPolicy,
) -> Plan<Worked> {
    if now >= receipt.cap {
        return set_aside(receipt, ground, proposal, Reason::DeferralCap);
    }
    let wake = receipt.cap.min(now + policy.defer_timer_ms);
    let (strikes, fence) = (receipt.pardoned(), receipt.fence.wrapping_add(1));
    let row = Receipt { strikes, fence, ..receipt.next(Stand::Deferred { wake }) };
    let writes = vec![ground.project(proposal), receipt.put(row)];
    Plan::new(writes, Worked::Deferred { wake })
}

fn end(receipt: &Receipt, ground: &Ground<'_>, proposal: &Proposal, end: End) -> Plan<Worked> {
    Plan::new(vec![ground.withdraw(proposal), receipt.finish(end)], Worked::Done(end))
}

/// Set aside on the strength of an entity that was only read: the read is guarded all the same.
fn set_aside(
    receipt: &Receipt,
    ground: &Ground<'_>,
    proposal: &Proposal,
    reason: Reason,
) -> Plan<Worked> {
    let mut writes = vec![ground.withdraw(proposal)];
    writes.extend(receipt.set_aside(reason));
    Plan::new(writes, Worked::SetAside(reason))
}
