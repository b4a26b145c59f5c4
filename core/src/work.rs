//! The receiver's work: claim a receipt, hold its event against the entity, and record what came of
//! it. Three plans, so that a failing handler rolls its own transaction back and nothing else.

use alloc::{vec, vec::Vec};

use crate::{
    Id, Millis, Reason,
    inbox::{End, Receipt, Stand},
    model::{Early, Entity, Model, Operation, Order, Proposal, Standing, State},
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

/// What the work needs besides the receipt, all loaded for it.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The entity, under its lock.
    pub entity: &'a Entity,
    /// The entity's type.
    pub model: &'a Model,
    /// Whether the operation that the event asks for was found booked. Booked is for ever; that it
    /// is not is guarded by the insert.
    pub booked: bool,
    /// Where effects outside go, and the key that a delivery to it would get.
    pub outside: Option<(Id, Id)>,
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
    /// the work limit is over.
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
            Stand::Queued { .. } => Stand::Queued { wake },
            Stand::Deferred { .. } => Stand::Deferred { wake },
            Stand::Retrying { .. } => Stand::Retrying { wake },
            Stand::Done(_) | Stand::Ignored | Stand::InReview(_) => return None,
        };
        if self.strikes >= policy.ladder.attempts() {
            return Some(Plan::new(self.set_aside(Reason::WorkerLost), Claim::SetAside));
        }
        let fence = self.fence + 1;
        let row = Self { strikes: self.strikes + 1, fence, ..self.next(stand) };
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
        let standing = ground.model.standing(ground.entity, &proposal);
        Some(match standing {
            Standing::Due(to) => apply(receipt, ground, &proposal, Some(to), now),
            Standing::Late => apply(receipt, ground, &proposal, None, now),
            Standing::Equal => Plan::new(vec![], Worked::Refetch),
            Standing::Early if ground.model.early() == Early::Refetch => {
                Plan::new(vec![], Worked::Refetch)
            }
            Standing::Early => defer(receipt, ground, &proposal, now, policy),
            Standing::Overtaken | Standing::Impossible if ground.booked => {
                end(receipt, ground, End::AlreadyBooked)
            }
            Standing::Overtaken => end(receipt, ground, End::Overtaken),
            Standing::Impossible | Standing::Unknown => {
                set_aside(receipt, ground, Reason::Impossible)
            }
        })
    }

    /// Decides on what the authoritative API said (R15): it moves the entity forward or not at all.
    /// `None` in `fetched`: it could not be asked, and the event waits like any deferred one.
    pub fn fetched(
        &self,
        receipt: &Receipt,
        ground: &Ground<'_>,
        fetched: Option<Fetched>,
        now: Millis,
        policy: &InboxPolicy,
    ) -> Option<Plan<Worked>> {
        let proposal = self.proposal(receipt)?;
        let Some(fetched) = fetched.filter(|f| ground.model.covers(f.state, f.version, &proposal))
        else {
            return Some(defer(receipt, ground, &proposal, now, policy));
        };
        let entity = ground.entity;
        if !ground.model.is_newer(entity, fetched.state, fetched.version) {
            return Some(end(receipt, ground, End::Overtaken));
        }
        let moved = Entity {
            rev: entity.rev + 1,
            state: fetched.state,
            version: fetched.version.max(entity.version),
            projected: None,
            ..*entity
        };
        let writes = vec![
            Write::Entity(Put { was: Some(entity.rev), row: moved }),
            receipt.finish(End::Applied),
            Write::Wake { entity: entity.id },
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
            (Fault::Infrastructure, Stand::Deferred { .. }) => Stand::Deferred { wake },
            (Fault::Infrastructure | Fault::Event, _) => Stand::Retrying { wake },
        };
        let row = Receipt { strikes, ..receipt.next(stand) };
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

/// The event's turn: the state moves, and the operation is booked unless somebody else did.
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
    let mut writes = vec![match to {
        Some(to) => move_to(ground.entity, to, proposal.version),
        None => hold(ground.entity),
    }];
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
    let (target, id) = ground.outside?;
    let outside = ground.model.rule(proposal.event).is_some_and(|rule| rule.external);
    outside.then(|| {
        let row = Delivery::made(id, Subject::Effect(operation), target, now);
        Write::Delivery(Put { was: None, row })
    })
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
        return set_aside(receipt, ground, Reason::DeferralCap);
    }
    let wake = receipt.cap.min(now + policy.defer_timer_ms);
    let row = Receipt { strikes: receipt.pardoned(), ..receipt.next(Stand::Deferred { wake }) };
    let writes = vec![project(ground, proposal), receipt.put(row)];
    Plan::new(writes, Worked::Deferred { wake })
}

fn project(ground: &Ground<'_>, proposal: &Proposal) -> Write {
    let intended = ground.model.rule(proposal.event).map(|rule| rule.to);
    let entity = ground.entity;
    if ground.model.early() != Early::Project || entity.projected == intended {
        return hold(entity);
    }
    let row = Entity { rev: entity.rev + 1, projected: intended, ..*entity };
    Write::Entity(Put { was: Some(entity.rev), row })
}

fn end(receipt: &Receipt, ground: &Ground<'_>, end: End) -> Plan<Worked> {
    Plan::new(vec![hold(ground.entity), receipt.finish(end)], Worked::Done(end))
}

/// Set aside on the strength of an entity that was only read: the read is guarded all the same.
fn set_aside(receipt: &Receipt, ground: &Ground<'_>, reason: Reason) -> Plan<Worked> {
    let mut writes = vec![hold(ground.entity)];
    writes.extend(receipt.set_aside(reason));
    Plan::new(writes, Worked::SetAside(reason))
}

fn hold(entity: &Entity) -> Write {
    Write::HoldEntity { id: entity.id, rev: entity.rev }
}

fn move_to(entity: &Entity, state: State, version: u64) -> Write {
    let version = version.max(entity.version);
    let projected = entity.projected.filter(|projected| *projected != state);
    let row = Entity { rev: entity.rev + 1, state, version, projected, ..*entity };
    Write::Entity(Put { was: Some(entity.rev), row })
}

impl Model {
    /// Whether what was fetched is as new as the event, so that the event is contained in it.
    fn covers(&self, state: State, version: u64, proposal: &Proposal) -> bool {
        match self.order() {
            Order::Graph => {
                self.rule(proposal.event).is_some_and(|rule| self.leads(rule.to, state))
            }
            Order::Version | Order::Sequence | Order::Instant => version >= proposal.version,
        }
    }

    /// Whether what was fetched is newer than the entity. Two equal instants may differ in state: the
    /// API's word counts.
    fn is_newer(&self, entity: &Entity, state: State, version: u64) -> bool {
        match self.order() {
            Order::Graph => state != entity.state && self.leads(entity.state, state),
            Order::Instant => version >= entity.version && state != entity.state,
            Order::Version | Order::Sequence => version > entity.version,
        }
    }
}
