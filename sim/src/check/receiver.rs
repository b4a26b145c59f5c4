//! The receiver under test, as the world calls it: one a process, polled in place.

use core::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use std::collections::BTreeMap;

use hookproof_core::{
    handler::{Handler, HandlerError, Incoming},
    model::Operation,
};

use crate::{
    handler::{Called, Handle, SimTx},
    world::ProcessNo,
};

/// The receivers of all processes that run.
pub(super) struct Receivers<'a, F, H> {
    start: &'a F,
    running: Vec<Option<H>>,
    /// The names of event types, by their numbers.
    names: &'a [String],
    effects: Vec<Operation>,
    pub(super) slips: Slips,
}

/// What a handler did in one history that none does for which the simulator is made.
#[derive(Default)]
pub(super) struct Slips {
    /// How often it ran.
    pub(super) runs: u64,
    /// The event of which it awaited something else than its transaction.
    pub(super) waits: Option<String>,
    /// The events that it refused though nothing under it had failed, with its first reason.
    pub(super) refused: BTreeMap<String, String>,
    /// Runs that ended on infrastructure.
    pub(super) stopped: u64,
    /// Its first reason for that where nothing under it had failed.
    pub(super) stopped_for: Option<String>,
}

impl Slips {
    fn note(&mut self, name: &str, error: &HandlerError, hurt: bool) {
        match error {
            HandlerError::Event(why) if !hurt => {
                self.refused.entry(name.to_owned()).or_insert_with(|| why.clone());
            }
            HandlerError::Event(_) => {}
            HandlerError::Infrastructure(why) => {
                self.stopped += 1;
                if !hurt {
                    self.stopped_for.get_or_insert_with(|| why.clone());
                }
            }
        }
    }
}

impl<'a, F: Fn() -> H, H> Receivers<'a, F, H> {
    pub(super) fn new(start: &'a F, names: &'a [String]) -> Self {
        Self { start, running: Vec::new(), names, effects: Vec::new(), slips: Slips::default() }
    }

    fn receiver(&mut self, process: ProcessNo) -> &H {
        let process = usize::from(process);
        if self.running.len() <= process {
            self.running.resize_with(process + 1, || None);
        }
        self.running[process].get_or_insert_with(self.start)
    }
}

impl<F: Fn() -> H, H: Handler<SimTx>> Handle for Receivers<'_, F, H> {
    fn speaks(&self) -> bool {
        true
    }

    fn run(
        &mut self,
        worker: ProcessNo,
        tx: &mut SimTx,
        called: &Called,
    ) -> Result<(), HandlerError> {
        let Called { receipt, proposal, operation } = *called;
        let name = self.names[usize::from(proposal.event.0)].clone();
        let resource = format!("entity-{}", proposal.entity.0);
        let delivery = format!("evt-{}", receipt.0);
        let (occurrence, version) = (proposal.occurrence, proposal.version);
        let payload = format!(
            r#"{{"id":"{delivery}","type":"{name}","resource":"{resource}","occurrence":{occurrence},"version":{version}}}"#
        );
        let event = Incoming {
            operation,
            event_type: proposal.event,
            name: &name,
            resource: &resource,
            entity: proposal.entity,
            occurrence,
            version,
            delivery: &delivery,
            receipt,
            payload: payload.as_bytes(),
        };
        self.slips.runs += 1;
        let done = poll_once(self.receiver(worker).apply(tx, &event));
        self.effects = tx.effects();
        let Some(done) = done else {
            self.slips.waits = Some(name);
            return Err(HandlerError::infrastructure("the handler awaits something else"));
        };
        if let Err(error) = &done {
            self.slips.note(&name, error, tx.is_hurt());
        }
        done
    }

    fn effects(&self) -> &[Operation] {
        &self.effects
    }

    fn restarted(&mut self, process: ProcessNo) {
        if let Some(receiver) = self.running.get_mut(usize::from(process)) {
            *receiver = None;
        }
    }
}

/// A transaction of the simulator answers at once, so a future that awaits nothing else is ready.
fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}
