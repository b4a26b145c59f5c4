//! What keeps the tables of a store in order. Compiled for each database: the statements are the same.

use hookproof_core::{Id, Millis, inbox::Receipt, plan::About};

use super::{Database, Here, load};
use crate::{
    error::{Error, of_statement},
    ident::Key,
    rows::instant,
    store::Store,
    upkeep::{Alert, Astray, UpkeepStore},
    words::{self, REASONS, unreadable},
};

impl UpkeepStore for Here {
    async fn receipts_after(
        &self,
        tx: &mut Self::Tx,
        after: Option<Id>,
        most: u16,
    ) -> Result<Vec<(Receipt, bool)>, Error> {
        load::receipts_after(tx, after.unwrap_or_default(), most).await
    }

    async fn events_after(
        &self,
        tx: &mut Self::Tx,
        after: Option<Id>,
        most: u16,
    ) -> Result<Vec<Id>, Error> {
        let rows: Vec<(Key,)> = sqlx::query_as(EVENTS_AFTER)
            .bind(Key(after.unwrap_or_default()))
            .bind(i64::from(most))
            .fetch_all(&mut **tx)
            .await
            .map_err(|error| of_statement("events in order", &error))?;
        Ok(rows.into_iter().map(|(key,)| key.0).collect())
    }

    async fn forget_receipt_payload(&self, tx: &mut Self::Tx, receipt: Id) -> Result<(), Error> {
        run(tx, sqlx::query(FORGET_RECEIPT_PAYLOAD).bind(Key(receipt))).await
    }

    async fn forget_event_payload(&self, tx: &mut Self::Tx, event: Id) -> Result<(), Error> {
        run(tx, sqlx::query(FORGET_EVENT_PAYLOAD).bind(Key(event))).await
    }

    async fn pull_in(
        &self,
        tx: &mut Self::Tx,
        astray: Astray,
        latest: Millis,
        most: u16,
    ) -> Result<u64, Error> {
        let sql = match astray {
            Astray::Events => PULL_EVENTS_IN,
            Astray::Deliveries => PULL_DELIVERIES_IN,
            Astray::Receipts => PULL_RECEIPTS_IN,
        };
        let query = sqlx::query(sql).bind(instant(latest)).bind(i64::from(most));
        let pulled = query.execute(&mut **tx).await;
        let pulled = pulled.map_err(|error| of_statement("wakes to pull in", &error))?;
        Ok(pulled.rows_affected())
    }

    async fn unsent_alerts(&self, tx: &mut Self::Tx, most: u16) -> Result<Vec<Alert>, Error> {
        let rows: Vec<(i64, String, Key, String)> = sqlx::query_as(UNSENT_ALERTS)
            .bind(i64::from(most))
            .fetch_all(&mut **tx)
            .await
            .map_err(|error| of_statement("alerts that were not sent", &error))?;
        rows.into_iter().map(alert).collect()
    }

    async fn mark_alert(&self, tx: &mut Self::Tx, number: i64) -> Result<(), Error> {
        run(tx, sqlx::query(MARK_ALERT).bind(number)).await
    }
}

fn alert((number, kind, about, reason): (i64, String, Key, String)) -> Result<Alert, Error> {
    let about = match kind.as_str() {
        "receipt" => About::Receipt(about.0),
        "delivery" => About::Delivery(about.0),
        other => return Err(unreadable("an alert about a receipt or a delivery", other)),
    };
    Ok(Alert { number, about, reason: words::value(&REASONS, &reason)? })
}

async fn run(
    tx: &mut <Here as Store>::Tx,
    query: sqlx::query::Query<'_, Database, <Database as sqlx::Database>::Arguments>,
) -> Result<(), Error> {
    let done = query.execute(&mut **tx).await;
    done.map(drop).map_err(|error| of_statement("a row to keep in order", &error))
}

const EVENTS_AFTER: &str = "SELECT id FROM outbox_events
     WHERE id > $1 AND NOT payload_gone ORDER BY id LIMIT $2";
/// What it proposed goes with its bytes: nobody can work on it any more.
const FORGET_RECEIPT_PAYLOAD: &str = "UPDATE webhook_inbox
     SET payload = NULL, payload_bytes = NULL, payload_gone = TRUE, entity = NULL, event = NULL,
         occurrence = NULL, version = NULL, rev = rev + 1
     WHERE id = $1";
const FORGET_EVENT_PAYLOAD: &str = "UPDATE outbox_events
     SET payload = NULL, payload_bytes = NULL, payload_gone = TRUE WHERE id = $1";
// Each may only lower a wake, as the wake of what is deferred does, and needs no more of a guard.
const PULL_EVENTS_IN: &str = concat!(
    "UPDATE outbox_events SET wake = $1 WHERE id IN (
         SELECT id FROM outbox_events WHERE wake > $1 LIMIT $2",
    skip_locked!(),
    ")"
);
const PULL_DELIVERIES_IN: &str = concat!(
    "UPDATE hookproof_deliveries SET wake = $1 WHERE id IN (
         SELECT id FROM hookproof_deliveries WHERE wake > $1 LIMIT $2",
    skip_locked!(),
    ")"
);
const PULL_RECEIPTS_IN: &str = concat!(
    "UPDATE webhook_inbox SET wake = $1 WHERE id IN (
         SELECT id FROM webhook_inbox WHERE wake > $1 LIMIT $2",
    skip_locked!(),
    ")"
);
const UNSENT_ALERTS: &str = "SELECT id, about_kind, about, reason FROM hookproof_alerts
     WHERE sent_at IS NULL ORDER BY id LIMIT $1";
const MARK_ALERT: &str =
    concat!("UPDATE hookproof_alerts SET sent_at = ", clock!(), " WHERE id = $1");
