//! Keeping what a failure needs as a file: a scenario that `hookproof replay` runs.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use hookproof_sim::{
    prove::{Found, Hunt, favours},
    rogue::Rogue,
    scenario::{Scenario, Shrunk, shrink},
    swarm::draw_for,
};

use super::{Options, Outcome};
use crate::input::note;

/// Where scenarios were written.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Of rogues.
    pub(crate) rogues: BTreeMap<&'static str, PathBuf>,
    /// Of the code that was checked, by the seed.
    pub(crate) found: BTreeMap<u64, PathBuf>,
    /// What was written there, and the wrong line that was in the code.
    pub(crate) broken: BTreeMap<u64, (Scenario, Option<Rogue>)>,
}

/// Writes the scenario of each promise that was broken, of a rogue that was asked for by name, and,
/// where a directory is named, of every rogue.
pub(crate) fn keep(outcome: &Outcome, options: &Options) -> Kept {
    let mut kept = Kept::default();
    let walked = outcome.walked.as_ref().and_then(|walked| walked.walks.found.as_ref());
    let walked = walked.map(|found| (found, options.favoured(), options.sabotage));
    let honest = outcome
        .hunts
        .iter()
        .filter_map(|hunt| hunt.honest.as_ref().map(|found| (found, favours(hunt.rogue), None)));
    for (found, favoured, sabotage) in walked.into_iter().chain(honest) {
        let scenario = broken(found, favoured, sabotage);
        let path = write(&format!("seed-{}", found.seed), &scenario, options);
        kept.found.extend(path.map(|path| (found.seed, path)));
        kept.broken.insert(found.seed, (scenario, sabotage));
    }
    for hunt in &outcome.hunts {
        let Some(shrunk) = &hunt.shrunk else { continue };
        if options.out.is_some() || options.one_rogue() == Some(hunt.rogue) {
            let path = write(hunt.rogue.name(), &of_rogue(hunt, shrunk), options);
            kept.rogues.extend(path.map(|path| (hunt.rogue.name(), path)));
        }
    }
    kept
}

fn of_rogue(hunt: &Hunt, shrunk: &Shrunk) -> Scenario {
    let name = format!("{} breaks {}", hunt.rogue.name(), shrunk.scenario.about);
    Scenario { name, ..shrunk.scenario.clone() }
}

/// A run in which the code that is checked breaks a promise, without all that the breach does not need.
fn broken(
    found: &Found,
    favoured: &[hookproof_sim::history::Family],
    sabotage: Option<Rogue>,
) -> Scenario {
    let promise = found.breach.promise;
    let whole = Scenario::of(&draw_for(found.seed, favoured), promise, sabotage);
    let left = shrink(&whole, sabotage, promise).map_or(whole, |shrunk| shrunk.scenario);
    Scenario {
        name: format!("{promise} is broken, from seed {}", found.seed),
        broken_by: None,
        ..left
    }
}

fn write(name: &str, scenario: &Scenario, options: &Options) -> Option<PathBuf> {
    let directory = options.out.as_deref().unwrap_or(Path::new(OUT));
    let path = directory.join(format!("{name}.json"));
    let written = fs::create_dir_all(directory).and_then(|()| fs::write(&path, scenario.to_json()));
    if let Err(error) = written {
        note("error", &format!("{}: expected to write a scenario: {error}", path.display()));
        return None;
    }
    Some(path)
}

/// Where scenarios are written unless said.
pub(crate) const OUT: &str = "hookproof-scenarios";
