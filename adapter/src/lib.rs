//! Exactly-once webhook effects on PostgreSQL and SQLite: `hookproof-core` in production.
//!
//! A receiver is a [`Setup`] of sources and entity types that becomes an [`Inbox`]. [`Inbox::receive`]
//! stores what is verified before it is answered; a [`Worker`] does what it asks for, each operation once.
//! A sender calls [`outbox::enqueue`] in the transaction that changes its business.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use hookproof::{Clock, Durability, EntityType, Setup, Source, SqliteStore, Worker, blame};
//! # use hookproof_core::{handler::*, model::*, scheme::Window};
//! # use sqlx::{Sqlite, Transaction};
//! # async fn serve(secret: &str, rules: Vec<Rule>) -> Result<(), Box<dyn std::error::Error>> {
//! struct Ledger;
//!
//! impl Handler<Transaction<'static, Sqlite>> for Ledger {
//!     async fn apply(
//!         &self,
//!         tx: &mut Transaction<'static, Sqlite>,
//!         event: &Incoming<'_>,
//!     ) -> Result<(), HandlerError> {
//!         let insert = sqlx::query("INSERT INTO ledger (line) VALUES (?)").bind(event.name);
//!         insert.execute(&mut **tx).await.map_err(|error| blame(&error))?;
//!         Ok(())
//!     }
//! }
//!
//! SqliteStore::migrate("shop.db").await?;
//! let store = SqliteStore::open("shop.db", Durability::Required, Clock::database()).await?;
//! let model = Model::declare(3, Kind::Latest, Order::Graph, Early::Wait, rules)?;
//! let order = EntityType::new("order", model)
//!     .on("order.paid", EventType(1), Ledger)
//!     .on("order.shipped", EventType(2), Ledger)
//!     .resource_at("/data/order");
//! let source = Source::preset("shop", "standard-webhooks")?;
//! let source = source.secret("first", secret, Window::always())?;
//! let inbox = Arc::new(Setup::new(store).source(source).entity(order).open()?);
//! Worker::new(inbox).run(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! The core decides: rows in, guarded writes out. A [`Store`] locks and loads the rows of a decision and
//! carries its plan out; it decides nothing. One round is always the same:
//!
//! ```text
//! begin → lock and load → now → decide (core) → commit: guards, writes, COMMIT → what was sealed
//! ```
//!
//! - Every guard is a lock until the commit. Rows are locked in one order everywhere; a plan whose guard
//!   fails changes nothing and is answered [`Error::Conflict`]: load again, decide again.
//! - [`commit_each`] is many plans in one transaction with one answer each; [`commit_work`] runs the
//!   application's handler inside the transaction that marks its receipt.
//! - [`outbox::enqueue`] publishes in the caller's own transaction. So does a plain SQL insert of the
//!   contract's columns into `outbox_events`.
//! - A store that does not keep what it commits is refused when it is opened (R3).

#[macro_use]
mod sql;

mod audit;
mod batch;
mod bell;
mod clock;
mod commit;
pub mod crash;
mod entity;
mod error;
mod host;
pub mod ident;
mod inbox;
mod migrate;
pub mod outbox;
mod place;
mod postgres;
pub mod rogue;
mod rows;
mod sender;
mod source;
mod sqlite;
mod store;
mod upkeep;
mod vault;
mod words;
mod worker;

pub use crate::{
    bell::Bell,
    clock::Clock,
    commit::{commit, commit_each, commit_work},
    entity::{
        Authority, BadEntityType, EntityType, FETCH_LIMIT, Keeper, Kept, Named, entity_id,
        version_of,
    },
    error::{Error, Fault, blame},
    host::{Host, Machine},
    inbox::{BadInbox, Inbox, NotDone, NotReceived, Person, Received, Setup, book},
    migrate::SCHEMA_VERSION,
    place::{ADDRESS, Place},
    postgres::PgStore,
    sender::{
        Address, Change, Claimed, IdScope, NewEndpoint, NotRegistered, OVERLAP_MS, Outbox, Sealed,
        SenderStore, Sending, Settled,
    },
    source::{ANSWER_LIMIT, BadSource, Source},
    sqlite::SqliteStore,
    store::{Bundle, Callback, Content, EVERY_TYPE, Keys, Letter, Message, Rows, Store},
    upkeep::{Alert, Astray, Pass, UpkeepStore, alert_sent, unsent_alerts},
    vault::{BadKey, Vault, new_secret},
    worker::{Ran, Taken, Worker},
};

/// Whether a store must keep what it commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// It must survive the loss of the machine (R3): settings that do not are refused.
    #[default]
    Required,
    /// Whatever the settings are: an acknowledged delivery may be lost. For throw-away data.
    Waived,
}
