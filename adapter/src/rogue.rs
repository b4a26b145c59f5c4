//! Wrong lines that people really write, one at a time, and nothing at all in production.
//!
//! A wrong line is behind `rogue::is(Rogue::…)`, which is never so without the feature `rogues`. With it a
//! test runs a check `with` a rogue on its thread, and the check must fail for the promise that it breaks.

/// One wrong line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rogue {
    /// A claim's number is not stored, so every claim of a delivery is the same one (S5).
    NoFence,
    /// Whatever the row has become meanwhile, the outcome of an attempt is written (S5).
    UnconditionalSettle,
    /// The work is committed, and then the handler runs in a transaction of its own (R7, E1).
    EffectApart,
    /// No constraint decides who is first: the receipt is looked for, and inserted where there is none (R4).
    CheckThenInsert,
    /// The guards read their rows and do not lock them (S5, R9).
    GuardsWithoutLock,
    /// An insert that fails for any reason is taken for a duplicate (R4).
    AnyErrorIsDuplicate,
}

#[cfg(feature = "rogues")]
pub use self::armed::{is, with};

/// Whether this line is the wrong one. It is not.
#[cfg(not(feature = "rogues"))]
pub(crate) const fn is(_: Rogue) -> bool {
    false
}

#[cfg(feature = "rogues")]
mod armed {
    use std::cell::Cell;

    use super::Rogue;

    thread_local! {
        static WRONG: Cell<Option<Rogue>> = const { Cell::new(None) };
    }

    /// Whether this line is the wrong one, on this thread.
    pub fn is(rogue: Rogue) -> bool {
        WRONG.get() == Some(rogue)
    }

    /// Runs a check with a wrong line on this thread.
    pub fn with<T>(rogue: Rogue, check: impl FnOnce() -> T) -> T {
        struct Right;
        impl Drop for Right {
            fn drop(&mut self) {
                WRONG.set(None);
            }
        }
        let _right = Right;
        WRONG.set(Some(rogue));
        check()
    }
}
