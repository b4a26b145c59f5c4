//! The receiver under test, as the world calls it: one a process, polled in place.

use core::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

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
    /// How often the handler ran.
    pub(super) runs: u64,
    /// The event of which it awaited something else than its transaction.
    pub(super) waits: Option<String>,
}

impl<'a, F: Fn() -> H, H> Receivers<'a, F, H> {
    pub(super) fn new(start: &'a F, names: &'a [String]) -> Self {
        Self { start, running: Vec::new(), names, effects: Vec::new(), runs: 0, waits: None }
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
        self.runs += 1;
        let done = poll_once(self.receiver(worker).apply(tx, &event));
        self.effects = tx.effects();
        done.unwrap_or_else(|| {
            self.waits = Some(name);
            Err(HandlerError::infrastructure("the handler awaits something else"))
        })
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
