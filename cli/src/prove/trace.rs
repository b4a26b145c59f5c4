//! `hookproof prove --seed S`: one history, one line an event. Nothing in it depends on the process.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
};

use hookproof_sim::{
    history::Family,
    oracle::Breach,
    prove::{favours, walk_one},
    record,
    rogue::Rogue,
    setup::Setup,
};

use super::Options;
use crate::{
    End,
    input::note,
    say::{BAD, DIM, GOOD, OPEN, count, hanging},
};

pub(crate) fn print(seed: u64, options: &Options, out: &mut dyn Write) -> io::Result<End> {
    // Sabotaged code is looked at as the correct code is: in the same histories.
    let rogue = options.one_rogue().filter(|_| options.sabotage.is_none());
    let favoured = rogue.map_or(options.favoured(), favours);
    let (setup, lines, broken) = walk_one(seed, favoured, rogue.or(options.sabotage));
    if let Some(path) = &options.history {
        let written = File::create(path).and_then(|file| {
            let mut file = BufWriter::new(file);
            record::write(&setup.terms, &lines, &mut file)?;
            file.flush()
        });
        if let Err(error) = written {
            note("error", &format!("{}: expected a writable file: {error}", path.display()));
            return Ok(End::Failed);
        }
    }
    head(&setup, rogue.or(options.sabotage), out)?;
    for line in &lines {
        writeln!(out, "{line}")?;
    }
    let steps = count(lines.len() as u64, "line", "lines");
    for Breach { promise, what } in &broken {
        writeln!(out, "{BAD}{promise} is broken{BAD:#} after {steps}: {what}")?;
        writeln!(out, "{DIM}{promise}: {}{DIM:#}", promise.sentence())?;
    }
    if broken.is_empty() {
        writeln!(out, "{GOOD}no promise is broken{GOOD:#} in {steps}")?;
    }
    let Some(rogue) = rogue else {
        return Ok(if broken.is_empty() { End::Kept } else { End::Broken });
    };
    let caught = broken.iter().any(|breach| rogue.breaks().contains(&breach.promise));
    if !caught {
        let name = rogue.name();
        writeln!(out, "{OPEN}{name} is not caught by this history{OPEN:#}")?;
        writeln!(out, "a history that catches it: hookproof prove --rogue {name}")?;
    }
    Ok(if caught { End::Kept } else { End::Broken })
}

/// The run before its first step.
fn head(setup: &Setup, rogue: Option<Rogue>, out: &mut dyn Write) -> io::Result<()> {
    let of = |number: u32, one, many| count(u64::from(number), one, many);
    let processes = [
        of(u32::from(setup.relays), "relay", "relays"),
        of(u32::from(setup.ingresses), "ingress", "ingresses"),
        of(u32::from(setup.workers), "worker", "workers"),
    ];
    let facts = format!(
        "{} of {} for {}",
        of(setup.events.len() as u32, "event", "events"),
        of(setup.terms.model_of.len() as u32, "entity", "entities"),
        of(setup.endpoints, "endpoint", "endpoints"),
    );
    let profile = &setup.terms.profile;
    let on: Vec<&str> = Family::ALL
        .into_iter()
        .filter(|family| setup.odds.of(*family) > 0)
        .map(Family::name)
        .collect();
    writeln!(out, "{DIM}seed {}: {facts}; {}", setup.seed, processes.join(", "))?;
    writeln!(
        out,
        "profile {}, {} a cycle",
        profile.name,
        of(u32::from(profile.ladder.attempts()), "attempt", "attempts")
    )?;
    writeln!(out, "{FAULTS}{}{DIM:#}", hanging(&on.join(", "), FAULTS.len()))?;
    if let Some(rogue) = rogue {
        let said = format!("with the rogue {}: {}", rogue.name(), rogue.sentence());
        writeln!(out, "{OPEN}{}{OPEN:#}", hanging(&said, 0))?;
    }
    writeln!(out)
}

const FAULTS: &str = "faults that may happen: ";
