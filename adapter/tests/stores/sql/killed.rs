//! The database is killed and started again between any two steps, and within one: what was committed is
//! there, and nothing else.

use std::{
    env,
    path::{Path, PathBuf},
    process::{self, Command},
};

use hookproof::{Bundle, Clock, Content, Durability, PgStore, SqliteStore, Store, commit};
use hookproof_core::{handler::Handler, outbox::Ended};
use hookproof_sim::models::ORDER;
use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;

use super::faults::{NOW, letter, received};
use crate::{
    databases::{self, Effect, Probe},
    drive::Driver,
    model::ModelTx,
    ops::{Op, Step},
};

/// A server of the test's own. It is stopped when it is dropped.
struct Server {
    programs: Vec<String>,
    folder: TempDir,
}

impl Server {
    fn new() -> Self {
        let programs = env::var(PROGRAMS).unwrap_or_else(|_| {
            panic!("expected {PROGRAMS}: run `cargo xtask test tests` or `cargo xtask postgres`")
        });
        let programs: Vec<String> = programs.split(' ').map(str::to_owned).collect();
        let folder = tempfile::tempdir().unwrap();
        if let Some(at) = programs.iter().position(|word| word == "--reuid") {
            run(Command::new("chown").arg(&programs[at + 1]).arg(folder.path()));
        }
        let server = Self { programs, folder };
        let init = ["--username=hookproof", "--auth=trust", "--encoding=UTF8", "--no-locale"];
        run(server.command("initdb").args(init).arg("--no-sync").arg(server.data()));
        server.start();
        server
    }

    fn start(&self) {
        let folder = self.folder.path().display();
        let socket = format!("-c listen_addresses= -c unix_socket_directories={folder}");
        let log = self.folder.path().join("log");
        let mut start = self.command("pg_ctl");
        start.args(["start", "--wait", "--silent", "--options", &socket, "--log"]).arg(log);
        run(start.arg("--pgdata").arg(self.data()));
    }

    /// As a power cut does it.
    fn kill(&self) {
        let mut stop = self.command("pg_ctl");
        run(stop.args(["stop", "--silent", "--mode=immediate", "--pgdata"]).arg(self.data()));
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn options(&self) -> PgConnectOptions {
        let options = PgConnectOptions::new().username("hookproof").database("postgres");
        options.socket(self.folder.path())
    }

    fn command(&self, program: &str) -> Command {
        let (last, before) = self.programs.split_last().expect("a program");
        let program = format!("{last}{program}");
        let Some((first, words)) = before.split_first() else { return Command::new(program) };
        let mut command = Command::new(first);
        command.args(words).arg(program);
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.command("pg_ctl");
        stop.args(["stop", "--silent", "--mode=immediate", "--pgdata"]).arg(self.data());
        drop(stop.status());
    }
}

fn run(command: &mut Command) {
    // A server that is started holds what it was started with, so nothing of ours is piped to it.
    let ended = command.stdout(process::Stdio::null()).status().unwrap();
    assert!(ended.success(), "{command:?}: {ended}");
}

/// A history in which each kind of row is made and changed.
fn steps() -> Vec<Step> {
    let receive = Op::Receive { delivery: 2, other_body: false };
    [
        Op::Publish { event: 1, other_body: false },
        Op::FanOut,
        Op::Claim { most: 1, roll: 0 },
        Op::Settle { which: 0, ended: Ended::Acknowledged, roll: 0 },
        receive,
        Op::Take { most: 1 },
        Op::Work { which: 0, effect: Effect::Made, roll: 0 },
        Op::Resend { delivery: 2 },
    ]
    .map(Step::Do)
    .to_vec()
}

/// Takes each step on both, and asks for the same rows after whatever happens in between.
async fn survives<S: Probe>(store: S, mut happens: impl AsyncFnMut(S) -> S)
where
    Effect: Handler<S::Tx> + Handler<ModelTx>,
{
    let clock = Clock::fixed(NOW);
    let mut model = Driver::new(databases::model(clock.clone()), ORDER);
    let mut database = Driver::new(store, ORDER);
    for step in steps() {
        let expected = model.step(&step).await;
        assert_eq!(database.step(&step).await, expected, "{step:?}");
        let held = (database.attempts, database.jobs);
        database = Driver::new(happens(database.store).await, ORDER);
        (database.attempts, database.jobs) = held;
        assert_eq!(database.rows().await, model.rows().await, "after {step:?}");
        assert_eq!(database.store.lines().await, model.store.lines().await, "after {step:?}");
    }
}

#[tokio::test]
async fn what_is_committed_survives_a_kill_between_any_two_steps_in_postgresql() {
    let server = Server::new();
    let store = databases::open(server.options(), Clock::fixed(NOW)).await;
    survives(store, async |store: PgStore| {
        server.kill();
        server.start();
        store
    })
    .await;
}

#[tokio::test]
async fn what_is_not_committed_does_not_survive_a_kill_in_postgresql() {
    let server = Server::new();
    let store = databases::open(server.options(), Clock::fixed(NOW)).await;
    let (plan, content) = (received(1), letter("a"));
    let bundle = Bundle { writes: plan.writes(), content: Content::Letter(&content) };
    let mut tx = store.begin().await.unwrap();
    assert_eq!(store.write_each(&mut tx, &[bundle]).await, Ok(vec![true]));
    server.kill();
    assert!(store.commit(tx).await.is_err(), "nobody answers");
    server.start();
    let again = commit(&store, store.begin().await.unwrap(), plan, Content::Letter(&content)).await;
    assert!(again.is_ok(), "nothing is in the way: {again:?}");
}

#[tokio::test]
async fn what_is_committed_survives_a_new_process_between_any_two_steps_in_sqlite() {
    let (store, folder) = databases::sqlite(Clock::fixed(NOW)).await;
    survives(store, async |store: SqliteStore| {
        // Somebody was in the middle of something.
        let mut tx = store.begin().await.unwrap();
        sqlx::query("DELETE FROM hookproof_endpoints").execute(&mut *tx).await.unwrap_err();
        sqlx::query("DELETE FROM webhook_inbox").execute(&mut *tx).await.unwrap();
        drop(tx);
        store.pool().close().await;
        open(folder.path()).await
    })
    .await;
}

async fn open(folder: &Path) -> SqliteStore {
    let path = folder.join("hookproof.db");
    SqliteStore::open(path, Durability::Required, Clock::fixed(NOW)).await.unwrap()
}

/// What another process does until it is killed: one receipt is in, and one is not.
#[tokio::test]
async fn a_process_that_is_killed_leaves_what_it_committed_in_sqlite() {
    if let Some(folder) = env::var_os(FOLDER) {
        let store = open(Path::new(&folder)).await;
        let first = letter("a");
        let tx = store.begin().await.unwrap();
        commit(&store, tx, received(1), Content::Letter(&first)).await.unwrap();
        let (plan, second) = (received(2), letter("b"));
        let bundle = Bundle { writes: plan.writes(), content: Content::Letter(&second) };
        let mut tx = store.begin().await.unwrap();
        store.write_each(&mut tx, &[bundle]).await.unwrap();
        process::abort();
    }
    let (store, folder) = databases::sqlite(Clock::fixed(NOW)).await;
    store.pool().close().await;
    let name = "sql::killed::a_process_that_is_killed_leaves_what_it_committed_in_sqlite";
    let mut child = Command::new(env::current_exe().unwrap());
    let ended = child.args(["--exact", name]).env(FOLDER, folder.path()).output().unwrap();
    assert!(!ended.status.success(), "it is killed");
    let store = open(folder.path()).await;
    let mut tx = store.begin().await.unwrap();
    let mut found = Vec::new();
    for delivery in ["a", "b"] {
        found.push(store.receipt_of(&mut tx, "partner", "", delivery).await.unwrap().is_some());
    }
    assert_eq!(found, [true, false]);
}

/// What `cargo xtask` sets: what stands before the name of a program of the server's.
const PROGRAMS: &str = "HOOKPROOF_POSTGRES_PROGRAMS";
/// Where the process that is to be killed finds its database.
const FOLDER: &str = "HOOKPROOF_KILLED_IN";
