//! A deterministic world around [`hookproof_core`]: faults, walks, explorer, oracle, rogues.

/// `Clone` field by field, so that `clone_from` reuses the buffers.
macro_rules! clone_reusing {
    ($type:ident $(<$life:lifetime>)? { $($field:ident),+ $(,)? }) => {
        impl $(<$life>)? Clone for $type $(<$life>)? {
            fn clone(&self) -> Self {
                Self { $($field: self.$field.clone()),+ }
            }

            fn clone_from(&mut self, source: &Self) {
                $(self.$field.clone_from(&source.$field);)+
            }
        }
    };
}

pub mod check;
pub mod dice;
pub mod explore;
pub mod handler;
pub mod history;
pub mod models;
pub mod named;
pub mod oracle;
pub mod picture;
pub mod promise;
pub mod prove;
pub mod record;
pub mod rogue;
pub mod scenario;
pub mod setup;
pub mod situation;
pub mod swarm;
pub mod trace;
pub mod walk;
pub mod world;

pub use check::check;
