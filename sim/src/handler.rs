//! The application's handler, as the world runs it: inside the transaction that marks the receipt.

/// What the world calls where a plan says [`hookproof_core::plan::Write::Handle`].
pub trait Handle {
    /// Whether the handler says itself what its effects are. The built-in one has one effect an
    /// operation, which the world writes down.
    fn speaks(&self) -> bool;
}

/// The built-in handler: each operation is its own one effect.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneEffect;

impl Handle for OneEffect {
    fn speaks(&self) -> bool {
        false
    }
}
