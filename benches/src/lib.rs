//! Benches alone: `cargo bench -p hookproof-benches`. Nothing depends on this crate.
