//! The steps that are taken at once, since it does not matter when; see the module above for why.

use hookproof_core::{
    inbox::Receipt,
    model::{Early, Order},
    outbox::{Stand, Ticket},
    work::Job,
};

use super::{
    Run,
    state::{State, is_timed},
};
use crate::{
    history::{Line, Side},
    world::{Step, Task, World, db::index},
};

impl State<'_> {
    /// Takes what is taken at once, and forgets what the future cannot tell.
    pub(super) fn reduce(&mut self, run: &Run<'_>, lines: &mut Vec<Line>) {
        self.alert(run);
        if !run.small.unreduced {
            while let Some(at) = self.world.tasks.iter().position(|task| self.at_once(task, run)) {
                let task = self.world.tasks.swap_remove(at);
                run.with(lines, |ctx| self.world.step(task, None, ctx));
                self.alert(run);
            }
        }
        for task in &mut self.world.tasks {
            task.tries = task.tries.min(1);
            if !is_timed(task) {
                task.at = hookproof_core::Millis(0);
            }
        }
    }

    /// Appoints the sending of alerts that nobody is about to send.
    fn alert(&mut self, run: &Run<'_>) {
        let first_worker = run.setup().relays + run.setup().ingresses;
        for (side, process) in [(Side::Sender, 0), (Side::Receiver, first_worker)] {
            let Some(alert) = self.world.db(side).next_alert() else { continue };
            let step = Step::SendAlert { alert: alert as u32, side };
            if !self.world.tasks.iter().any(|task| task.step == step) {
                let at = self.world.now;
                self.world.tasks.push(Task { at, owner: process, tries: 0, step });
            }
        }
    }

    fn at_once(&self, task: &Task, run: &Run<'_>) -> bool {
        let world = &self.world;
        match &task.step {
            Step::Restart { process } => {
                let setup = run.setup();
                *process < setup.relays || *process >= setup.relays + setup.ingresses
            }
            Step::SendAlert { .. } | Step::Receive { .. } => true,
            Step::Response(answer) => !world.tasks.iter().any(|task| {
                let waits = |ticket| ticket == answer.ticket;
                task.owner == answer.to
                    && matches!(task.step, Step::Await { request } if waits(request.ticket()))
            }),
            _ => run.rogue.is_none() && is_lost(world, task, run),
        }
    }
}

/// Whether a step can only find that it comes too late.
fn is_lost(world: &World, task: &Task, run: &Run<'_>) -> bool {
    let side = World::side(task.owner, run.setup());
    match &task.step {
        Step::FanOut { event } => {
            let now = world.db(side).events[index(event.id)];
            now.is_none_or(|now| now.rev != event.rev)
        }
        Step::Claim { row, lane, .. } => {
            let now = world.db(side).delivery(row.id);
            now.is_none_or(|now| now.rev != row.rev)
                || world.db(side).endpoints[index(row.endpoint)].rev != lane.endpoint.rev
        }
        Step::Settle { request, .. } => !is_held(world, side, request.ticket()),
        Step::Release { attempt } => !is_held(world, side, attempt.ticket()),
        Step::SettleCommit { row, .. } | Step::ReleaseCommit { row, .. } => {
            world.db(side).delivery(row.id).is_none_or(|now| now.rev != row.rev)
        }
        Step::ReceiveCommit { parcel, found: None, .. } => {
            let key = hookproof_core::Id(u128::from(parcel.seal.id.0));
            world.db(Side::Receiver).receipt(key).is_some()
        }
        Step::WorkClaim { row, .. } => is_stale(world, row),
        Step::Work { job } | Step::Fail { job, .. } => !is_worked(world, *job),
        Step::WorkCommit { job, row, entity, booked, .. } => {
            let model = &run.terms().models[usize::from(run.terms().model_of[index(entity.id)])];
            // A decision to ask the API writes nothing, and so has no guard to break.
            let asks = model.early() == Early::Refetch || model.order() == Order::Instant;
            let db = world.db(Side::Receiver);
            let operation = row.proposal.and_then(|proposal| model.operation(&proposal));
            let taken = !booked && operation.is_some_and(|operation| db.is_booked(operation));
            !is_worked(world, *job)
                || !asks
                    && (is_stale(world, row)
                        || db.entities[index(entity.id)].rev != entity.rev
                        || taken && inserts(row, entity, model))
        }
        Step::FailCommit { job, row, .. } => !is_worked(world, *job) || is_stale(world, row),
        _ => false,
    }
}

/// Whether the work on a receipt would book its operation.
fn inserts(
    row: &Receipt,
    entity: &hookproof_core::model::Entity,
    model: &hookproof_core::model::Model,
) -> bool {
    use hookproof_core::model::Standing;
    row.proposal.is_some_and(|proposal| {
        matches!(model.standing(entity, &proposal), Standing::Due(_) | Standing::Late)
    })
}

fn is_stale(world: &World, row: &Receipt) -> bool {
    world.db(Side::Receiver).receipt(row.id).is_none_or(|now| now.rev != row.rev)
}

fn is_held(world: &World, side: Side, ticket: Ticket) -> bool {
    world
        .db(side)
        .delivery(ticket.delivery)
        .is_some_and(|row| matches!(row.stand, Stand::Claimed { .. }) && row.fence == ticket.fence)
}

fn is_worked(world: &World, job: Job) -> bool {
    let row = world.db(Side::Receiver).receipt(job.receipt());
    row.is_some_and(|row| row.fence == job.fence() && row.wake().is_some())
}
