//! The rows of a database in words.

use hookproof_core::{
    Millis, Reason,
    endpoint::{Endpoint, Life},
    inbox::{self, Receipt},
    model::{Entity, Operation},
    outbox::{Delivery, Event, Stand, Subject},
    plan::About,
};

use crate::{
    history::{self, OperationKey, ReceiptStand, Side},
    trace::Clock,
    world::db::Db,
};

/// A table of one of the databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words of the contract, in `Table::name`")]
pub enum Table {
    Events,
    Deliveries,
    Endpoints,
    FailedDeliveries,
    Receipts,
    Entities,
    Operations,
    Effects,
    DeadLetters,
    Own,
}

/// The tables, the sender's first.
pub const TABLES: [Table; 10] = [
    Table::Events,
    Table::Deliveries,
    Table::Endpoints,
    Table::FailedDeliveries,
    Table::Receipts,
    Table::Entities,
    Table::Operations,
    Table::Effects,
    Table::DeadLetters,
    Table::Own,
];

/// A row in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The table.
    pub table: Table,
    /// What it is known by.
    pub key: String,
    /// Its columns, as [`Table::columns`] names them; none where it is gone.
    pub cells: Vec<String>,
}

impl Table {
    /// Whose database it is in.
    pub fn side(self) -> Side {
        match self {
            Self::Events | Self::Deliveries | Self::Endpoints | Self::FailedDeliveries => {
                Side::Sender
            }
            Self::Receipts
            | Self::Entities
            | Self::Operations
            | Self::Effects
            | Self::DeadLetters
            | Self::Own => Side::Receiver,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Deliveries => "deliveries",
            Self::Endpoints => "endpoints",
            Self::FailedDeliveries => "failed deliveries",
            Self::Receipts => "receipts",
            Self::Entities => "entities",
            Self::Operations => "operations",
            Self::Effects => "effects outside",
            Self::DeadLetters => "dead letters",
            Self::Own => "the application's own rows",
        }
    }

    /// Its columns: the key, then the cells of a row.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Events => &["event", "fan-out due", "processed"],
            Self::Deliveries | Self::Effects => {
                &["delivery", "of", "stands", "due", "attempt, rung, cycle", "fence"]
            }
            Self::Endpoints => &["endpoint", "life", "left"],
            Self::FailedDeliveries | Self::DeadLetters => &["about", "alert"],
            Self::Receipts => &["receipt", "proposes", "stands", "due", "strikes", "fence"],
            Self::Entities => &["entity", "state", "version", "projected"],
            Self::Operations => &["operation", "entity", "transition", "occurrence"],
            Self::Own => &["row", "value"],
        }
    }
}

impl Row {
    fn new(table: Table, key: String, cells: impl IntoIterator<Item = String>) -> Self {
        Self { table, key, cells: cells.into_iter().collect() }
    }

    /// What is left of a row that is gone.
    pub(super) fn gone(table: Table, key: String) -> Self {
        Self { table, key, cells: Vec::new() }
    }
}

/// The rows of one side.
pub(super) fn of(db: &Db, side: Side) -> Vec<Row> {
    let mut rows = Vec::new();
    let (deliveries, letters) = match side {
        Side::Sender => (Table::Deliveries, Table::FailedDeliveries),
        Side::Receiver => (Table::Effects, Table::DeadLetters),
    };
    rows.extend(db.events.iter().flatten().map(event));
    rows.extend(db.deliveries.iter().flatten().map(|row| delivery(deliveries, row)));
    if side == Side::Sender {
        rows.extend(db.endpoints.iter().map(endpoint));
    }
    rows.extend(db.receipts.iter().flatten().map(receipt));
    rows.extend(db.entities.iter().map(entity));
    rows.extend((0..).zip(&db.operations).map(|(at, row)| operation(at, *row)));
    rows.extend((0..).zip(&db.alerts).map(|(at, row)| letter(letters, at, *row)));
    let own = db.tables.rows().map(|(key, value)| Row::new(Table::Own, key, [value]));
    rows.extend(own);
    rows
}

fn event(row: &Event) -> Row {
    Row::new(Table::Events, row.id.0.to_string(), [instant(row.wake), instant(row.processed)])
}

fn delivery(table: Table, row: &Delivery) -> Row {
    let of = match row.subject {
        Subject::Event(event) => format!("event {} to endpoint {}", event.0, row.endpoint.0),
        Subject::Effect(operation) => OperationKey::from(operation).to_string(),
    };
    let stands = match row.stand {
        Stand::Pending { .. } => "waiting".to_owned(),
        Stand::Claimed { hurried: false, .. } => "claimed".to_owned(),
        Stand::Claimed { hurried: true, .. } => "claimed, hurried".to_owned(),
        Stand::Acknowledged => "acknowledged".to_owned(),
        Stand::Failed(reason) => format!("failed: {}", words(reason)),
        Stand::Cancelled(reason) => format!("cancelled: {}", words(reason)),
    };
    let tries = format!("{}, {}, {}", row.attempt, row.rung, row.cycle);
    let cells = [of, stands, instant(row.wake()), tries, row.fence.to_string()];
    Row::new(table, row.id.0.to_string(), cells)
}

fn endpoint(row: &Endpoint) -> Row {
    let life = match row.life {
        Life::Active => "active",
        Life::Paused => "paused",
        Life::Disabled => "disabled",
        Life::Unsubscribed => "unsubscribed",
        Life::Deleted => "deleted",
    };
    Row::new(Table::Endpoints, row.id.0.to_string(), [life.to_owned(), instant(row.left)])
}

fn receipt(row: &Receipt) -> Row {
    let proposes = row.proposal.map_or_else(
        || "nothing to work on".to_owned(),
        |of| {
            let (event, entity) = (of.event.0, of.entity.0);
            format!(
                "type {event} of entity {entity} (occurrence {}, version {})",
                of.occurrence, of.version
            )
        },
    );
    let stands = match row.stand {
        inbox::Stand::InReview(reason) => format!("in review: {}", words(reason)),
        stand => ReceiptStand::from(stand).to_string(),
    };
    let (strikes, fence) = (row.strikes.to_string(), row.fence.to_string());
    let cells = [proposes, stands, instant(row.wake()), strikes, fence];
    Row::new(Table::Receipts, row.id.0.to_string(), cells)
}

fn entity(row: &Entity) -> Row {
    let projected = row.projected.map_or_else(String::new, |state| state.0.to_string());
    let cells = [row.state.0.to_string(), row.version.to_string(), projected];
    Row::new(Table::Entities, row.id.0.to_string(), cells)
}

/// An operation has no number of its own. One that a wrong store books twice is two rows.
fn operation(at: usize, row: Operation) -> Row {
    let Operation { entity, transition, occurrence } = row;
    let cells = [entity.0.to_string(), transition.0.to_string(), occurrence.to_string()];
    Row::new(Table::Operations, at.to_string(), cells)
}

fn letter(table: Table, at: usize, (about, sent): (About, bool)) -> Row {
    let about = match about {
        About::Receipt(id) => format!("receipt {}", id.0),
        About::Delivery(id) => format!("delivery {}", id.0),
    };
    let alert = if sent { "sent" } else { "not sent" };
    Row::new(table, format!("{at}: {about}"), [alert.to_owned()])
}

fn instant(at: Option<Millis>) -> String {
    at.map_or_else(String::new, |at| Clock(at).to_string())
}

fn words(reason: Reason) -> String {
    history::Reason::from(reason).to_string()
}
