//! What is loaded by statements that are one text for both databases. Compiled for each.

use hookproof_core::{
    Id, Millis, endpoint::Endpoint, inbox::Receipt, model::Operation, outbox::Event,
};

use super::Connection;
use crate::{
    error::{Error, of_statement},
    ident::Key,
    rows::{EndpointRow, EventRow, KeptReceipt, LetterRow, ReceiptRow, all, instant},
    store::Letter,
};

pub(super) async fn endpoint(
    connection: &mut Connection,
    id: Id,
) -> Result<Option<Endpoint>, Error> {
    let row: Result<Option<EndpointRow>, _> =
        sqlx::query_as(ENDPOINT).bind(Key(id)).fetch_optional(connection).await;
    row.map_err(|error| of_statement("an endpoint", &error))?.map(Endpoint::try_from).transpose()
}

pub(super) async fn due_events(
    connection: &mut Connection,
    most: u16,
    now: Millis,
) -> Result<Vec<Event>, Error> {
    let rows: Vec<EventRow> = sqlx::query_as(DUE_EVENTS)
        .bind(instant(now))
        .bind(i64::from(most))
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("due events", &error))?;
    all(rows)
}

pub(super) async fn due_receipts(
    connection: &mut Connection,
    most: u16,
    now: Millis,
) -> Result<Vec<Receipt>, Error> {
    let rows: Vec<ReceiptRow> = sqlx::query_as(DUE_RECEIPTS)
        .bind(instant(now))
        .bind(i64::from(most))
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("due receipts", &error))?;
    all(rows)
}

pub(super) async fn receipts_after(
    connection: &mut Connection,
    after: Id,
    most: u16,
) -> Result<Vec<(Receipt, bool)>, Error> {
    let rows: Vec<KeptReceipt> = sqlx::query_as(RECEIPTS_AFTER)
        .bind(Key(after))
        .bind(i64::from(most))
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("receipts in order", &error))?;
    rows.into_iter().map(|row| Ok((Receipt::try_from(row.receipt)?, row.has_payload))).collect()
}

pub(super) async fn receipt_of(
    connection: &mut Connection,
    source: &str,
    account: &str,
    delivery: &str,
) -> Result<Option<Receipt>, Error> {
    let row: Result<Option<ReceiptRow>, _> = sqlx::query_as(RECEIPT_OF)
        .bind(source)
        .bind(account)
        .bind(delivery)
        .fetch_optional(connection)
        .await;
    row.map_err(|error| of_statement("a receipt", &error))?.map(Receipt::try_from).transpose()
}

pub(super) async fn letter(
    connection: &mut Connection,
    receipt: Id,
) -> Result<Option<Letter>, Error> {
    let row: Option<LetterRow> = sqlx::query_as(LETTER)
        .bind(Key(receipt))
        .fetch_optional(connection)
        .await
        .map_err(|error| of_statement("a receipt's letter", &error))?;
    Ok(row.map(Letter::from))
}

pub(super) async fn is_booked(
    connection: &mut Connection,
    operation: Operation,
) -> Result<bool, Error> {
    let booked = sqlx::query_scalar(IS_BOOKED)
        .bind(Key(operation.entity))
        .bind(i64::from(operation.transition.0))
        .bind(operation.occurrence as i64)
        .fetch_one(connection)
        .await;
    booked.map_err(|error| of_statement("whether an operation is booked", &error))
}

pub(super) async fn event(connection: &mut Connection, id: Id) -> Result<Option<Event>, Error> {
    let row: Result<Option<EventRow>, _> =
        sqlx::query_as(EVENT).bind(Key(id)).fetch_optional(connection).await;
    row.map_err(|error| of_statement("an event", &error))?.map(Event::try_from).transpose()
}

pub(super) const ENDPOINT: &str =
    concat!("SELECT ", endpoint!(), " FROM hookproof_endpoints AS e WHERE e.id = $1");
pub(super) const EVENT: &str =
    concat!("SELECT ", event!(), " FROM outbox_events AS e WHERE e.id = $1");
const DUE_EVENTS: &str = concat!(
    "SELECT ",
    event!(),
    " FROM outbox_events AS e WHERE e.wake <= $1
     ORDER BY e.wake LIMIT $2",
    skip_locked!()
);
const DUE_RECEIPTS: &str = concat!(
    "SELECT ",
    receipt!(),
    " FROM webhook_inbox AS r WHERE r.wake <= $1
     ORDER BY r.wake LIMIT $2",
    skip_locked!()
);
const RECEIPTS_AFTER: &str = concat!(
    "SELECT ",
    receipt!(),
    ", NOT r.payload_gone AS has_payload
     FROM webhook_inbox AS r WHERE r.id > $1 ORDER BY r.id LIMIT $2"
);
const RECEIPT_OF: &str = concat!(
    "SELECT ",
    receipt!(),
    " FROM webhook_inbox AS r
     WHERE r.partner_name = $1 AND r.account = $2 AND r.partner_event_id = $3"
);
const LETTER: &str =
    "SELECT partner_name, account, partner_event_id, event_type, resource, verified_by, payload,
         payload_bytes FROM webhook_inbox WHERE id = $1";
const IS_BOOKED: &str = "SELECT EXISTS (
         SELECT 1 FROM hookproof_operations
         WHERE entity = $1 AND transition = $2 AND occurrence = $3
     )";
