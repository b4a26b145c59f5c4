//! The receiver's door: a request arrives, becomes a receipt or finds one, and is answered. The
//! external service, which has a door of its own, honours keys.

use hookproof_core::{
    Digest, Id, Millis,
    inbox::{Arrival, Reading, Receipt, Reply, receive},
    outbox::Subject,
    plan::Uncommitted,
};

use super::{
    Answer, Ctx, NOBODY, Parcel, ProcessNo, Step, Task, Twist, World,
    seal::{Seal, key, known_id},
    task::HUNG,
};
use crate::{
    dice::Site,
    history::{self, Body, DeliveryNo, EntityNo, Fact, Family, Node, Outcome, ReceiptNo, Side},
    rogue::Rogue,
    setup::Form,
};

impl World {
    pub(super) fn receive_step(&mut self, task: &Task, twist: Option<Twist>, ctx: &mut Ctx<'_>) {
        match task.step {
            Step::Request(parcel) => self.request(parcel, twist, ctx),
            Step::Receive { parcel } => self.receive(task.owner, parcel, task.tries, ctx),
            Step::ReceiveCommit { parcel, found, now } => {
                self.receive_commit(task, parcel, found.as_ref(), now, twist, ctx);
            }
            Step::Reply { parcel, status } => self.reply(task.owner, parcel, status, twist, ctx),
            _ => unreachable!("the other steps have their own rooms"),
        }
    }

    /// A request at the end of its way, or what became of it.
    fn request(&mut self, parcel: Parcel, twist: Option<Twist>, ctx: &mut Ctx<'_>) {
        if self.cut[0] {
            return;
        }
        match twist {
            Some(Twist::Drop) => return,
            Some(Twist::Delay) => {
                let lag = ctx.setup.terms.profile.time_limit_ms * 3;
                return self.redirect(parcel, lag, ctx);
            }
            Some(Twist::Hang) => {
                let lag = ctx.setup.terms.profile.time_limit_ms + 1_000;
                let at = self.now + lag;
                self.tasks.push(Task { at, owner: NOBODY, tries: 1, step: Step::Request(parcel) });
                return;
            }
            Some(Twist::Reset) => return self.broken(&parcel, ctx),
            Some(Twist::Truncate) => {
                self.cut_short(&parcel, ctx);
                return self.broken(&parcel, ctx);
            }
            Some(Twist::Redirect) => return self.answer(&parcel, 307, None, ctx),
            Some(
                twist @ (Twist::Forge
                | Twist::Tamper
                | Twist::Replay
                | Twist::ReplayLate
                | Twist::Relabel),
            ) => {
                let parcel = self.attack(parcel, twist, ctx);
                return self.arrive(parcel, ctx);
            }
            Some(Twist::ForeignAck | Twist::EarlyAck) => {
                return self.answer(&parcel, 200, None, ctx);
            }
            Some(Twist::Refuse(status)) => {
                let retry_after = retry_after(&parcel, ctx);
                return self.answer(&parcel, status, retry_after, ctx);
            }
            Some(Twist::Duplicate) => {
                let lag = ctx.setup.lags.net_ms * 40;
                self.redirect(Parcel { copy: parcel.copy + 1, ..parcel }, lag, ctx);
            }
            Some(Twist::OtherBytes) => {
                let body = Body(parcel.body.0 + 1);
                let seal = Seal { body, ..parcel.seal };
                return self.arrive(Parcel { body, seal, ..parcel }, ctx);
            }
            _ => {}
        }
        if Self::side_of(&parcel, ctx) == Side::Receiver {
            return self.external(&parcel, twist, ctx);
        }
        self.arrive(parcel, ctx);
    }

    /// The side that sent a parcel.
    fn side_of(parcel: &Parcel, ctx: &Ctx<'_>) -> Side {
        if parcel.from == NOBODY { Side::Sender } else { Self::side(parcel.from, ctx.setup) }
    }

    fn redirect(&mut self, parcel: Parcel, lag_ms: u64, ctx: &Ctx<'_>) {
        self.again(NOBODY, lag_ms, 1, Step::Request(parcel), ctx);
    }

    /// The connection broke: the sender knows that it knows nothing.
    fn broken(&mut self, parcel: &Parcel, ctx: &mut Ctx<'_>) {
        let waiting = self.tasks.iter().position(|task| {
            task.owner == parcel.from
                && matches!(task.step, Step::Await { request } if request.ticket() == parcel.ticket)
        });
        if let Some(waiting) = waiting {
            let Step::Await { request } = self.tasks.swap_remove(waiting).step else {
                unreachable!("the position is of a task that waits")
            };
            self.ended(parcel.from, request, Outcome::Unknown, ctx);
        }
    }

    /// The connection broke within the body. An ingress that counts what it reads has no request, and
    /// nobody to answer.
    fn cut_short(&mut self, parcel: &Parcel, ctx: &Ctx<'_>) {
        let down = self.is_down(parcel.ticket.endpoint.0 as u32);
        let Some(ingress) = self.open_ingress(parcel, ctx).filter(|_| !down) else { return };
        if Self::side_of(parcel, ctx) == Side::Receiver {
            return;
        }
        let parcel = Parcel { from: NOBODY, ..*parcel };
        if ctx.is(Rogue::AnswersBeforeBodyEnds) {
            self.then(ingress, 0, Step::Reply { parcel, status: 200 }, ctx);
        }
        if ctx.is(Rogue::StoresWhatWasCutShort) {
            self.then(ingress, 0, Step::Receive { parcel }, ctx);
        }
    }

    pub(super) fn answer(
        &mut self,
        parcel: &Parcel,
        status: u16,
        retry_after_ms: Option<u64>,
        ctx: &Ctx<'_>,
    ) {
        let answer = Answer { ticket: parcel.ticket, to: parcel.from, status, retry_after_ms };
        self.then(NOBODY, ctx.setup.lags.net_ms, Step::Response(answer), ctx);
    }

    fn arrive(&mut self, parcel: Parcel, ctx: &mut Ctx<'_>) {
        let endpoint = parcel.ticket.endpoint.0 as u32;
        let Some(ingress) = self.open_ingress(&parcel, ctx).filter(|_| !self.is_down(endpoint))
        else {
            return self.answer(&parcel, 503, None, ctx);
        };
        let fact = Fact::Arrived {
            delivery: DeliveryNo(parcel.ticket.delivery.0 as u32),
            attempt: parcel.ticket.attempt,
            id: parcel.seal.id,
            body: parcel.body,
            authentic: self.authentic(&parcel, ctx),
        };
        self.say(ctx, self.node(ingress, ctx), fact);
        self.then(ingress, 0, Step::Receive { parcel }, ctx);
    }

    fn is_down(&self, endpoint: u32) -> bool {
        self.endpoints_down & (1 << endpoint) != 0
    }

    /// The ingress that the load balancer picks among those that are up.
    fn open_ingress(&self, parcel: &Parcel, ctx: &Ctx<'_>) -> Option<ProcessNo> {
        let first = ctx.setup.relays;
        let count = u64::from(ctx.setup.ingresses);
        let site = Site::new(
            0x90,
            parcel.ticket.delivery.0 as u32,
            parcel.ticket.fence,
            u32::from(parcel.copy),
        );
        let start = ctx.chance.below(site, count);
        (0..count)
            .map(|n| first + ((start + n) % count) as u8)
            .find(|&ingress| self.processes[usize::from(ingress)].up)
    }

    fn receive(&mut self, owner: ProcessNo, parcel: Parcel, tries: u8, ctx: &mut Ctx<'_>) {
        if let Some(status) = self.turned_away(&parcel, tries, ctx) {
            return self.then(owner, 0, Step::Reply { parcel, status }, ctx);
        }
        if ctx.is(Rogue::AcksThenStores) && tries == 0 {
            self.then(owner, 0, Step::Reply { parcel, status: 200 }, ctx);
        }
        if ctx.is(Rogue::AcksOpenDuplicate) && self.is_being_received(&parcel) {
            self.then(owner, 0, Step::Reply { parcel, status: 200 }, ctx);
            return;
        }
        if !self.reachable(Side::Receiver) {
            let status = if ctx.is(Rogue::QueuesInMemory) { 200 } else { 503 };
            self.then(owner, 0, Step::Reply { parcel, status }, ctx);
            return;
        }
        let now = self.db_now(Side::Receiver);
        let found = self.db(Side::Receiver).receipt(receipt_key(&parcel, ctx)).copied();
        let digest = Digest(u128::from(parcel.body.0));
        let found = ctx.rogue.map_or(found, |rogue| rogue.finds(found, digest));
        let step = Step::ReceiveCommit { parcel, found, now };
        self.again(owner, ctx.setup.lags.disk_ms, tries, step, ctx);
    }

    fn is_being_received(&self, parcel: &Parcel) -> bool {
        self.tasks.iter().any(|task| {
            matches!(&task.step, Step::ReceiveCommit { parcel: other, .. } if other.seal.id == parcel.seal.id)
        })
    }

    fn receive_commit(
        &mut self,
        task: &Task,
        parcel: Parcel,
        found: Option<&Receipt>,
        now: Millis,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let owner = task.owner;
        if self.dies(owner, twist, ctx) {
            return;
        }
        if twist == Some(Twist::Hang) {
            return self.hang(task, &parcel, ctx);
        }
        // What hung waited for its locks, and reads the time once it has them.
        let hung = task.tries & HUNG != 0;
        let now = if hung { self.db_now(Side::Receiver) } else { now };
        let key = receipt_key(&parcel, ctx);
        let form =
            ctx.setup.events[ctx.setup.event_of(parcel.ticket.delivery.0 as u32) as usize].form;
        if let Some(status) = ctx.rogue.and_then(|rogue| rogue.turns_away(form, found.is_some())) {
            self.then(owner, 0, Step::Reply { parcel, status }, ctx);
            return;
        }
        let arrival = Arrival {
            receipt: key,
            digest: Digest(u128::from(parcel.body.0)),
            reading: read(&parcel, form, ctx),
        };
        let plan = receive(found, &arrival, now, ctx.inbox);
        let node = self.node(owner, ctx);
        let (receipt, body) = (ReceiptNo(key.0 as u32), parcel.body);
        let received = Fact::Received {
            receipt,
            delivery: DeliveryNo(parcel.ticket.delivery.0 as u32),
            id: known_id(&parcel, ctx),
            body,
            reading: reading(arrival.reading),
        };
        self.say_what_is_odd(&parcel, form, found, ctx);
        let reply = self.commit(Side::Receiver, node, plan, twist, ctx, |reply, _| match reply {
            Reply::Accepted => [Some(received), None],
            Reply::OtherBytes | Reply::Duplicate => [None, None],
        });
        if hung {
            return;
        }
        let status = match reply {
            _ if ctx.is(Rogue::StoresThenVerifies) && !self.verifies(&parcel, ctx) => 401,
            Ok(reply) => ctx.rogue.map_or(200, |rogue| rogue.answers(reply)),
            Err(_) if ctx.is(Rogue::AnyErrorIsDuplicate) => 200,
            Err(Uncommitted::Conflict) if task.tries < CONFLICTS_MAX => {
                self.again(owner, 0, task.tries + 1, Step::Receive { parcel }, ctx);
                return;
            }
            Err(_) => 503,
        };
        let waits = ctx.is(Rogue::WorksBeforeAnswering) && reply == Ok(Reply::Accepted);
        let lag = if waits { WORK_BEFORE_ANSWER_MS } else { 0 };
        let at = self.now + lag;
        self.tasks.push(Task { at, owner, tries: 0, step: Step::Reply { parcel, status } });
    }

    /// The commit takes long. The ingress does not wait for it past what the source grants, and then
    /// asks it to come back; the commit goes on.
    fn hang(&mut self, task: &Task, parcel: &Parcel, ctx: &Ctx<'_>) {
        let ticket = parcel.ticket;
        let site = Site::new(HANGS, ticket.delivery.0 as u32, ticket.fence, u32::from(parcel.copy));
        let takes_ms = 1_000 + ctx.chance.below(site, HANGS_MS);
        let granted_ms = ctx.setup.terms.profile.time_limit_ms;
        let own_ms = if ctx.is(Rogue::Keeps10sWhere3s) { OUR_LIMIT_MS } else { granted_ms };
        let waits_ms = own_ms.max(granted_ms) - ANSWER_MARGIN_MS;
        let left = takes_ms > waits_ms;
        if left {
            let (at, step) = (self.now + waits_ms, Step::Reply { parcel: *parcel, status: 503 });
            self.tasks.push(Task { at, owner: task.owner, tries: 0, step });
        }
        let tries = if left { task.tries | HUNG } else { task.tries + 1 };
        self.tasks.push(Task { at: self.now + takes_ms, tries, ..*task });
    }

    /// What the workload itself makes hard is a fault like any other.
    fn say_what_is_odd(
        &self,
        parcel: &Parcel,
        form: Form,
        found: Option<&Receipt>,
        ctx: &mut Ctx<'_>,
    ) {
        let family = match form {
            _ if found.is_some() => return,
            Form::UnknownType => Family::UnknownType,
            Form::Unreadable => Family::Unreadable,
            Form::Plain if self.overtakes(parcel, ctx) => Family::OutOfOrder,
            Form::Plain => return,
        };
        self.say(ctx, Node::World, Fact::Fault { family });
    }

    /// Whether an earlier event about the same entity has not arrived at this endpoint yet.
    fn overtakes(&self, parcel: &Parcel, ctx: &Ctx<'_>) -> bool {
        let setup = ctx.setup;
        let event = setup.event_of(parcel.ticket.delivery.0 as u32);
        let entity = setup.events[event as usize].entity;
        let endpoint = parcel.ticket.endpoint.0 as u32;
        (0..event).any(|earlier| {
            let receipt = Id(u128::from(setup.delivery(earlier, endpoint)));
            setup.events[earlier as usize].entity == entity
                && self.db(Side::Receiver).receipt(receipt).is_none()
        })
    }

    fn reply(
        &mut self,
        owner: ProcessNo,
        parcel: Parcel,
        status: u16,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        if self.dies(owner, twist, ctx) {
            return;
        }
        let fact = Fact::Answered {
            delivery: DeliveryNo(parcel.ticket.delivery.0 as u32),
            attempt: parcel.ticket.attempt,
            id: parcel.seal.id,
            status,
        };
        self.say(ctx, self.node(owner, ctx), fact);
        if twist == Some(Twist::Slow) {
            let answer =
                Answer { ticket: parcel.ticket, to: parcel.from, status, retry_after_ms: None };
            let at = self.now + ctx.setup.terms.profile.time_limit_ms * 2;
            self.tasks.push(Task { at, owner: NOBODY, tries: 1, step: Step::Response(answer) });
            return;
        }
        self.answer(&parcel, status, None, ctx);
    }

    /// The external service: it does what a new key asks for, once, and says the same again.
    fn external(&mut self, parcel: &Parcel, twist: Option<Twist>, ctx: &mut Ctx<'_>) {
        let row = self.db(Side::Receiver).delivery(parcel.ticket.delivery).copied();
        let Some(Subject::Effect(operation)) = row.map(|row| row.subject) else { return };
        let key = ctx.rogue.map_or(key_of(operation), |rogue| {
            rogue.rekeys(key_of(operation), parcel.ticket.attempt)
        });
        let fresh = !self.done_outside.contains(&key);
        let did = fresh || ctx.is(Rogue::ExternalWithoutKey);
        if fresh {
            self.done_outside.push(key);
        }
        let fact = Fact::ExternalCall { operation: operation.into(), key, did };
        self.say(ctx, Node::External, fact);
        if twist != Some(Twist::ActsSilently) {
            self.answer(parcel, 200, None, ctx);
        }
    }

    /// Whether the step's process dies before its commit; then nothing of it is left.
    pub(super) fn dies(
        &mut self,
        owner: ProcessNo,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) -> bool {
        let dies = twist == Some(Twist::Die);
        if dies {
            self.crash(owner, ctx);
        }
        dies
    }
}

/// Under which key a parcel's receipt is stored: source, account and delivery id, all of them.
fn receipt_key(parcel: &Parcel, ctx: &Ctx<'_>) -> Id {
    let own = key(known_id(parcel, ctx));
    ctx.rogue.map_or(own, |rogue| rogue.misfiles(own, parcel.ticket.delivery, ctx.setup))
}

fn read(parcel: &Parcel, form: Form, ctx: &Ctx<'_>) -> Reading {
    match form {
        Form::Plain => {
            let event = ctx.setup.event_of(parcel.ticket.delivery.0 as u32);
            Reading::Proposal(ctx.setup.proposal(event))
        }
        Form::UnknownType => Reading::UnknownType,
        Form::Unreadable => Reading::Unreadable,
    }
}

fn reading(reading: Reading) -> history::Reading {
    match reading {
        Reading::Proposal(proposal) => history::Reading::Event {
            entity: EntityNo(proposal.entity.0 as u32),
            kind: proposal.event,
            occurrence: proposal.occurrence,
            version: proposal.version,
        },
        Reading::UnknownType => history::Reading::UnknownType,
        Reading::Unreadable => history::Reading::Unreadable,
    }
}

/// The idempotency key of an operation, the same each time it is asked for.
pub(super) fn key_of(operation: hookproof_core::model::Operation) -> u64 {
    ((operation.entity.0 as u64) << 32)
        | (u64::from(operation.transition.0) << 16)
        | (operation.occurrence & 0xffff)
}

fn retry_after(parcel: &Parcel, ctx: &Ctx<'_>) -> Option<u64> {
    let site = Site::new(0x91, parcel.ticket.delivery.0 as u32, parcel.ticket.fence, 0);
    match ctx.chance.below(site, 6) {
        0 => Some(TEN_YEARS_MS),
        1 => Some(0),
        2 => Some(120_000),
        _ => None,
    }
}

/// What a hostile or broken receiver may ask for.
const TEN_YEARS_MS: u64 = 10 * 365 * 24 * 3_600_000;
/// How often a receipt's conflict is decided again before the sender is asked to come back.
const CONFLICTS_MAX: u8 = 8;
/// How long before the end of what a source grants an answer leaves.
const ANSWER_MARGIN_MS: u64 = 1_000;
/// What a receiver grants that does not ask what its source does.
const OUR_LIMIT_MS: u64 = 10_000;
/// How much longer than a second a commit hangs at most.
const HANGS_MS: u64 = 12_000;
const HANGS: u8 = 0x96;
/// How long a handler may keep an answer that waits for it.
const WORK_BEFORE_ANSWER_MS: u64 = 9_000;
