//! A deterministic world around [`hookproof_core`]: faults, walks, explorer, oracle, rogues.

pub mod dice;
pub mod handler;
pub mod history;
pub mod models;
pub mod named;
pub mod oracle;
pub mod promise;
pub mod prove;
pub mod rogue;
pub mod setup;
pub mod swarm;
pub mod trace;
pub mod walk;
pub mod world;
