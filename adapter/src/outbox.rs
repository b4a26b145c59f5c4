//! Publishing in the caller's own transaction (S1, S15).

use core::future::Future;

use hookproof_core::{
    Digest, Id, Millis,
    outbox::{self, Event, Published},
    plan::{Outcome, Plan, Put, Write},
};
use sqlx::{PgConnection, Postgres, Sqlite, SqliteConnection, Transaction};

use crate::{clock::Clock, error::Error, ident, store::Message};

/// Publishes an event in the caller's own transaction: it exists if and only if that commits, and then it
/// is delivered. Publishing again under the same id is one event.
///
/// The answer is true once the caller's transaction has committed. A plain `INSERT INTO outbox_events` of
/// the contract's columns does the same.
pub async fn enqueue<C: Enqueue>(
    connection: &mut C,
    message: &Message,
) -> Result<Published, Error> {
    connection.enqueue(message).await
}

/// A connection or transaction that an event can be published in.
pub trait Enqueue {
    /// See [`enqueue`].
    fn enqueue(
        &mut self,
        message: &Message,
    ) -> impl Future<Output = Result<Published, Error>> + Send;
}

impl Enqueue for PgConnection {
    async fn enqueue(&mut self, message: &Message) -> Result<Published, Error> {
        publish(&mut crate::postgres::Outbox(self, &Clock::database()), message).await
    }
}

impl Enqueue for SqliteConnection {
    async fn enqueue(&mut self, message: &Message) -> Result<Published, Error> {
        publish(&mut crate::sqlite::Outbox(self, &Clock::database()), message).await
    }
}

impl Enqueue for Transaction<'_, Postgres> {
    async fn enqueue(&mut self, message: &Message) -> Result<Published, Error> {
        (**self).enqueue(message).await
    }
}

impl Enqueue for Transaction<'_, Sqlite> {
    async fn enqueue(&mut self, message: &Message) -> Result<Published, Error> {
        (**self).enqueue(message).await
    }
}

/// What publishing asks of a database.
pub(crate) trait Table {
    async fn now(&mut self) -> Result<Millis, Error>;
    /// Inserts the event unless its key is taken; waits for whoever is just taking it.
    async fn insert(&mut self, event: &Event, message: &Message) -> Result<bool, Error>;
    async fn find(&mut self, id: Id) -> Result<Option<Event>, Error>;
}

/// Publishes within a transaction: the row's key decides who is first.
pub(crate) async fn publish<T: Table>(
    table: &mut T,
    message: &Message,
) -> Result<Published, Error> {
    let digest = ident::digest(message.payload.as_bytes());
    let first = decide(None, message.id, digest, table.now().await?);
    for write in first.writes() {
        if let Write::Event(Put { row, .. }) = write
            && table.insert(row, message).await?
        {
            return Ok(answer(first));
        }
    }
    // Taken and not to be seen: it came after this transaction's snapshot.
    let found = table.find(message.id).await?.ok_or(Error::Conflict)?;
    Ok(answer(decide(Some(&found), message.id, digest, found.created)))
}

fn decide(found: Option<&Event>, id: Id, digest: Digest, now: Millis) -> Plan<Published> {
    outbox::publish(found, id, digest, now)
}

/// The commit is the caller's: the answer is given out on the understanding that it holds then.
fn answer(plan: Plan<Published>) -> Published {
    let Ok(published) = plan.commit(|_| Outcome::Committed) else {
        unreachable!("what committed is given out")
    };
    published
}
