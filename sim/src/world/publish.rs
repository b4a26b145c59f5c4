//! Publishing, fan-out and the sweep.

use hookproof_core::{
    Digest, Id, Millis,
    endpoint::Endpoint,
    model::Order,
    outbox::{Delivery, Event, Published, publish},
    plan::Uncommitted,
    work::Fetched,
};

use super::{
    Ctx, NOBODY, ProcessNo, Step, Task, Twist, World,
    db::index,
    send::{RETRY_MS, body_of, parcel},
};
use crate::{
    dice::Site,
    history::{self, EntityNo, EventNo, Fact, Family, Node, Side},
    rogue::Rogue,
};

impl World {
    pub(super) fn publish(&mut self, event: u32, call: u8, tries: u8, ctx: &mut Ctx<'_>) {
        let planned = ctx.setup.events[event as usize];
        let no = EventNo(event);
        if call > 0 && tries == 0 {
            self.say(ctx, Node::App, Fact::Fault { family: Family::Republish });
        }
        if ctx.is(Rogue::SendsThenCommits) {
            self.send_outside(event, ctx);
        }
        if planned.rolls_back {
            self.say(ctx, Node::App, Fact::RolledBack { event: no });
            return;
        }
        let early = match ctx.rogue {
            Some(Rogue::DuplicateNeverQueued) if call > 0 || tries > 0 => {
                Some(history::Published::Duplicate)
            }
            Some(Rogue::AcceptsBeforeCommit) if tries == 0 => Some(history::Published::Accepted),
            _ => None,
        };
        if let Some(answer) = early {
            let fact = Fact::Published { event: no, other_body: false, answer };
            self.say(ctx, Node::App, fact);
            if answer == history::Published::Duplicate {
                return;
            }
        }
        let now = self.db_now(Side::Sender);
        let found = self.db(Side::Sender).events[event as usize];
        let step = Step::PublishCommit { event, call, found, now };
        self.again(NOBODY, ctx.setup.lags.disk_ms, tries, step, ctx);
    }

    #[expect(clippy::too_many_arguments, reason = "the rows that the decision was loaded with")]
    pub(super) fn publish_commit(
        &mut self,
        event: u32,
        call: u8,
        tries: u8,
        found: Option<&Event>,
        now: Millis,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let planned = ctx.setup.events[event as usize];
        let other_body = found.is_some() && reuses_key(event, call, ctx);
        let digest = Digest(u128::from(body_of(event).0 + u32::from(other_body)));
        let plan = publish(found, Id(u128::from(event)), digest, now);
        let fact = Fact::Committed {
            event: EventNo(event),
            entity: EntityNo(planned.entity),
            kind: planned.kind,
            occurrence: planned.occurrence,
            version: planned.version,
            body: body_of(event),
        };
        let published = self.commit(Side::Sender, Node::App, plan, twist, ctx, |published, _| {
            [(*published == Published::Accepted).then_some(fact), None]
        });
        self.published((event, call, other_body), tries, published, ctx);
    }

    fn published(
        &mut self,
        (event, call, other_body): (u32, u8, bool),
        tries: u8,
        published: Result<Published, Uncommitted>,
        ctx: &mut Ctx<'_>,
    ) {
        if self.db(Side::Sender).events[event as usize].is_some() {
            self.learn(event, ctx);
        }
        if published == Ok(Published::Accepted) && ctx.is(Rogue::SendsWithoutOutbox) {
            if let Some(row) = self.db(Side::Sender).events[event as usize] {
                self.db_mut(Side::Sender).overwrite_event(Event { wake: None, ..row });
            }
            self.send_outside(event, ctx);
        }
        let answer = match published {
            Ok(Published::Accepted) => history::Published::Accepted,
            Ok(Published::Duplicate) => history::Published::Duplicate,
            Ok(Published::KeyReused) => history::Published::KeyReused,
            Err(_) => {
                let at = self.now + (RETRY_MS << tries.min(7));
                let (tries, step) = (tries.saturating_add(1), Step::Publish { event, call });
                self.tasks.push(Task { at, owner: NOBODY, tries, step });
                history::Published::Failed
            }
        };
        let fact = Fact::Published { event: EventNo(event), other_body, answer };
        self.say(ctx, Node::App, fact);
    }

    /// The authoritative API learns of a committed event.
    fn learn(&mut self, event: u32, ctx: &Ctx<'_>) {
        let planned = &ctx.setup.events[event as usize];
        let model =
            &ctx.setup.terms.models[usize::from(ctx.setup.terms.model_of[planned.entity as usize])];
        let Some(rule) = model.rule(planned.kind) else { return };
        let truth = &mut self.truth[planned.entity as usize];
        let newer = match model.order() {
            Order::Graph => truth[0].state != rule.to && model.leads(truth[0].state, rule.to),
            // Of two facts of one moment it takes the one that comes later in life.
            Order::Version | Order::Sequence | Order::Instant => {
                (planned.version, rule.to) > (truth[0].version, truth[0].state)
            }
        };
        if newer {
            *truth = [Fetched { state: rule.to, version: planned.version }, truth[0]];
        }
    }

    /// What people do who have no outbox: one request for each endpoint, from memory.
    pub(super) fn send_outside(&mut self, event: u32, ctx: &mut Ctx<'_>) {
        for endpoint in 0..ctx.setup.endpoints {
            let id = Id(u128::from(ctx.setup.delivery(event, endpoint)));
            let ticket = hookproof_core::outbox::Ticket {
                delivery: id,
                endpoint: Id(u128::from(endpoint)),
                attempt: 1,
                fence: 0,
            };
            let parcel = parcel(ticket, NOBODY, event);
            let parcel = self.sealed(parcel, ctx);
            self.requested(NOBODY, &parcel, ctx);
            self.then(NOBODY, ctx.setup.lags.net_ms, Step::Request(parcel), ctx);
        }
    }

    pub(super) fn fan_out(
        &mut self,
        owner: ProcessNo,
        event: &Event,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        if self.dies(owner, twist, ctx) && !ctx.is(Rogue::FanOutHalf) {
            return;
        }
        let no = event.id.0 as u32;
        let rows = self.db(Side::Sender).endpoints.clone();
        let mut endpoints: Vec<(Endpoint, Id)> = (0..)
            .zip(rows)
            .map(|(endpoint, row)| (row, Id(u128::from(ctx.setup.delivery(no, endpoint)))))
            .collect();
        if twist == Some(Twist::TakenId)
            && let Some(taken) = self.taken_id(&Step::FanOut { event: *event }, ctx)
            && let Some((_, id)) =
                endpoints.iter_mut().find(|(row, _)| row.subscribed_at(event.created))
        {
            *id = taken;
        }
        let Some(plan) = event.fan_out(&endpoints, self.db_now(Side::Sender)) else { return };
        let half = ctx.is(Rogue::FanOutHalf) && twist == Some(Twist::Die);
        let node = self.node(owner, ctx);
        let done = self.commit(Side::Sender, node, plan, twist, ctx, |made, db| {
            let deliveries = *made as u32;
            let closed = db.events[index(event.id)].is_some_and(|row| row.processed.is_some());
            [Some(Fact::FanOutDone { event: EventNo(no), deliveries, closed }), None]
        });
        match done {
            Ok(made) if made > 1 => {
                self.say(ctx, Node::World, Fact::Fault { family: Family::TwoEndpoints });
            }
            Ok(_) | Err(Uncommitted::Conflict) => {}
            Err(Uncommitted::RolledBack | Uncommitted::Unknown) => self.pause(owner, ctx),
        }
        if half && done.is_ok_and(|made| made > 1) {
            let last = endpoints.last().map_or(0, |(_, id)| index(*id));
            self.db_mut(Side::Sender).forget_delivery(last);
        }
    }

    /// Looks at an event whose delivery was acknowledged. In a walk another relay may sweep it before this
    /// one has read its deliveries and commits.
    pub(super) fn sweep(
        &mut self,
        owner: ProcessNo,
        event: Id,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let Some(row) = self.db(Side::Sender).events[index(event)] else { return };
        if ctx.setup.terms.timely {
            self.then(owner, ctx.setup.lags.disk_ms, Step::SweepCommit { row }, ctx);
        } else {
            self.sweep_commit(owner, &row, twist, ctx);
        }
    }

    pub(super) fn sweep_commit(
        &mut self,
        owner: ProcessNo,
        row: &Event,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
    ) {
        let no = row.id.0 as u32;
        let db = self.db(Side::Sender);
        let made = (0..ctx.setup.endpoints)
            .filter_map(|p| db.delivery(Id(u128::from(ctx.setup.delivery(no, p)))).copied());
        let deliveries: Vec<Delivery> = made.collect();
        let Some(plan) = row.sweep(&deliveries, self.db_now(Side::Sender)) else { return };
        let node = self.node(owner, ctx);
        let fact = Fact::Swept { event: EventNo(no) };
        let _ = self.commit(Side::Sender, node, plan, twist, ctx, |(), _| [Some(fact), None]);
    }
}

/// Whether a call shows the key of an event that is there with another body.
fn reuses_key(event: u32, call: u8, ctx: &Ctx<'_>) -> bool {
    call > 0 && ctx.chance.below(Site::new(0x87, event, u32::from(call), 0), 4) == 0
}
