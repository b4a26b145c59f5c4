//! Cases as data, and what runs them against the built-in implementation.
//!
//! A *case* is one input and the one right outcome, in a form that any language can read: the files
//! under `vectors/cases/`. This crate reads such files ([`cases::File`]), runs them
//! ([`cases::File::check`]), holds them to the house rules ([`lint`]), makes the generated ones anew
//! ([`generate`]) and checks the published vectors ([`published`]).

pub mod cases;
pub mod generate;
pub mod lint;
pub mod published;
pub mod recipe;
pub mod schema;
