//! What a sender's store reads and writes besides rows of decisions. Compiled for each database: the
//! statements are the same.

use std::collections::BTreeSet;

use hookproof_core::{Id, endpoint::Endpoint, outbox::Delivery, payload::Payload, scheme::Window};
use sqlx::{FromRow, QueryBuilder};

use super::{Connection, Database, Here};
use crate::{
    error::{Error, of_statement},
    ident::Key,
    rows::{DeliveryRow, EndpointRow, instant, millis},
    sender::{Address, Change, Sealed, SenderStore},
    store::Message,
};

impl SenderStore for Here {
    async fn addresses(
        &self,
        tx: &mut Self::Tx,
        endpoints: &BTreeSet<Id>,
    ) -> Result<Vec<Address>, Error> {
        let rows = among::<AddressRow>(tx, ADDRESSES, endpoints).await?;
        let mut secrets = among::<SecretRow>(tx, SECRETS, endpoints).await?;
        secrets.sort_by_key(|secret| (secret.from_ms, secret.id.0));
        let address = |row: AddressRow| {
            let of = secrets.iter().filter(|secret| secret.endpoint == row.id);
            let secrets = of.map(Sealed::from).collect();
            Address { endpoint: row.id.0, account: row.account, url: row.url, secrets }
        };
        Ok(rows.into_iter().map(address).collect())
    }

    async fn secret_forms(&self, tx: &mut Self::Tx) -> Result<Vec<Vec<u8>>, Error> {
        let forms = sqlx::query_scalar(SECRET_FORMS).fetch_all(&mut **tx).await;
        forms.map_err(|error| of_statement("how secrets are stored", &error))
    }

    async fn messages(
        &self,
        tx: &mut Self::Tx,
        events: &BTreeSet<Id>,
    ) -> Result<Vec<Message>, Error> {
        let rows = among::<MessageRow>(tx, MESSAGES, events).await?;
        Ok(rows.into_iter().map(Message::from).collect())
    }

    async fn deliveries_of(
        &self,
        tx: &mut Self::Tx,
        events: &BTreeSet<Id>,
    ) -> Result<Vec<Delivery>, Error> {
        let rows = among::<DeliveryRow>(tx, DELIVERIES_OF, events).await?;
        rows.into_iter().map(Delivery::try_from).collect()
    }

    async fn unmarked(
        &self,
        tx: &mut Self::Tx,
        after: Option<Id>,
        most: u16,
    ) -> Result<Vec<Id>, Error> {
        let rows: Vec<(Key,)> = sqlx::query_as(UNMARKED)
            .bind(Key(after.unwrap_or_default()))
            .bind(i64::from(most))
            .fetch_all(&mut **tx)
            .await
            .map_err(|error| of_statement("events that are not marked", &error))?;
        Ok(rows.into_iter().map(|(key,)| key.0).collect())
    }

    async fn event_types(&self, tx: &mut Self::Tx, endpoint: Id) -> Result<Vec<String>, Error> {
        let types = sqlx::query_scalar(EVENT_TYPES).bind(Key(endpoint)).fetch_all(&mut **tx).await;
        types.map_err(|error| of_statement("an endpoint's subscriptions", &error))
    }

    async fn change(
        &self,
        tx: &mut Self::Tx,
        endpoint: Id,
        change: Change<'_>,
    ) -> Result<(), Error> {
        let id = Key(endpoint);
        let query = match change {
            Change::Url(url) => sqlx::query(SET_URL).bind(id).bind(url),
            Change::Reason(reason) => sqlx::query(SET_REASON).bind(id).bind(reason),
            Change::Subscribe { event_type, now } => {
                sqlx::query(SUBSCRIBE).bind(id).bind(event_type).bind(instant(now))
            }
            Change::Unsubscribe { event_type, now } => {
                sqlx::query(UNSUBSCRIBE).bind(id).bind(event_type).bind(instant(now))
            }
            Change::Secret(secret) => sqlx::query(ADD_SECRET)
                .bind(Key(secret.id))
                .bind(id)
                .bind(&secret.bytes)
                .bind(instant(secret.window.from))
                .bind(secret.window.until.map(instant))
                .bind(secret.window.revoked),
            Change::Window { secret, window } => sqlx::query(SET_WINDOW)
                .bind(Key(secret))
                .bind(window.until.map(instant))
                .bind(window.revoked),
        };
        let changed = query.execute(&mut **tx).await;
        changed.map(drop).map_err(|error| of_statement("an endpoint to change", &error))
    }
}

/// The endpoints that have ever subscribed to an event's type, each as the fan-out is to see it: one whose
/// subscription to this type has ended has left at that instant, if not before.
pub(super) async fn subscribers(
    connection: &mut Connection,
    event: Id,
) -> Result<Vec<Endpoint>, Error> {
    let rows: Vec<SubscriberRow> = sqlx::query_as(SUBSCRIBERS)
        .bind(Key(event))
        .fetch_all(connection)
        .await
        .map_err(|error| of_statement("an event's subscribers", &error))?;
    rows.into_iter().map(Endpoint::try_from).collect()
}

/// The rows whose key is among these.
async fn among<R>(
    connection: &mut Connection,
    sql: &'static str,
    ids: &BTreeSet<Id>,
) -> Result<Vec<R>, Error>
where
    R: for<'r> FromRow<'r, <Database as sqlx::Database>::Row> + Send + Unpin,
{
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = QueryBuilder::<Database>::new(sql);
    let mut list = query.separated(", ");
    for id in ids {
        list.push_bind(Key(*id));
    }
    query.push(")");
    let rows = query.build_query_as().persistent(false).fetch_all(connection).await;
    rows.map_err(|error| of_statement("rows of a list", &error))
}

#[derive(FromRow)]
struct SubscriberRow {
    #[sqlx(flatten)]
    endpoint: EndpointRow,
    unsubscribed: Option<i64>,
}

impl TryFrom<SubscriberRow> for Endpoint {
    type Error = Error;

    fn try_from(row: SubscriberRow) -> Result<Self, Error> {
        let endpoint = Self::try_from(row.endpoint)?;
        let left = endpoint.left.into_iter().chain(row.unsubscribed.map(millis)).min();
        Ok(Self { left, ..endpoint })
    }
}

#[derive(FromRow)]
struct AddressRow {
    id: Key,
    account: String,
    url: String,
}

#[derive(FromRow)]
struct SecretRow {
    id: Key,
    endpoint: Key,
    sealed: Vec<u8>,
    from_ms: i64,
    until_ms: Option<i64>,
    revoked: bool,
}

impl From<&SecretRow> for Sealed {
    fn from(row: &SecretRow) -> Self {
        let until = row.until_ms.map(millis);
        let window = Window { from: millis(row.from_ms), until, revoked: row.revoked };
        Self { id: row.id.0, bytes: row.sealed.clone(), window }
    }
}

#[derive(FromRow)]
struct MessageRow {
    id: Key,
    account: String,
    aggregate_type: String,
    aggregate_id: String,
    event_type: String,
    payload: Option<String>,
    payload_bytes: Option<Vec<u8>>,
}

impl From<MessageRow> for Message {
    fn from(row: MessageRow) -> Self {
        let payload = match (row.payload, row.payload_bytes) {
            (Some(text), _) => Payload::Text(text),
            (None, bytes) => Payload::Bytes(bytes.unwrap_or_default()),
        };
        Self {
            id: row.id.0,
            account: row.account,
            aggregate_type: row.aggregate_type,
            aggregate_id: row.aggregate_id,
            event_type: row.event_type,
            payload,
        }
    }
}

const SUBSCRIBERS: &str = "SELECT e.id, e.rev, e.life, e.left_ms, e.next_ms,
         CASE WHEN count(*) = count(s.until_ms) THEN max(s.until_ms) END AS unsubscribed
     FROM outbox_events AS o
     JOIN hookproof_endpoints AS e ON e.account = o.account
     JOIN hookproof_subscriptions AS s
         ON s.endpoint = e.id AND s.event_type IN (o.event_type, '*')
     WHERE o.id = $1 GROUP BY e.id";
const ADDRESSES: &str = "SELECT id, account, url FROM hookproof_endpoints WHERE id IN (";
const SECRETS: &str = "SELECT id, endpoint, sealed, from_ms, until_ms, revoked
     FROM hookproof_secrets WHERE endpoint IN (";
const SECRET_FORMS: &str = "SELECT DISTINCT substr(sealed, 1, 1) FROM hookproof_secrets";
const MESSAGES: &str = "SELECT id, account, aggregate_type, aggregate_id, event_type, payload,
         payload_bytes FROM outbox_events WHERE id IN (";
const DELIVERIES_OF: &str =
    "SELECT d.* FROM hookproof_deliveries AS d WHERE d.subject_kind = 'event' AND d.subject IN (";
const UNMARKED: &str = "SELECT id FROM outbox_events
     WHERE wake IS NULL AND processed_at IS NULL AND id > $1 ORDER BY id LIMIT $2";
const EVENT_TYPES: &str = "SELECT event_type FROM hookproof_subscriptions
     WHERE endpoint = $1 AND until_ms IS NULL";
const SET_URL: &str = "UPDATE hookproof_endpoints SET url = $2 WHERE id = $1";
const SET_REASON: &str = "UPDATE hookproof_endpoints SET reason = $2 WHERE id = $1";
/// Whoever comes back in the millisecond in which it came has never been away.
const SUBSCRIBE: &str = "INSERT INTO hookproof_subscriptions (endpoint, event_type, since_ms)
     VALUES ($1, $2, $3)
     ON CONFLICT (endpoint, event_type, since_ms) DO UPDATE SET until_ms = NULL";
const UNSUBSCRIBE: &str = "UPDATE hookproof_subscriptions SET until_ms = $3
     WHERE endpoint = $1 AND event_type = $2 AND until_ms IS NULL";
const ADD_SECRET: &str = "INSERT INTO hookproof_secrets
         (id, endpoint, sealed, from_ms, until_ms, revoked)
     VALUES ($1, $2, $3, $4, $5, $6)";
const SET_WINDOW: &str = "UPDATE hookproof_secrets SET until_ms = $2, revoked = $3 WHERE id = $1";
