//! sim
pub mod history;
pub mod promise;
