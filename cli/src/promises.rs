//! `hookproof promises`: what is promised, and what of it a proof decides.

use std::io::{self, Write};

use hookproof_sim::promise::Promise;

use crate::{End, say::DIM};

pub(crate) fn list(out: &mut dyn Write) -> io::Result<End> {
    for promise in Promise::ALL {
        let checked = Promise::CHECKED.contains(&promise);
        let note = if checked { "" } else { "  (not decided by `prove`)" };
        writeln!(out, "{promise:<4} {}{DIM}{note}{DIM:#}", promise.sentence())?;
    }
    Ok(End::Kept)
}
