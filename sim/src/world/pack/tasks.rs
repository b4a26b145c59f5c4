//! Work in flight in a key.

use hookproof_core::{
    Id, Millis,
    endpoint::Endpoint,
    inbox::Receipt,
    model::Entity,
    outbox::{Attempt, Delivery, Ended, Event, Request, Ticket},
    work::{Fault, Job},
};

use super::{
    super::{
        Answer, NOBODY, Parcel, Step, Task, World, address,
        db::{Db, index},
        seal::Seal,
    },
    COMMON, Item, Packer, Sight, age,
    rows::{self, can_be_early},
};
use crate::{
    history::{DeliveryId, Side},
    oracle::pack::{apart, not_before, number},
    world::send::body_of,
};

impl Packer {
    pub(super) fn encode(&mut self, world: &World, sight: Sight<'_>) {
        self.bytes.clear();
        self.items.clear();
        for (no, task) in (0..).zip(&world.tasks) {
            let from = self.bytes.len() as u32;
            let block = block(task, sight);
            self.task(world, task, sight);
            let begins = beginning(&self.bytes[from as usize..]);
            let to = self.bytes.len() as u32;
            self.items.push(Item { block, begins, task: no, from, to });
        }
    }

    fn task(&mut self, world: &World, task: &Task, sight: Sight<'_>) {
        self.bytes.extend([address(&task.step).0, task.tries]);
        // The others may be taken at any time.
        if matches!(task.step, Step::Await { .. }) {
            not_before(&mut self.bytes, world.now, task.at);
        }
        let side = World::side(task.owner, sight.setup);
        let now = world.db_now(side);
        match &task.step {
            Step::Publish { event, call } => self.numbers([u64::from(*event), u64::from(*call)]),
            Step::PublishCommit { event, call, found, now: then } => {
                self.numbers([u64::from(*event), u64::from(*call), u64::from(found.is_some())]);
                age(&mut self.bytes, now, *then);
            }
            Step::FanOut { event: row } | Step::SweepCommit { row } => self.event(world, row),
            Step::Sweep { event } => self.id(*event),
            Step::Claim { row, lane, url, now: then, loaded } => {
                self.delivery(world.db(side), row, now);
                self.endpoint(world.db(side), &lane.endpoint, now);
                self.numbers([u64::from(lane.in_flight), lane.endpoint.next.since(*then)]);
                self.numbers([u64::from(*url)]);
                age(&mut self.bytes, now, *then);
                age(&mut self.bytes, world.now, *loaded);
            }
            Step::Start { attempt, claimed } => self.start(world, attempt, *claimed, sight),
            Step::Await { request } => self.ticket(request.ticket()),
            Step::Settle { request, ended } => self.settle(request, *ended),
            Step::SettleCommit { request, ended, row, endpoint, now: then } => {
                self.settle(request, *ended);
                self.delivery(world.db(side), row, now);
                self.endpoint(world.db(side), endpoint, now);
                age(&mut self.bytes, now, *then);
            }
            Step::Release { attempt } => self.ticket(attempt.ticket()),
            Step::ReleaseCommit { attempt, row, now: then } => {
                self.ticket(attempt.ticket());
                self.delivery(world.db(side), row, now);
                age(&mut self.bytes, now, *then);
            }
            Step::ResendCommit { row, endpoint, now: then } => {
                self.delivery(world.db(Side::Sender), row, now);
                self.endpoint(world.db(Side::Sender), endpoint, now);
                age(&mut self.bytes, now, *then);
            }
            Step::CancelCommit { row } => self.delivery(world.db(Side::Sender), row, now),
            Step::TurnCommit { row, life, now: then } => {
                self.endpoint(world.db(Side::Sender), row, now);
                self.bytes.push(life.map_or(0, |life| life as u8 + 1));
                age(&mut self.bytes, now, *then);
            }
            Step::Request(parcel) | Step::Receive { parcel } => self.parcel(parcel, task, sight),
            Step::Response(answer) => self.answer(answer),
            // Its clock goes into a new row alone, which is due at once and has no cap yet.
            Step::ReceiveCommit { parcel, found, now: _ } => {
                self.parcel(parcel, task, sight);
                self.found(world, found.as_ref(), now, sight);
            }
            Step::Reply { parcel, status } => {
                self.parcel(parcel, task, sight);
                self.numbers([u64::from(*status)]);
            }
            _ => self.work(world, task, now, sight),
        }
    }

    fn work(&mut self, world: &World, task: &Task, now: Millis, sight: Sight<'_>) {
        match &task.step {
            Step::WorkClaim { row, now: then } | Step::PurgeCommit { row, now: then } => {
                self.receipt(world, row, now, sight);
                age(&mut self.bytes, now, *then);
            }
            Step::ReplayCommit { row, allowed, now: then } => {
                self.receipt(world, row, now, sight);
                self.bytes.push(u8::from(*allowed));
                age(&mut self.bytes, now, *then);
            }
            Step::Work { job } | Step::Fetch { job } => self.job(*job),
            Step::WorkCommit { job, row, entity, booked, now: then } => {
                self.job(*job);
                self.ground(world, row, entity, *booked, now, *then, sight);
            }
            Step::FetchCommit { job, row, entity, booked, now: then, fetched } => {
                self.job(*job);
                self.ground(world, row, entity, *booked, now, *then, sight);
                match fetched {
                    Some(fetched) => {
                        self.numbers([1 + u64::from(fetched.state.0), fetched.version]);
                    }
                    None => self.bytes.push(0),
                }
            }
            Step::Fail { job, fault } => {
                self.job(*job);
                self.bytes.push(u8::from(*fault == Fault::Event));
            }
            Step::FailCommit { job, fault, row, now: then } => {
                self.job(*job);
                self.bytes.push(u8::from(*fault == Fault::Event));
                self.receipt(world, row, now, sight);
                age(&mut self.bytes, now, *then);
            }
            Step::SendAlert { alert, side } => self.numbers([u64::from(*alert), *side as u64]),
            Step::Restart { process } if super::is_named_by_block(*process, sight.setup) => {}
            Step::Restart { process } => self.bytes.push(*process),
            Step::Secret { .. } => {
                let (_, endpoint, turn) = address(&task.step);
                self.numbers([u64::from(endpoint), u64::from(turn)]);
            }
            _ => unreachable!("the other steps are written before"),
        }
    }

    /// What its start is held against is how long ago it asked for its claim; past the limit that is
    /// one.
    fn start(&mut self, world: &World, attempt: &Attempt, claimed: Millis, sight: Sight<'_>) {
        self.ticket(attempt.ticket());
        let limit = sight.setup.terms.profile.start_limit_ms;
        self.numbers([world.now.since(claimed).min(limit.saturating_add(1))]);
    }

    fn settle(&mut self, request: &Request, ended: Ended) {
        self.ticket(request.ticket());
        match ended {
            Ended::Acknowledged => self.bytes.push(1),
            Ended::Refused { retry_after_ms: None } => self.bytes.push(2),
            Ended::Refused { retry_after_ms: Some(ms) } => self.numbers([3, ms]),
            Ended::Gone => self.bytes.push(4),
            Ended::Unknown => self.bytes.push(5),
        }
    }

    fn ticket(&mut self, ticket: Ticket) {
        let delivery = index(ticket.delivery);
        let fence = self.names().sent(delivery, ticket.fence);
        self.numbers([delivery as u64, u64::from(ticket.attempt), fence]);
    }

    fn job(&mut self, job: Job) {
        let receipt = index(job.receipt());
        let fence = self.names().worked(receipt, job.fence());
        self.numbers([receipt as u64, fence]);
    }

    /// A parcel. Whose it is, is said by the block that it stands in; when it was signed, by nothing:
    /// no signature grows stale in a small world.
    fn parcel(&mut self, parcel: &Parcel, task: &Task, sight: Sight<'_>) {
        self.ticket(parcel.ticket);
        let Parcel { id, body, .. } = *parcel;
        let Seal { signer, secrets, body: signed, id: vouched, at: _ } = parcel.seal;
        let delivery = DeliveryId(index(parcel.ticket.delivery) as u32);
        let own = body_of(sight.setup.event_of(delivery.0));
        let plain = (id, vouched, body, signed) == (delivery, delivery, own, own)
            && signer == index(parcel.ticket.endpoint) as u32
            && secrets <= 1;
        if plain {
            self.bytes.push(secrets as u8);
        } else {
            self.bytes.push(2);
            self.numbers([id, vouched].map(|id| u64::from(id.0)));
            self.numbers([body, signed].map(|body| u64::from(body.0)));
            self.numbers([u64::from(signer), u64::from(secrets)]);
        }
        self.bytes.push(u8::from(parcel.from == NOBODY));
        if sight.setup.ingresses > 1 {
            self.bytes.extend([parcel.copy, task.owner]);
        }
    }

    fn answer(&mut self, answer: &Answer) {
        self.ticket(answer.ticket);
        self.numbers([u64::from(answer.status), answer.retry_after_ms.map_or(0, |ms| ms + 1)]);
    }

    fn event(&mut self, world: &World, row: &Event) {
        self.id(row.id);
        let db = world.db(Side::Sender);
        match &db.events[index(row.id)] {
            Some(now) if now == row => self.bytes.push(0),
            now => {
                self.numbers([1, apart(now.map_or(0, |now| now.rev), row.rev)]);
                rows::event(row, &db.endpoints, db.now(world.now), &mut self.bytes);
            }
        }
    }

    fn delivery(&mut self, db: &Db, row: &Delivery, now: Millis) {
        self.id(row.id);
        match db.delivery(row.id) {
            Some(now) if now == row => self.bytes.push(0),
            found => {
                let (rev, fence) = found.map_or((0, 0), |found| (found.rev, found.fence));
                self.numbers([1, apart(rev, row.rev), apart(fence, row.fence)]);
                rows::delivery(row, now, &mut self.bytes);
            }
        }
    }

    fn endpoint(&mut self, db: &Db, row: &Endpoint, now: Millis) {
        let found = &db.endpoints[index(row.id)];
        if found == row {
            self.bytes.push(0);
        } else {
            self.numbers([1, apart(found.rev, row.rev)]);
            rows::endpoint(row, now, &mut self.bytes);
        }
    }

    fn found(&mut self, world: &World, found: Option<&Receipt>, now: Millis, sight: Sight<'_>) {
        match found {
            Some(row) => {
                self.bytes.push(1);
                self.receipt(world, row, now, sight);
            }
            None => self.bytes.push(0),
        }
    }

    fn receipt(&mut self, world: &World, row: &Receipt, now: Millis, sight: Sight<'_>) {
        self.id(row.id);
        match world.db(Side::Receiver).receipt(row.id) {
            Some(now) if now == row => self.bytes.push(0),
            found => {
                let (rev, fence) = found.map_or((0, 0), |found| (found.rev, found.fence));
                self.numbers([1, apart(rev, row.rev), apart(fence, row.fence)]);
                rows::receipt(row, now, sight.setup, &mut self.bytes);
            }
        }
    }

    /// What work was decided on. Its cap is held against the clock that it was loaded with.
    #[expect(clippy::too_many_arguments, reason = "the rows that the decision was loaded with")]
    fn ground(
        &mut self,
        world: &World,
        row: &Receipt,
        entity: &Entity,
        booked: bool,
        now: Millis,
        then: Millis,
        sight: Sight<'_>,
    ) {
        self.receipt(world, row, now, sight);
        if row.proposal.is_some_and(|proposal| can_be_early(&proposal, sight.setup)) {
            self.numbers([row.cap.since(then)]);
        }
        let found = &world.db(Side::Receiver).entities[index(entity.id)];
        if found == entity {
            self.bytes.push(0);
        } else {
            self.numbers([1, apart(found.rev, entity.rev)]);
            rows::entity(entity, &mut self.bytes);
        }
        self.bytes.push(u8::from(booked));
        age(&mut self.bytes, now, then);
    }

    fn id(&mut self, id: Id) {
        number(&mut self.bytes, index(id) as u64);
    }

    fn numbers<const N: usize>(&mut self, numbers: [u64; N]) {
        for value in numbers {
            number(&mut self.bytes, value);
        }
    }
}

/// The first bytes of a text as a number that sorts as they do.
fn beginning(text: &[u8]) -> u64 {
    let mut first = [0; size_of::<u64>()];
    let length = text.len().min(first.len());
    first[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(first)
}

/// The process that a task belongs to, or that waits for what becomes of it.
fn block(task: &Task, sight: Sight<'_>) -> u8 {
    let setup = sight.setup;
    let process = match &task.step {
        Step::Request(parcel)
        | Step::Receive { parcel }
        | Step::ReceiveCommit { parcel, .. }
        | Step::Reply { parcel, .. } => parcel.from,
        Step::Response(answer) => answer.to,
        Step::Restart { process } if super::is_named_by_block(*process, setup) => *process,
        _ => task.owner,
    };
    let first_worker = setup.relays + setup.ingresses;
    let effects = first_worker + setup.workers;
    match process {
        NOBODY => COMMON,
        relay if relay < setup.relays && sight.nameless => 0,
        worker if (first_worker..effects).contains(&worker) && sight.nameless => first_worker,
        process if process >= setup.relays && process < first_worker => COMMON,
        process => process,
    }
}
