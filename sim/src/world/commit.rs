//! One transaction of the model, and the lines that it writes.

use hookproof_core::{
    endpoint::Life,
    model::Entity,
    outbox::{Delivery, Subject},
    plan::{self, About as RowAbout, Audit, Outcome, Plan, Uncommitted, Write},
};

use super::{
    Ctx, Twist, World,
    db::{Db, index},
};
use crate::{
    dice::Site,
    history::{
        About, Body, Cause, DeliveryId, DeliveryNo, EndpointLife, EndpointNo, EntityNo, EventNo,
        Fact, Node, Person, Reason, ReceiptNo, Side,
    },
    rogue::Rogue,
};

impl World {
    /// Runs a plan's transaction and writes down what it made true, whoever learns of it. `note`
    /// gives the lines for what the plan says of itself.
    pub(crate) fn commit<T>(
        &mut self,
        side: Side,
        by: Node,
        plan: Plan<T>,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
        note: impl Fn(&T, &Db) -> [Option<Fact>; 2],
    ) -> Result<T, Uncommitted> {
        if is_batched(by) {
            let note = |_, then: &T, db: &Db| note(then, db);
            return self.commit_each(side, by, vec![plan], twist, ctx, note).remove(0);
        }
        let mut woken = Vec::new();
        let then = plan.commit(|writes| self.transact(side, by, writes, twist, &mut woken, ctx))?;
        let facts = note(&then, self.db(side)).into_iter().flatten();
        facts.chain(woken).for_each(|fact| self.say(ctx, by, fact));
        self.heard(by, twist, ctx).and(Ok(then))
    }

    /// [`World::commit`] of many plans in one transaction, each with an answer of its own. `note` gets
    /// the place of the plan, too.
    pub(super) fn commit_each<T>(
        &mut self,
        side: Side,
        by: Node,
        plans: Vec<Plan<T>>,
        twist: Option<Twist>,
        ctx: &mut Ctx<'_>,
        note: impl Fn(usize, &T, &Db) -> [Option<Fact>; 2],
    ) -> Vec<Result<T, Uncommitted>> {
        let mut woken = Vec::new();
        let each = plan::commit_each(plans, |plans| {
            let run =
                |plan: &Plan<T>| self.transact(side, by, plan.writes(), twist, &mut woken, ctx);
            plans.iter().map(run).collect()
        });
        for (place, then) in each.iter().enumerate() {
            let facts = then.iter().flat_map(|then| note(place, then, self.db(side)));
            facts.flatten().for_each(|fact| self.say(ctx, by, fact));
        }
        for fact in woken {
            self.say(ctx, by, fact);
        }
        if each.iter().all(Result::is_err) {
            return each;
        }
        let heard = self.heard(by, twist, ctx);
        each.into_iter().map(|then| then.and_then(|then| heard.and(Ok(then)))).collect()
    }

    /// Whether the answer of a commit comes.
    fn heard(&self, by: Node, twist: Option<Twist>, ctx: &mut Ctx<'_>) -> Result<(), Uncommitted> {
        if twist != Some(Twist::AnswerLost) {
            return Ok(());
        }
        self.say(ctx, by, Fact::CommitUnknown);
        Err(Uncommitted::Unknown)
    }

    fn transact(
        &mut self,
        side: Side,
        by: Node,
        writes: &[Write],
        twist: Option<Twist>,
        woken: &mut Vec<Fact>,
        ctx: &mut Ctx<'_>,
    ) -> Outcome {
        let outcome = self.gives_up(side, twist, writes.is_empty(), ctx).unwrap_or_else(|| {
            let now = self.db_now(side);
            let rogue = ctx.rogue;
            let tampered = rogue.and_then(|rogue| rogue.tampers(writes, self.db(side), now, ctx));
            let writes = tampered.as_deref().unwrap_or(writes);
            let was = self.entity_before(writes);
            let disabled = self.disabled_by(side, by, writes);
            if rogue == Some(Rogue::RelaxedDurability) && side == Side::Receiver {
                self.lag_behind(side, ctx);
            }
            woken.extend(self.wakes(writes, rogue));
            let outcome = self.db_mut(side).commit(writes, now, rogue);
            if outcome == Outcome::Committed {
                self.record(by, writes, was, ctx);
                if let Some(endpoint) = disabled {
                    let life = EndpointLife::Disabled;
                    self.say(ctx, by, Fact::Endpoint { endpoint, life });
                }
                self.kick();
            }
            outcome
        });
        match outcome {
            Outcome::Committed => {}
            Outcome::Conflict => self.say(ctx, by, Fact::Conflicted),
            Outcome::RolledBack | Outcome::Unknown => self.say(ctx, by, Fact::RolledBackByDatabase),
        }
        outcome
    }

    /// What a store keeps that commits before the disk has it: now and then the disk catches up.
    fn lag_behind(&mut self, side: Side, ctx: &Ctx<'_>) {
        let site = Site::new(0x83, self.now.0 as u32, side as u32, 0);
        if self.durable[side as usize].is_none() || ctx.chance.below(site, 4) == 0 {
            self.durable[side as usize] = Some(Box::new(self.db(side).clone()));
        }
    }

    fn is_unheard(&self, side: Side, ctx: &Ctx<'_>) -> bool {
        ctx.chance.below(Site::new(0x89, self.now.0 as u32, side as u32, 0), 2) == 0
    }

    fn gives_up(
        &self,
        side: Side,
        twist: Option<Twist>,
        reads_only: bool,
        ctx: &Ctx<'_>,
    ) -> Option<Outcome> {
        if !self.reachable(side) || (!self.db(side).writable && !reads_only) {
            return Some(Outcome::RolledBack);
        }
        match twist {
            Some(Twist::Serialization) => Some(Outcome::Conflict),
            // Whoever does not hear of a commit cannot tell that it is not in.
            Some(Twist::CommitFails) if ctx.setup.terms.timely && self.is_unheard(side, ctx) => {
                Some(Outcome::Unknown)
            }
            Some(Twist::CommitFails) => Some(Outcome::RolledBack),
            _ => None,
        }
    }

    /// Whether a side's database answers a process.
    pub(crate) fn reachable(&self, side: Side) -> bool {
        self.db(side).up && self.pool_free[side as usize]
    }

    /// The entity that a transaction changes, as it was.
    fn entity_before(&self, writes: &[Write]) -> Option<Entity> {
        writes.iter().find_map(|write| match write {
            Write::Entity(put) => Some(self.db(Side::Receiver).entities[index(put.row.id)]),
            _ => None,
        })
    }

    /// The endpoint that a transaction of a relay disables.
    fn disabled_by(&self, side: Side, by: Node, writes: &[Write]) -> Option<EndpointNo> {
        writes.iter().find_map(|write| match write {
            Write::Endpoint(put) if by != Node::Operator => {
                let was = self.db(side).endpoints[index(put.row.id)].life;
                let turned = was != put.row.life && put.row.life == Life::Disabled;
                (turned && side == Side::Sender).then_some(EndpointNo(put.row.id.0 as u32))
            }
            _ => None,
        })
    }

    /// The sleepers that a transaction's wakes will reach.
    fn wakes(&self, writes: &[Write], rogue: Option<Rogue>) -> impl Iterator<Item = Fact> {
        let db = self.db(Side::Receiver);
        let now = self.db_now(Side::Receiver);
        writes
            .iter()
            .filter(move |write| !rogue.is_some_and(|rogue| rogue.drops(write)))
            .filter_map(|write| match write {
                Write::Wake { entity } => Some(*entity),
                _ => None,
            })
            .flat_map(move |entity| db.sleepers(entity, now).map(move |id| (entity, id)))
            .map(|(entity, id)| Fact::Woken {
                receipt: ReceiptNo(id.0 as u32),
                entity: EntityNo(entity.0 as u32),
            })
    }

    fn record(&self, by: Node, writes: &[Write], was: Option<Entity>, ctx: &mut Ctx<'_>) {
        for write in writes {
            if ctx.rogue.is_some_and(|rogue| rogue.drops(write)) {
                continue;
            }
            match write {
                Write::Entity(put) => self.record_move(by, &put.row, was, ctx),
                Write::Delivery(put) if put.was.is_none() => self.record_made(by, &put.row, ctx),
                Write::Alert { about, reason } => {
                    let about = Self::about(*about);
                    let silent = ctx.is(Rogue::NoReason);
                    let reason = if silent { Reason::None } else { (*reason).into() };
                    self.say(ctx, by, Fact::DeadLettered { about, reason });
                    if !ctx.is(Rogue::NoAlert) {
                        self.say(ctx, by, Fact::Alerted { about });
                    }
                }
                Write::Audit(Audit::Resent { delivery, by: person }) => {
                    let about = About::Delivery(DeliveryNo(delivery.0 as u32));
                    self.say(ctx, by, Fact::Audited { about, by: Person(person.0 as u32) });
                }
                Write::Audit(Audit::Replayed { receipt, by: person }) => {
                    let about = About::Receipt(ReceiptNo(receipt.0 as u32));
                    self.say(ctx, by, Fact::Audited { about, by: Person(person.0 as u32) });
                }
                Write::Audit(Audit::OtherBytes { receipt, digest }) => {
                    let (receipt, body) = (ReceiptNo(receipt.0 as u32), Body(digest.0 as u32));
                    self.say(ctx, by, Fact::Differed { receipt, body });
                }
                Write::Handle { receipt, operation } => {
                    let by_receipt = Cause::Receipt(ReceiptNo(receipt.0 as u32));
                    if !ctx.handler.speaks() {
                        let operation = (*operation).into();
                        self.say(ctx, by, Fact::Effect { operation, by: by_receipt });
                        continue;
                    }
                    for operation in ctx.handler.effects().to_vec() {
                        let operation = operation.into();
                        self.say(ctx, by, Fact::Effect { operation, by: by_receipt });
                    }
                }
                _ => {}
            }
        }
    }

    fn record_move(&self, by: Node, row: &Entity, was: Option<Entity>, ctx: &mut Ctx<'_>) {
        let Some(was) = was else { return };
        if (was.state, was.version) != (row.state, row.version) {
            let entity = EntityNo(row.id.0 as u32);
            let fact = Fact::Moved { entity, from: was.state, to: row.state, version: row.version };
            self.say(ctx, by, fact);
        }
        if was.projected != row.projected {
            let (entity, shown) = (EntityNo(row.id.0 as u32), row.projected);
            self.say(ctx, by, Fact::Projected { entity, shown });
        }
    }

    fn record_made(&self, by: Node, row: &Delivery, ctx: &mut Ctx<'_>) {
        let Subject::Event(event) = row.subject else { return };
        let delivery = row.id.0 as u32;
        let fact = Fact::FannedOut {
            event: EventNo(event.0 as u32),
            endpoint: EndpointNo(row.endpoint.0 as u32),
            delivery: DeliveryNo(delivery),
            id: DeliveryId(delivery),
        };
        self.say(ctx, by, fact);
    }

    pub(super) fn about(about: RowAbout) -> About {
        match about {
            RowAbout::Receipt(id) => About::Receipt(ReceiptNo(id.0 as u32)),
            RowAbout::Delivery(id) => About::Delivery(DeliveryNo(id.0 as u32)),
        }
    }
}

/// Whether a process commits many plans in one transaction, each with an answer of its own: it claims,
/// settles, fans out and receives. Work and what people do commit alone.
fn is_batched(by: Node) -> bool {
    matches!(by, Node::Relay(_) | Node::EffectRelay(_) | Node::Ingress(_))
}
