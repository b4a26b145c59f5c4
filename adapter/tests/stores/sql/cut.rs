//! A connection that is cut around the commit: before the server heard of it, and before we heard of its
//! answer. Both are unknown, and only the rows can tell.

use std::path::{Path, PathBuf};

use hookproof::{Clock, Content, Durability, Error, PgStore, Store, commit};
use hookproof_core::plan::Outcome;
use sqlx::postgres::PgConnectOptions;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixListener, UnixStream},
};

use super::faults::{NOW, letter, received};
use crate::databases;

/// Where the proxy cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    BeforeCommit,
    BeforeItsAnswer,
}

/// A COMMIT as a client sends it: a query of its own.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// Carries one connection through, up to its first commit.
async fn carry(mut client: UnixStream, server: PathBuf, cut: Cut) {
    let mut server = UnixStream::connect(server).await.unwrap();
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let asked = &asked[..read.unwrap_or(0)];
                let commits = asked.windows(COMMIT.len()).any(|bytes| bytes == COMMIT);
                if asked.is_empty() || commits && cut == Cut::BeforeCommit {
                    return;
                }
                server.write_all(asked).await.unwrap();
                if commits {
                    let answer = server.read(&mut answered).await.unwrap();
                    assert!(answer > 0, "the server has answered, and nobody will hear of it");
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let answered = &answered[..read.unwrap_or(0)];
                if answered.is_empty() {
                    return;
                }
                client.write_all(answered).await.unwrap();
            }
        }
    }
}

async fn cut(cut: Cut) -> (PgStore, Result<(), Error>) {
    let options = databases::schema().await;
    let straight = databases::open(options.clone(), Clock::fixed(NOW)).await;
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
    let server = socket_of(&options).join(SOCKET);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(carry(client, server.clone(), cut));
        }
    });
    let through = options.socket(folder.path());
    let store = PgStore::open(through, 1, Durability::Waived, Clock::fixed(NOW)).await.unwrap();
    let letter = letter("a");
    let tx = store.begin().await.unwrap();
    let answer = commit(&store, tx, received(1), Content::Letter(&letter)).await;
    (straight, answer.map(drop))
}

fn socket_of(options: &PgConnectOptions) -> &Path {
    options.get_socket().map(PathBuf::as_path).expect("`cargo xtask postgres` listens on a socket")
}

const SOCKET: &str = ".s.PGSQL.5432";

async fn has_receipt(store: &PgStore) -> bool {
    let mut tx = store.begin().await.unwrap();
    store.receipt_of(&mut tx, "partner", "", "a").await.unwrap().is_some()
}

#[tokio::test]
async fn a_commit_that_the_server_never_heard_of_is_unknown_in_postgresql() {
    let (store, answer) = cut(Cut::BeforeCommit).await;
    assert_eq!(answer.map_err(|error| error.outcome()), Err(Outcome::Unknown));
    assert!(!has_receipt(&store).await, "it is not in");
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_unknown_in_postgresql() {
    let (store, answer) = cut(Cut::BeforeItsAnswer).await;
    assert_eq!(answer.map_err(|error| error.outcome()), Err(Outcome::Unknown));
    assert!(has_receipt(&store).await, "it is in");
}
