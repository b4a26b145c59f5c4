//! Runs the tests against one swapped statement after the other, and gives the names of those that no test
//! notices.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    Database, Mutant,
    copy::{BETWEEN, SENT, VARIABLE},
};
use crate::postgres::{self, Server};

pub(super) struct Hunt {
    folder: PathBuf,
    tests: Vec<Test>,
    server: Server,
    /// What the programs are now: what was noticed by others counts as a hint alone.
    stamp: String,
    /// By the name of a mutant: which test noticed it, and whether in these very programs.
    known: BTreeMap<String, (String, bool)>,
    /// How often each test was the first to notice.
    merits: Mutex<BTreeMap<String, usize>>,
    /// By the name of a test that was seen to pass with nothing gone: what it sends and how long it takes.
    whole: Mutex<BTreeMap<String, Whole>>,
    said: Mutex<fs::File>,
}

#[derive(Clone, Debug)]
struct Test {
    program: String,
    name: String,
}

/// A run of a test in which nothing was gone.
struct Whole {
    statements: BTreeSet<String>,
    took: Duration,
}

/// How a test ended under a swapped statement.
enum End {
    /// With the statements that it sent.
    Passed(Whole),
    /// With what it said.
    Failed(String),
    /// It was still waiting at its limit.
    Hung,
}

/// Whether a test is not one of the store suite, which has a clock of its own.
fn is_timed(test: &Test) -> bool {
    !test.program.contains("stores")
}

impl Hunt {
    pub(super) fn new(folder: &Path, programs: &[String], fresh: bool) -> Result<Self> {
        let mut tests = Vec::new();
        for program in programs {
            let list =
                postgres::answer(Command::new(program).args(["--list", "--format", "terse"]))?;
            let names = list.lines().filter_map(|line| line.strip_suffix(": test"));
            tests
                .extend(names.map(|name| Test { program: program.clone(), name: name.to_owned() }));
        }
        let stamp = stamp(programs)?;
        let memory = folder.join("noticed");
        if fresh && memory.exists() {
            fs::remove_file(&memory)?;
        }
        let text = fs::read_to_string(&memory).unwrap_or_default();
        let known = text.lines().filter_map(|line| {
            let [when, test, name] = line.splitn(3, '\t').collect::<Vec<_>>().try_into().ok()?;
            Some((String::from(name), (String::from(test), when == stamp)))
        });
        let known = known.collect();
        let said = fs::OpenOptions::new().create(true).append(true).open(memory)?;
        Ok(Self {
            folder: folder.to_owned(),
            tests,
            server: Server::start()?,
            stamp,
            known,
            merits: Mutex::default(),
            whole: Mutex::default(),
            said: Mutex::new(said),
        })
    }

    /// The names of those that no test notices, in their order.
    pub(super) fn run(&self, mutants: &[Mutant]) -> Result<Vec<String>> {
        let left: Vec<&Mutant> = mutants
            .iter()
            .filter(|mutant| !matches!(self.known.get(&mutant.name), Some((_, true))))
            .collect();
        println!(
            "{} clauses, {} of them noticed before",
            mutants.len(),
            mutants.len() - left.len()
        );
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, Result<bool>)>> = Mutex::default();
        // Each has a database of its own, since a test waits for the sessions that it sees.
        let work = |database: &str| {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(mutant) = left.get(at) else { break };
                let noticed = self.notice(mutant, database);
                if let Err(error) = &noticed {
                    println!("{}: {error:#}", mutant.name);
                }
                lock(&results).push((at, noticed));
            }
        };
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        let databases: Vec<String> = (0..jobs).map(|job| format!("hunt_{job}")).collect();
        for database in &databases {
            self.server.make_database(database)?;
        }
        thread::scope(|scope| {
            for database in &databases {
                scope.spawn(|| work(database));
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(at, _)| *at);
        let mut unnoticed = Vec::new();
        for (at, noticed) in results {
            if !noticed? {
                unnoticed.push(left[at].name.clone());
            }
        }
        Ok(unnoticed)
    }

    /// With nothing gone a test passes, or its failure says nothing.
    fn passes_whole(&self, test: &Test, swap: &Path, url: &str) -> Result<bool> {
        if lock(&self.whole).contains_key(&test.name) {
            return Ok(true);
        }
        let End::Passed(whole) = run(test, &swap.with_extension("none"), url, LIMIT)? else {
            return Ok(false);
        };
        self.note(test, whole);
        Ok(true)
    }

    /// How long a test may take before it counts as hung.
    fn limit(&self, test: &Test) -> Duration {
        match lock(&self.whole).get(&test.name) {
            Some(whole) => LIMIT.min(PATIENCE + 10 * whole.took),
            None => LIMIT,
        }
    }

    fn note(&self, test: &Test, whole: Whole) {
        lock(&self.whole).insert(test.name.clone(), whole);
    }

    /// Whether this test is known to do without the statement.
    fn does_without(&self, test: &Test, statement: &str) -> bool {
        let whole = lock(&self.whole);
        whole.get(&test.name).is_some_and(|whole| !whole.statements.contains(statement))
    }

    /// Whether a test fails without this clause: the first that does ends it.
    fn notice(&self, mutant: &Mutant, database: &str) -> Result<bool> {
        let swap = self.folder.join(database);
        fs::write(&swap, format!("{}{BETWEEN}{}", mutant.from, mutant.to))?;
        let url = self.server.url_of(database);
        let mut noticed = None;
        for test in self.order(mutant) {
            if self.does_without(test, &mutant.from) {
                continue;
            }
            let limit = self.limit(test);
            match run(test, &swap, &url, limit)? {
                End::Passed(run) => {
                    if !run.statements.contains(&mutant.from) {
                        self.note(test, run);
                    }
                    continue;
                }
                End::Failed(said) if said.contains("syntax error") => {
                    bail!("expected a statement without its clause, not nonsense:\n{}", mutant.to)
                }
                // What waits for real time may fail on a slow machine, and then not again.
                End::Failed(_)
                    if is_timed(test)
                        && matches!(run(test, &swap, &url, limit)?, End::Passed(_)) =>
                {
                    continue;
                }
                End::Failed(_) | End::Hung => ensure!(
                    self.passes_whole(test, &swap, &url)?,
                    "expected {} to pass with nothing gone",
                    test.name
                ),
            }
            noticed = Some(&test.name);
            break;
        }
        let Some(test) = noticed else {
            println!("{}: NOTHING", mutant.name);
            return Ok(false);
        };
        println!("{}: {test}", mutant.name);
        *lock(&self.merits).entry(test.clone()).or_default() += 1;
        writeln!(lock(&self.said), "{}\t{test}\t{}", self.stamp, mutant.name)?;
        Ok(true)
    }

    /// The tests that can notice: the one that did last time, then for a table those of the schema and for a
    /// statement the others, the quick ones before those that run for seconds, those that noticed most. A test
    /// that names one database says nothing about the other.
    fn order(&self, mutant: &Mutant) -> Vec<&Test> {
        // SQLite has one writer, so that nobody races there; a server that is killed has no clauses.
        let others: &[&str] = match mutant.database {
            Database::Postgres => &["sqlite", "killed::"],
            Database::Sqlite => &["postgres", "locks::", "race::", "killed::"],
        };
        let (merits, whole) = (lock(&self.merits), lock(&self.whole));
        let known = self.known.get(&mutant.name).map(|(test, _)| test);
        let mut tests: Vec<&Test> = self
            .tests
            .iter()
            .filter(|test| !others.iter().any(|part| test.name.contains(part)))
            .collect();
        tests.sort_by_key(|test| {
            let merit = merits.get(&test.name).copied().unwrap_or(0);
            let apart = mutant.name.contains(".sql ") != test.name.contains("::schema::");
            let own = test.name.contains(&mutant.database.to_string());
            let slow = match whole.get(&test.name) {
                Some(whole) => whole.took > QUICK,
                None => is_timed(test) || SLOW.iter().any(|part| test.name.starts_with(part)),
            };
            (known != Some(&test.name), apart, slow, usize::MAX - merit, !own)
        });
        tests
    }
}

/// Tests that run for seconds, until it is known which do.
const SLOW: [&str; 3] = ["crowd::", "race::", "random::"];

const QUICK: Duration = Duration::from_secs(1);

/// How long a test may wait for a row before it counts as hung, while nobody knows how long it takes.
const LIMIT: Duration = Duration::from_mins(1);
/// And how much longer than it should, where somebody does.
const PATIENCE: Duration = Duration::from_secs(5);

fn run(test: &Test, swap: &Path, url: &str, limit: Duration) -> Result<End> {
    let (output, sent) = (swap.with_extension("said"), swap.with_extension("sent"));
    fs::write(&sent, "")?;
    let begin = Instant::now();
    let mut child = Command::new(&test.program)
        .args(["--exact", &test.name])
        .env(VARIABLE, swap)
        .env(SENT, &sent)
        .env(postgres::VARIABLE, url)
        .env("PROPTEST_MAX_SHRINK_ITERS", "0")
        .stdout(fs::File::create(&output)?)
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("expected to start {}", test.program))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begin.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(End::Hung);
        }
        thread::sleep(Duration::from_millis(5));
    };
    let took = begin.elapsed();
    if !status.success() {
        return Ok(End::Failed(fs::read_to_string(&output)?));
    }
    let statements = fs::read_to_string(&sent)?;
    let statements = statements.split_terminator(BETWEEN).map(str::to_owned).collect();
    Ok(End::Passed(Whole { statements, took }))
}

fn stamp(programs: &[String]) -> Result<String> {
    let mut stamps = Vec::new();
    for program in programs {
        let file = fs::metadata(program)?;
        let changed = file.modified()?.duration_since(std::time::UNIX_EPOCH)?;
        stamps.push(format!("{}-{}", file.len(), changed.as_nanos()));
    }
    Ok(stamps.join(","))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
