//! `hookproof rogues`: the wrong implementations, what they do, and the promises that catch them.

use std::io::{self, Write};

use hookproof_sim::rogue::{CANARY, Rogue};

use crate::{
    End,
    say::{DIM, hanging},
};

pub(crate) fn list(out: &mut dyn Write) -> io::Result<End> {
    for &rogue in Rogue::ALL {
        let breaks: Vec<&str> = rogue.breaks().iter().map(|promise| promise.id()).collect();
        let note = if rogue == CANARY { "  (the canary)" } else { "" };
        writeln!(out, "{:<30} {}{DIM}{note}{DIM:#}", rogue.name(), breaks.join(" "))?;
        writeln!(out, "    {}", hanging(rogue.sentence(), 4))?;
    }
    Ok(End::Kept)
}
