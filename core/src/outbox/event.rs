//! Events: published once, fanned out once, and marked once everybody has them.

use alloc::{vec, vec::Vec};

use super::{Delivery, Stand, Subject};
use crate::{
    Digest, Id, Millis,
    endpoint::Endpoint,
    plan::{Plan, Put, Write},
};

/// A committed business fact's row: the intent to tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The row's key; unique, and so is the publisher's idempotency key.
    pub id: Id,
    /// The row's revision.
    pub rev: u32,
    /// The digest of the payload, by which a repeated publish is compared.
    pub digest: Digest,
    /// When the row was inserted.
    pub created: Millis,
    /// When a relay must look at it: to fan out. `None` once that is done.
    pub wake: Option<Millis>,
    /// When every delivery was acknowledged, or there was none to make.
    pub processed: Option<Millis>,
}

/// The answer to a publisher (S15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Published {
    /// The event is durable and due.
    Accepted,
    /// This key is known with this body; the first event is durable and was due.
    Duplicate,
    /// This key is known with another body.
    KeyReused,
}

/// Publishes an event in the caller's transaction. `found` is what already has this key.
pub fn publish(found: Option<&Event>, id: Id, digest: Digest, now: Millis) -> Plan<Published> {
    match found {
        None => {
            let row = Event { id, rev: 0, digest, created: now, wake: Some(now), processed: None };
            Plan::new(vec![Write::Event(Put { was: None, row })], Published::Accepted)
        }
        Some(event) if event.digest == digest => Plan::new(vec![], Published::Duplicate),
        Some(_) => Plan::new(vec![], Published::KeyReused),
    }
}

impl Event {
    /// Makes one delivery for each endpoint that was subscribed when the event was created, all in
    /// one transaction (S12). `endpoints` are all of the event's account, deleted ones included, each
    /// with the key that its delivery would get. Gives out how many there were.
    ///
    /// They are not held: who was subscribed then is past, and a later change only adds.
    pub fn fan_out(&self, endpoints: &[(Endpoint, Id)], now: Millis) -> Option<Plan<usize>> {
        if self.wake.is_none_or(|wake| wake > now) {
            return None;
        }
        let subscribed = endpoints.iter().filter(|(e, _)| e.subscribed_at(self.created));
        let mut writes: Vec<Write> = subscribed
            .map(|&(endpoint, id)| {
                let row = Delivery::made(id, Subject::Event(self.id), endpoint.id, now);
                Write::Delivery(Put { was: None, row })
            })
            .collect();
        let made = writes.len();
        let processed = (made == 0).then_some(now);
        let row = Self { rev: self.rev.wrapping_add(1), wake: None, processed, ..*self };
        writes.insert(0, Write::Event(Put { was: Some(self.rev), row }));
        Some(Plan::new(writes, made))
    }

    /// Whether its bytes may go, while its key stays: it is fanned out, none of its deliveries is open, and
    /// none can be resent any more.
    pub fn may_lose_payload(
        &self,
        deliveries: &[Delivery],
        now: Millis,
        resend_window_ms: u64,
    ) -> bool {
        let ended =
            |row: &Delivery| row.wake().is_none() && now.since(row.created) > resend_window_ms;
        let old = now.since(self.created) > resend_window_ms;
        self.wake.is_none() && old && deliveries.iter().all(ended)
    }

    /// Marks the event once every one of its deliveries is acknowledged.
    pub fn sweep(&self, deliveries: &[Delivery], now: Millis) -> Option<Plan<()>> {
        let told = deliveries.iter().all(|delivery| delivery.stand == Stand::Acknowledged);
        if self.wake.is_some() || self.processed.is_some() || deliveries.is_empty() || !told {
            return None;
        }
        let row = Self { rev: self.rev.wrapping_add(1), processed: Some(now), ..*self };
        Some(Plan::new(vec![Write::Event(Put { was: Some(self.rev), row })], ()))
    }
}
