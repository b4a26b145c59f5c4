//! Upkeep: bytes and keys that may go (R16), wakes that a clock left behind, alerts that are to be sent
//! (R11). Each step is a bounded batch; none of them holds what it does not change.

use core::future::Future;

use hookproof_core::{
    Id, Millis, Reason,
    inbox::Receipt,
    plan::{About, Plan},
};

use crate::{
    commit::commit_each,
    error::Error,
    inbox::Inbox,
    sender::{Outbox, SenderStore, of_event},
    store::{Keys, Store},
};

/// What keeps the tables of a store in order.
pub trait UpkeepStore: Store {
    /// Receipts with a key after this one, in order, without a lock; each with whether it still has its
    /// bytes.
    fn receipts_after(
        &self,
        tx: &mut Self::Tx,
        after: Option<Id>,
        most: u16,
    ) -> impl Future<Output = Result<Vec<(Receipt, bool)>, Error>> + Send;

    /// Events that still have their bytes, with a key after this one, in order, without a lock.
    fn events_after(
        &self,
        tx: &mut Self::Tx,
        after: Option<Id>,
        most: u16,
    ) -> impl Future<Output = Result<Vec<Id>, Error>> + Send;

    /// Forgets the bytes of a receipt that the transaction holds; its key stays.
    fn forget_receipt_payload(
        &self,
        tx: &mut Self::Tx,
        receipt: Id,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Forgets the bytes of an event that the transaction holds; its key stays.
    fn forget_event_payload(
        &self,
        tx: &mut Self::Tx,
        event: Id,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Lowers wakes that lie after `latest` to that, at most so many. Those that somebody holds are
    /// skipped.
    fn pull_in(
        &self,
        tx: &mut Self::Tx,
        astray: Astray,
        latest: Millis,
        most: u16,
    ) -> impl Future<Output = Result<u64, Error>> + Send;

    /// Alerts that were not sent, oldest first.
    fn unsent_alerts(
        &self,
        tx: &mut Self::Tx,
        most: u16,
    ) -> impl Future<Output = Result<Vec<Alert>, Error>> + Send;

    /// Notes that an alert was sent.
    fn mark_alert(
        &self,
        tx: &mut Self::Tx,
        number: i64,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Rows with a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a table")]
pub enum Astray {
    Events,
    Deliveries,
    Receipts,
}

/// What people must hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert {
    /// Its number.
    pub number: i64,
    /// What it is about.
    pub about: About,
    /// Why.
    pub reason: Reason,
}

/// What has been done of a pass through a table, and where the next step goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Where the next step begins; `None`: this one came to the end.
    pub after: Option<Id>,
    /// Rows whose bytes went.
    pub stripped: u64,
    /// Rows that went.
    pub purged: u64,
}

impl<S: UpkeepStore> Inbox<S> {
    /// Takes one step through the receipts: the bytes of what is finished and older than `payload_ms` go,
    /// and so do the keys of what is older than the policy's retention. `None` keeps bytes for ever.
    pub async fn retire(&self, payload_ms: Option<u64>, after: Option<Id>) -> Result<Pass, Error> {
        let store = &self.store;
        let mut tx = store.begin().await?;
        let page = store.receipts_after(&mut tx, after, PAGE).await?;
        let now = store.now(&mut tx).await?;
        let old = |row: &Receipt| payload_ms.is_some_and(|keep| row.may_lose_payload(now, keep));
        let strip = page.iter().filter(|(row, has_payload)| *has_payload && old(row));
        let receipts = strip.map(|(row, _)| row.id).collect();
        let rows = store.load(&mut tx, &Keys { receipts, ..Keys::default() }).await?;
        let mut pass = Pass { after: next(&page, |(row, _)| row.id), ..Pass::default() };
        for row in rows.receipts.iter().filter(|row| old(row)) {
            store.forget_receipt_payload(&mut tx, row.id).await?;
            pass.stripped += 1;
        }
        store.commit(tx).await?;
        let purge = page.iter().filter_map(|(row, _)| row.purge(now, &self.policy));
        let plans: Vec<Plan<()>> = purge.collect();
        if !plans.is_empty() {
            let purged = commit_each(store, store.begin().await?, plans, &[]).await;
            pass.purged = purged.iter().flatten().count() as u64;
        }
        Ok(pass)
    }

    /// Pulls in every receipt's wake that lies further ahead than the longest wait: the clock was set back
    /// since it was written. Nothing is early by it. Gives how many there were.
    pub async fn pull_in(&self) -> Result<u64, Error> {
        pull_in(&self.store, Astray::Receipts, self.policy.wait_max_ms()).await
    }
}

impl<S: UpkeepStore + SenderStore> Outbox<S> {
    /// Takes one step through the events: the bytes go of those that nobody can be sent any more, because
    /// every delivery has ended and none can be resent. Their keys stay, and so does the answer to a
    /// publisher who comes again (S15).
    pub async fn retire(&self, after: Option<Id>) -> Result<Pass, Error> {
        let store = &self.store;
        let mut tx = store.begin().await?;
        let page = store.events_after(&mut tx, after, PAGE).await?;
        let rows = store.load(&mut tx, &Keys { events: page.clone(), ..Keys::default() }).await?;
        let deliveries = store.deliveries_of(&mut tx, &page.iter().copied().collect()).await?;
        let now = store.now(&mut tx).await?;
        let mut pass = Pass { after: next(&page, |id| *id), ..Pass::default() };
        for event in rows.events {
            let of = of_event(&deliveries, event.id);
            if event.may_lose_payload(&of, now, self.profile.resend_window_ms) {
                store.forget_event_payload(&mut tx, event.id).await?;
                pass.stripped += 1;
            }
        }
        store.commit(tx).await?;
        Ok(pass)
    }

    /// [`Inbox::pull_in`], for events and deliveries.
    pub async fn pull_in(&self) -> Result<u64, Error> {
        let events = pull_in(&self.store, Astray::Events, 0).await?;
        let wait_ms = self.profile.wait_max_ms();
        Ok(events + pull_in(&self.store, Astray::Deliveries, wait_ms).await?)
    }
}

async fn pull_in<S: UpkeepStore>(store: &S, astray: Astray, wait_ms: u64) -> Result<u64, Error> {
    let mut tx = store.begin().await?;
    let latest = store.now(&mut tx).await? + wait_ms;
    let pulled = store.pull_in(&mut tx, astray, latest, PAGE).await?;
    store.commit(tx).await?;
    Ok(pulled)
}

/// Alerts that nobody has sent yet, oldest first. Send each, then say so by [`alert_sent`]: whoever dies in
/// between sends it twice, and none is lost (R11).
pub async fn unsent_alerts<S: UpkeepStore>(store: &S, most: u16) -> Result<Vec<Alert>, Error> {
    let mut tx = store.begin().await?;
    let alerts = store.unsent_alerts(&mut tx, most).await?;
    store.rollback(tx).await?;
    Ok(alerts)
}

/// Notes that an alert was sent.
pub async fn alert_sent<S: UpkeepStore>(store: &S, alert: &Alert) -> Result<(), Error> {
    let mut tx = store.begin().await?;
    store.mark_alert(&mut tx, alert.number).await?;
    store.commit(tx).await
}

/// Where the next step begins.
fn next<R>(page: &[R], id: impl Fn(&R) -> Id) -> Option<Id> {
    page.last().filter(|_| page.len() == usize::from(PAGE)).map(id)
}

/// As many rows as one step looks at.
const PAGE: u16 = 500;
