//! The application's handler, as the world runs it: inside the transaction that marks the receipt.

mod tx;

use hookproof_core::{
    Id,
    handler::HandlerError,
    model::{Operation, Proposal},
};

use crate::world::ProcessNo;
pub(crate) use tx::{Left, Luck};
pub use tx::{OutsideTx, SimTx, Tables, TxError};

/// What the world calls where a plan says [`hookproof_core::plan::Write::Handle`].
pub trait Handle {
    /// Whether the handler says itself what its effects are. The built-in one has one effect an
    /// operation, which the world writes down; nothing below is asked of it.
    fn speaks(&self) -> bool;

    /// Runs in this worker, within `tx`.
    fn run(
        &mut self,
        worker: ProcessNo,
        tx: &mut SimTx,
        called: &Called,
    ) -> Result<(), HandlerError>;

    /// What the last run makes true if its transaction commits.
    fn effects(&self) -> &[Operation];

    /// This process started anew: what it had in memory is gone.
    fn restarted(&mut self, process: ProcessNo);
}

/// What the world knows of the event that a handler is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    /// The receipt; its number is that of the delivery id.
    pub receipt: Id,
    /// What the event proposes.
    pub proposal: Proposal,
    /// The operation that it asks for.
    pub operation: Operation,
}

/// The built-in handler: each operation is its own one effect.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneEffect;

impl Handle for OneEffect {
    fn speaks(&self) -> bool {
        false
    }

    fn run(&mut self, _: ProcessNo, _: &mut SimTx, _: &Called) -> Result<(), HandlerError> {
        unreachable!("a handler that does not speak is not called")
    }

    fn effects(&self) -> &[Operation] {
        &[]
    }

    fn restarted(&mut self, _: ProcessNo) {}
}
