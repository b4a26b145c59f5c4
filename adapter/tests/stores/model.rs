//! The simulator's database behind the trait of production. A row's key is its index there.

use std::{collections::BTreeMap, sync::Mutex};

use hookproof::{
    Bundle, Callback, Clock, Content, EVERY_TYPE, Error, Keys, Letter, Message, Rows, Store, ident,
};
use hookproof_core::{
    Id, Millis,
    endpoint::{Endpoint, Lane},
    inbox::Receipt,
    model::Operation,
    outbox::{self, Delivery, Event, Published},
    plan::{Outcome, Write},
};
use hookproof_sim::world::db::{Db, index};

/// The model's rows, and what the databases keep besides.
#[derive(Clone)]
pub(crate) struct State {
    db: Db,
    callbacks: Vec<Callback>,
    messages: BTreeMap<Id, Message>,
    letters: BTreeMap<Id, Letter>,
    pub(crate) lines: Vec<String>,
}

/// The model as a store: one transaction after the other.
pub(crate) struct ModelStore {
    state: Mutex<State>,
    clock: Clock,
}

/// What a transaction has done so far.
pub(crate) struct ModelTx {
    pub(crate) state: State,
}

impl ModelStore {
    pub(crate) fn new(db: Db, callbacks: Vec<Callback>, clock: Clock) -> Self {
        let (messages, letters) = (BTreeMap::new(), BTreeMap::new());
        let state = State { db, callbacks, messages, letters, lines: Vec::new() };
        Self { state: Mutex::new(state), clock }
    }

    pub(crate) fn every_line(&self) -> Vec<String> {
        self.state.lock().expect("no panic before").lines.clone()
    }

    fn shows(&self) -> Millis {
        self.clock.shows().expect("the suite's clock is fixed")
    }
}

impl State {
    fn commit(&mut self, bundle: &Bundle<'_>, now: Millis) -> bool {
        let fresh = bundle.writes.iter().find_map(|write| match write {
            Write::Receipt(put) if put.was.is_none() => Some(put.row.id),
            _ => None,
        });
        let stands = self.db.commit(bundle.writes, now, None) == Outcome::Committed;
        if let (true, Some(id), Content::Letter(letter)) = (stands, fresh, bundle.content) {
            self.letters.insert(id, letter.clone());
        }
        if stands {
            self.lines.extend(bundle.writes.iter().filter_map(crate::samples::line));
        }
        stands
    }
}

impl Store for ModelStore {
    type Tx = ModelTx;

    async fn begin(&self) -> Result<ModelTx, Error> {
        Ok(ModelTx { state: self.state.lock().expect("no panic before").clone() })
    }

    async fn commit(&self, tx: ModelTx) -> Result<(), Error> {
        *self.state.lock().expect("no panic before") = tx.state;
        Ok(())
    }

    async fn rollback(&self, _: ModelTx) -> Result<(), Error> {
        Ok(())
    }

    async fn now(&self, _: &mut ModelTx) -> Result<Millis, Error> {
        Ok(self.shows())
    }

    async fn load(&self, tx: &mut ModelTx, keys: &Keys) -> Result<Rows, Error> {
        let db = &tx.state.db;
        Ok(Rows {
            endpoints: keys.endpoints.iter().map(|id| db.endpoints[index(*id)]).collect(),
            entities: keys.entities.iter().map(|id| db.entities[index(*id)]).collect(),
            receipts: keys.receipts.iter().filter_map(|id| db.receipt(*id).copied()).collect(),
            events: keys.events.iter().filter_map(|id| db.events[index(*id)]).collect(),
            deliveries: keys.deliveries.iter().filter_map(|id| db.delivery(*id).copied()).collect(),
        })
    }

    async fn endpoint(&self, tx: &mut ModelTx, id: Id) -> Result<Option<Endpoint>, Error> {
        Ok(tx.state.db.endpoints.get(index(id)).copied())
    }

    async fn lanes(
        &self,
        tx: &mut ModelTx,
        after: Option<Id>,
        most: u16,
    ) -> Result<Vec<Lane>, Error> {
        let (db, now) = (&tx.state.db, self.shows());
        let due = |endpoint: &&Endpoint| {
            db.due_deliveries(now).any(|delivery| delivery.endpoint == endpoint.id)
        };
        let lanes = db.endpoints.iter().filter(|e| Some(e.id) > after).filter(due);
        let lane = |e: &Endpoint| Lane { endpoint: *e, in_flight: db.in_flight(e.id, now) };
        Ok(lanes.take(most.into()).map(lane).collect())
    }

    async fn due_deliveries(
        &self,
        tx: &mut ModelTx,
        lanes: &[(Id, u16)],
        now: Millis,
    ) -> Result<Vec<Delivery>, Error> {
        let of_lane = |&(lane, most): &(Id, u16)| {
            let due = tx.state.db.due_deliveries(now).filter(move |d| d.endpoint == lane);
            let mut due: Vec<Delivery> = due.copied().collect();
            due.sort_by_key(Delivery::wake);
            due.truncate(most.into());
            due
        };
        Ok(lanes.iter().flat_map(of_lane).collect())
    }

    async fn due_events(
        &self,
        tx: &mut ModelTx,
        most: u16,
        now: Millis,
    ) -> Result<Vec<Event>, Error> {
        Ok(tx.state.db.due_events(now).take(most.into()).copied().collect())
    }

    async fn subscribers(&self, tx: &mut ModelTx, event: Id) -> Result<Vec<Endpoint>, Error> {
        let State { db, callbacks, messages, .. } = &tx.state;
        let message = &messages[&event];
        let wants = |callback: &Callback| {
            let types = &callback.event_types;
            callback.account == message.account
                && types.iter().any(|one| *one == message.event_type || one == EVERY_TYPE)
        };
        let both = db.endpoints.iter().zip(callbacks);
        Ok(both.filter(|(_, callback)| wants(callback)).map(|(e, _)| *e).collect())
    }

    async fn due_receipts(
        &self,
        tx: &mut ModelTx,
        most: u16,
        now: Millis,
    ) -> Result<Vec<Receipt>, Error> {
        Ok(tx.state.db.due_receipts(now).take(most.into()).copied().collect())
    }

    async fn receipt_of(
        &self,
        tx: &mut ModelTx,
        source: &str,
        account: &str,
        delivery: &str,
    ) -> Result<Option<Receipt>, Error> {
        let letters = &tx.state.letters;
        let same = |letter: &Letter| {
            (letter.source.as_str(), letter.account.as_str(), letter.delivery.as_str())
                == (source, account, delivery)
        };
        let found = letters.iter().find(|(_, letter)| same(letter));
        Ok(found.and_then(|(id, _)| tx.state.db.receipt(*id).copied()))
    }

    async fn letter(&self, tx: &mut ModelTx, receipt: Id) -> Result<Option<Letter>, Error> {
        Ok(tx.state.letters.get(&receipt).cloned())
    }

    async fn is_booked(&self, tx: &mut ModelTx, operation: Operation) -> Result<bool, Error> {
        Ok(tx.state.db.is_booked(operation))
    }

    async fn publish(&self, tx: &mut ModelTx, message: &Message) -> Result<Published, Error> {
        let digest = ident::digest(message.payload.as_bytes());
        let found = tx.state.db.events[index(message.id)];
        let plan = outbox::publish(found.as_ref(), message.id, digest, self.shows());
        let now = self.shows();
        let published = plan.commit(|writes| tx.state.db.commit(writes, now, None));
        tx.state.messages.entry(message.id).or_insert_with(|| message.clone());
        Ok(published.expect("the model takes it"))
    }

    async fn write_each(
        &self,
        tx: &mut ModelTx,
        bundles: &[Bundle<'_>],
    ) -> Result<Vec<bool>, Error> {
        let now = self.shows();
        Ok(bundles.iter().map(|bundle| tx.state.commit(bundle, now)).collect())
    }

    async fn is_whole(&self, _: &mut ModelTx) -> Result<(), Error> {
        Ok(())
    }
}
