//! A database of the model: rows, guards, and commits that are all or nothing.

use hookproof_core::{
    Id, Millis,
    endpoint::Endpoint,
    inbox::Receipt,
    model::{Entity, Operation, State},
    outbox::{self, Delivery, Event},
    plan::{About, Outcome, Put, Write},
    profile::Profile,
};

use crate::{handler::Tables, rogue::Rogue};

/// The rows of one side. A row's key is its index, so a key that exists twice cannot be written down:
/// that is the model's unique constraint.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Db {
    /// Published events.
    pub events: Vec<Option<Event>>,
    /// Deliveries: of events at the sender, of effects at the receiver.
    pub deliveries: Vec<Option<Delivery>>,
    /// Callbacks.
    pub endpoints: Vec<Endpoint>,
    /// Receipts.
    pub receipts: Vec<Option<Receipt>>,
    /// Entities, made in their initial state.
    pub entities: Vec<Entity>,
    /// How often the URL or secret of each endpoint was changed: what is beside its row.
    pub urls: Vec<u32>,
    /// Booked operations.
    pub operations: Vec<Operation>,
    /// The application's own rows.
    pub tables: Tables,
    /// Alerts, and whether each was sent.
    pub alerts: Vec<(About, bool)>,
    /// When each delivery, receipt and event wakes, [`NEVER`] where it does not; then until when a
    /// request of each delivery may be under way, 0 where none is. [`Db::of`] says where each begins.
    clocks: Vec<u64>,
    /// The earliest wake of each kind.
    next: [u64; 3],
    /// The first alert that was not sent.
    unsent: usize,
    /// How far its clock is ahead of true time.
    pub ahead_ms: i64,
    /// Whether it answers.
    pub up: bool,
    /// Whether it takes writes.
    pub writable: bool,
}

clone_reusing!(Db {
    events,
    deliveries,
    endpoints,
    receipts,
    entities,
    urls,
    operations,
    tables,
    alerts,
    clocks,
    next,
    unsent,
    ahead_ms,
    up,
    writable,
});

const NEVER: u64 = u64::MAX;
const DELIVERY: usize = 0;
const RECEIPT: usize = 1;
const EVENT: usize = 2;
const LEASE: usize = 3;

impl Db {
    /// An empty database with room for this many of each.
    pub fn new(
        events: usize,
        deliveries: usize,
        receipts: usize,
        endpoints: usize,
        entities: usize,
    ) -> Self {
        let entity = |id: usize| Entity {
            id: Id(id as u128),
            rev: 0,
            state: State(0),
            version: 0,
            projected: None,
        };
        Self {
            events: vec![None; events],
            deliveries: vec![None; deliveries],
            endpoints: (0..endpoints).map(|id| Endpoint::registered(Id(id as u128))).collect(),
            urls: vec![0; endpoints],
            receipts: vec![None; receipts],
            entities: (0..entities).map(entity).collect(),
            operations: Vec::new(),
            tables: Tables::default(),
            alerts: Vec::new(),
            clocks: [vec![NEVER; deliveries + receipts + events], vec![0; deliveries]].concat(),
            next: [NEVER; 3],
            unsent: 0,
            ahead_ms: 0,
            up: true,
            writable: true,
        }
    }

    /// Its own clock.
    pub fn now(&self, now: Millis) -> Millis {
        Millis(now.0.saturating_add_signed(self.ahead_ms))
    }

    /// The instant in true time at which its clock shows `then`.
    pub fn true_time(&self, then: Millis) -> Millis {
        Millis(then.0.saturating_add_signed(-self.ahead_ms))
    }

    /// When its next delivery wakes, on its own clock.
    pub fn next_delivery(&self) -> Option<Millis> {
        instant(self.next[DELIVERY])
    }

    /// When its next receipt wakes, on its own clock.
    pub fn next_receipt(&self) -> Option<Millis> {
        instant(self.next[RECEIPT])
    }

    /// When its next event wakes, on its own clock.
    pub fn next_event(&self) -> Option<Millis> {
        instant(self.next[EVENT])
    }

    /// The first alert that was not sent.
    pub fn next_alert(&self) -> Option<usize> {
        (self.unsent < self.alerts.len()).then_some(self.unsent)
    }

    /// Marks an alert as sent.
    pub fn alert_sent(&mut self, alert: usize) {
        self.alerts[alert].1 = true;
        let unsent = self.alerts.iter().position(|(_, sent)| !sent);
        self.unsent = unsent.unwrap_or(self.alerts.len());
    }

    /// The events that are due.
    pub fn due_events(&self, now: Millis) -> impl Iterator<Item = &Event> {
        due(self.clocks(EVENT), now).filter_map(|id| self.events[id].as_ref())
    }

    /// The first instant after `now` at which a look could find what one at `now` did not, though
    /// nothing commits: a row becomes due, a lease runs out, a rate opens.
    pub fn next_opening(&self, now: Millis, profile: &Profile) -> Option<Millis> {
        let clocks = self.clocks.iter().copied();
        let ahead = profile.interval_ms * u64::from(profile.burst.saturating_sub(1));
        let rates = self.endpoints.iter().map(|endpoint| endpoint.next.0.saturating_sub(ahead));
        let after = clocks.chain(rates).filter(|&at| at > now.0);
        after.min().and_then(instant)
    }

    /// The deliveries that are due.
    pub fn due_deliveries(&self, now: Millis) -> impl Iterator<Item = &Delivery> {
        due(self.clocks(DELIVERY), now).filter_map(|id| self.deliveries[id].as_ref())
    }

    /// The receipts that are due.
    pub fn due_receipts(&self, now: Millis) -> impl Iterator<Item = &Receipt> {
        due(self.clocks(RECEIPT), now).filter_map(|id| self.receipts[id].as_ref())
    }

    /// A delivery by its key.
    pub fn delivery(&self, id: Id) -> Option<&Delivery> {
        self.deliveries.get(index(id))?.as_ref()
    }

    /// A receipt by its key.
    pub fn receipt(&self, id: Id) -> Option<&Receipt> {
        self.receipts.get(index(id))?.as_ref()
    }

    /// How many deliveries of an endpoint are in flight.
    pub fn in_flight(&self, endpoint: Id, now: Millis) -> u16 {
        let claimed = (0..).zip(self.clocks(LEASE)).filter(|&(_, &lease)| lease > 0);
        let flies = |row: &Delivery| row.endpoint == endpoint && row.in_flight(now);
        claimed.filter(|&(id, _)| self.deliveries[id].as_ref().is_some_and(flies)).count() as u16
    }

    /// Whether an operation is booked.
    pub fn is_booked(&self, operation: Operation) -> bool {
        self.operations.contains(&operation)
    }

    /// The transaction: every guard holds and every write lands, or nothing does.
    pub fn commit(&mut self, writes: &[Write], now: Millis, rogue: Option<Rogue>) -> Outcome {
        if !self.up || (!self.writable && !writes.is_empty()) {
            return Outcome::RolledBack;
        }
        if !self.guards_hold(writes, rogue) {
            return Outcome::Conflict;
        }
        for write in writes {
            self.apply(write, now, rogue);
        }
        self.refresh();
        Outcome::Committed
    }

    /// Whether every guard of a transaction holds.
    pub(crate) fn guards_hold(&self, writes: &[Write], rogue: Option<Rogue>) -> bool {
        writes.iter().all(|write| self.holds(write, rogue))
    }

    fn holds(&self, write: &Write, rogue: Option<Rogue>) -> bool {
        if rogue.is_some_and(|rogue| rogue.unguards(write)) {
            return true;
        }
        match write {
            Write::Endpoint(put) => {
                rev(self.endpoints.get(index(put.row.id)), |e| e.rev) == put.was
            }
            Write::HoldEndpoint { id, rev: was } => {
                rev(self.endpoints.get(index(*id)), |e| e.rev) == Some(*was)
            }
            Write::Entity(put) => rev(self.entities.get(index(put.row.id)), |e| e.rev) == put.was,
            Write::HoldEntity { id, rev: was } => {
                rev(self.entities.get(index(*id)), |e| e.rev) == Some(*was)
            }
            Write::Operation(operation) => !self.is_booked(*operation),
            Write::Receipt(put) => rev(self.receipt(put.row.id), |r| r.rev) == put.was,
            Write::Purge { id, rev: was } => rev(self.receipt(*id), |r| r.rev) == Some(*was),
            Write::Event(put) => {
                let found = self.events.get(index(put.row.id)).and_then(Option::as_ref);
                rev(found, |e| e.rev) == put.was
            }
            Write::Delivery(put) => rev(self.delivery(put.row.id), |d| d.rev) == put.was,
            Write::Alert { .. } | Write::Audit(_) | Write::Wake { .. } | Write::Handle { .. } => {
                true
            }
        }
    }

    fn apply(&mut self, write: &Write, now: Millis, rogue: Option<Rogue>) {
        if rogue.is_some_and(|rogue| rogue.drops(write)) {
            return;
        }
        match write {
            Write::Endpoint(put) => self.endpoints[index(put.row.id)] = put.row,
            Write::Entity(put) => self.entities[index(put.row.id)] = put.row,
            Write::Operation(operation) => self.operations.push(*operation),
            Write::Receipt(put) => self.put_receipt(put),
            Write::Purge { id, .. } => {
                self.receipts[index(*id)] = None;
                self.set(RECEIPT, index(*id), NEVER);
            }
            Write::Event(put) => self.overwrite_event(put.row),
            Write::Delivery(put) => self.put_delivery(put),
            Write::Alert { about, .. } => self.alerts.push((*about, false)),
            Write::Wake { entity } => self.wake(*entity, now),
            Write::HoldEndpoint { .. }
            | Write::HoldEntity { .. }
            | Write::Audit(_)
            | Write::Handle { .. } => {}
        }
    }

    fn put_receipt(&mut self, put: &Put<Receipt>) {
        let at = index(put.row.id);
        self.receipts[at] = Some(put.row);
        self.set(RECEIPT, at, put.row.wake().map_or(NEVER, |wake| wake.0));
    }

    fn put_delivery(&mut self, put: &Put<Delivery>) {
        let at = index(put.row.id);
        self.deliveries[at] = Some(put.row);
        self.set(DELIVERY, at, put.row.wake().map_or(NEVER, |wake| wake.0));
        let lease = match put.row.stand {
            outbox::Stand::Claimed { lease, .. } => lease.0,
            _ => 0,
        };
        self.set(LEASE, at, lease);
    }

    fn refresh(&mut self) {
        self.next = [DELIVERY, RECEIPT, EVENT]
            .map(|kind| self.clocks(kind).iter().copied().min().unwrap_or(NEVER));
    }

    /// Where the clocks of a kind lie.
    fn of(&self, kind: usize) -> core::ops::Range<usize> {
        let (deliveries, receipts) = (self.deliveries.len(), self.receipts.len());
        let sizes = [deliveries, receipts, self.events.len(), deliveries];
        let from = sizes[..kind].iter().sum();
        from..from + sizes[kind]
    }

    fn clocks(&self, kind: usize) -> &[u64] {
        &self.clocks[self.of(kind)]
    }

    fn set(&mut self, kind: usize, at: usize, clock: u64) {
        let from = self.of(kind).start;
        self.clocks[from + at] = clock;
    }

    /// Returns to the rows of a backup. The machine stays as it is.
    pub fn restore(&mut self, rows: Self) {
        let (ahead_ms, up, writable) = (self.ahead_ms, self.up, self.writable);
        *self = Self { ahead_ms, up, writable, ..rows };
    }

    /// Forgets a delivery: what a fan-out leaves undone that dies half-way.
    pub fn forget_delivery(&mut self, at: usize) {
        self.deliveries[at] = None;
        self.set(DELIVERY, at, NEVER);
        self.set(LEASE, at, 0);
        self.refresh();
    }

    /// Stores an event as it is, past all guards.
    pub fn overwrite_event(&mut self, event: Event) {
        let at = index(event.id);
        self.events[at] = Some(event);
        self.set(EVENT, at, event.wake.map_or(NEVER, |wake| wake.0));
        self.refresh();
    }

    /// The oldest receipt that is not through, if it is due.
    pub fn oldest_unfinished(&self, now: Millis) -> Option<Id> {
        let oldest = self.receipts.iter().flatten().find(|receipt| receipt.wake().is_some())?;
        oldest.wake().is_some_and(|wake| wake <= now).then_some(oldest.id)
    }

    /// The oldest delivery that is not through, if it is due.
    pub fn oldest_unsent(&self, now: Millis) -> Option<Id> {
        let oldest = self.deliveries.iter().flatten().find(|delivery| delivery.wake().is_some())?;
        oldest.wake().is_some_and(|wake| wake <= now).then_some(oldest.id)
    }

    fn wake(&mut self, entity: Id, now: Millis) {
        let clocks = self.of(RECEIPT);
        for (receipt, cached) in self.receipts.iter_mut().zip(&mut self.clocks[clocks]) {
            let Some(receipt) = receipt else { continue };
            if let Some(wake) = deferred_on(receipt, entity)
                && *wake > now
            {
                *wake = now;
                *cached = now.0;
            }
        }
    }

    /// The receipts that a wake of this entity reaches.
    pub fn sleepers(&self, entity: Id, now: Millis) -> impl Iterator<Item = Id> {
        self.receipts.iter().flatten().filter_map(move |receipt| {
            let mut receipt = *receipt;
            let wake = *deferred_on(&mut receipt, entity)?;
            (wake > now).then_some(receipt.id)
        })
    }
}

fn deferred_on(receipt: &mut Receipt, entity: Id) -> Option<&mut Millis> {
    let on = receipt.proposal.is_some_and(|proposal| proposal.entity == entity);
    match &mut receipt.stand {
        hookproof_core::inbox::Stand::Deferred { wake } if on => Some(wake),
        _ => None,
    }
}

fn instant(wake: u64) -> Option<Millis> {
    (wake != NEVER).then_some(Millis(wake))
}

fn due(wakes: &[u64], now: Millis) -> impl Iterator<Item = usize> {
    wakes.iter().enumerate().filter(move |&(_, &wake)| wake <= now.0).map(|(id, _)| id)
}

fn rev<R>(row: Option<&R>, rev: impl Fn(&R) -> u32) -> Option<u32> {
    row.map(rev)
}

/// A key as an index.
pub fn index(id: Id) -> usize {
    id.0 as usize
}
