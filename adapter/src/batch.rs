//! Many plans in one transaction, one answer each, whatever the database.
//!
//! Kind by kind in the lock order, the guarded rows are locked in the order of their keys and new rows
//! are inserted. A plan whose guard fails is left out before it wrote anything, where that is known in
//! time; where it is not, a savepoint takes everything back and the others run again.

mod guard;

use std::collections::{BTreeMap, BTreeSet};

use hookproof_core::{
    Id, Millis, Reason,
    endpoint::Endpoint,
    inbox::Receipt,
    model::{Entity, Operation},
    outbox::{Delivery, Event},
    plan::{About, Audit, Put, Write},
};

pub(crate) use self::guard::Kind;
use self::guard::{Guard, Spot};
use crate::{
    crash::{self, Point},
    error::Error,
    rogue::{self, Rogue},
    store::{Bundle, Callback, Content, Letter},
};

/// What a batch asks of a database: single statements.
pub(crate) trait Session {
    async fn savepoint(&mut self) -> Result<(), Error>;
    async fn back_to_savepoint(&mut self) -> Result<(), Error>;
    async fn now(&mut self) -> Result<Millis, Error>;

    /// Locks the rows with these keys, in this order, and gives their revisions.
    async fn lock(&mut self, kind: Kind, ids: &[Id]) -> Result<Vec<(Id, u32)>, Error>;

    /// Inserts new rows and gives the keys of those whose place was free.
    async fn insert_endpoints(&mut self, rows: &[(Endpoint, &Callback)]) -> Result<Vec<Id>, Error>;
    async fn insert_operations(&mut self, rows: &[Operation]) -> Result<Vec<Operation>, Error>;
    async fn insert_receipts(&mut self, rows: &[(Receipt, &Letter)]) -> Result<Vec<Id>, Error>;
    async fn insert_deliveries(&mut self, rows: &[Delivery]) -> Result<Vec<Id>, Error>;

    /// Changes rows that are locked.
    async fn update(&mut self, changes: &Changes, now: Millis) -> Result<(), Error>;
    async fn alert(&mut self, alerts: &[(About, Reason)], now: Millis) -> Result<(), Error>;
    async fn audit(&mut self, audits: &[Audit], now: Millis) -> Result<(), Error>;
    async fn wake(&mut self, entities: &[Id], now: Millis) -> Result<(), Error>;
}

/// What becomes of rows that are there, each once.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) endpoints: BTreeMap<Id, Endpoint>,
    pub(crate) entities: BTreeMap<Id, Entity>,
    pub(crate) receipts: BTreeMap<Id, Receipt>,
    pub(crate) purged: BTreeSet<Id>,
    pub(crate) events: BTreeMap<Id, Event>,
    pub(crate) deliveries: BTreeMap<Id, Delivery>,
}

impl Changes {
    /// Asserts that as many rows were changed as are here: they were under lock.
    pub(crate) fn account_for(&self, done: u64) -> Result<(), Error> {
        let changed = self.endpoints.len() + self.entities.len() + self.receipts.len();
        let asked = changed + self.purged.len() + self.events.len() + self.deliveries.len();
        if done == asked as u64 {
            return Ok(());
        }
        Err(Error::database(
            &format!("{asked} locked rows to change"),
            done,
            "a trigger or a rule of the database keeps rows from changing; take it away",
        ))
    }
}

/// Carries out each plan whose guards hold, and says which.
pub(crate) async fn write_each<S: Session>(
    session: &mut S,
    bundles: &[Bundle<'_>],
) -> Result<Vec<bool>, Error> {
    let mut batch = Batch::of(bundles);
    if batch.inserts() {
        session.savepoint().await?;
    }
    loop {
        for kind in Kind::ALL {
            batch.lock(session, kind).await?;
            batch.insert(session, kind).await?;
        }
        let standing = batch.standing(Kind::Delivery);
        if batch.drop_spoiled(&standing) {
            session.back_to_savepoint().await?;
            continue;
        }
        finish(session, bundles, &standing).await?;
        return Ok(standing);
    }
}

/// A batch under way.
struct Batch<'a> {
    bundles: &'a [Bundle<'a>],
    guards: Vec<Vec<Guard>>,
    /// Plans that are left out.
    dropped: Vec<bool>,
    /// The revisions under lock.
    found: BTreeMap<Spot, u32>,
    /// Places that an insert found taken.
    taken: BTreeSet<Spot>,
    /// Plans that have inserted something.
    inserted: Vec<bool>,
}

impl<'a> Batch<'a> {
    fn of(bundles: &'a [Bundle<'a>]) -> Self {
        let guards = |bundle: &Bundle<'_>| bundle.writes.iter().filter_map(Guard::of).collect();
        Self {
            bundles,
            guards: bundles.iter().map(guards).collect(),
            dropped: vec![false; bundles.len()],
            found: BTreeMap::new(),
            taken: BTreeSet::new(),
            inserted: vec![false; bundles.len()],
        }
    }

    /// Whether anything can be left behind by a plan that fails: changes come last.
    fn inserts(&self) -> bool {
        self.guards.iter().flatten().any(|guard| guard.was.is_none())
    }

    /// Which plans stand, by what is known of the kinds up to this one. Plans stand on each other: one
    /// may have been decided on what an earlier one of the batch leaves.
    fn standing(&self, known: Kind) -> Vec<bool> {
        let mut revs = self.found.clone();
        let plans = self.guards.iter().zip(&self.dropped);
        plans
            .map(|(guards, dropped)| {
                let stands = !dropped
                    && guards.iter().filter(|guard| guard.spot.kind() <= known).all(|guard| {
                        !self.taken.contains(&guard.spot)
                            && guard.holds(revs.get(&guard.spot).copied())
                    });
                if stands {
                    for guard in guards {
                        match guard.then {
                            Some(rev) => revs.insert(guard.spot, rev),
                            None => revs.remove(&guard.spot),
                        };
                    }
                }
                stands
            })
            .collect()
    }

    async fn lock<S: Session>(&mut self, session: &mut S, kind: Kind) -> Result<(), Error> {
        let plans = self.guards.iter().zip(&self.dropped).filter(|(_, dropped)| !**dropped);
        let guards = plans.flat_map(|(guards, _)| guards).filter(|guard| guard.was.is_some());
        let spots: BTreeSet<Spot> =
            guards.map(|guard| guard.spot).filter(|spot| spot.kind() == kind).collect();
        let ids: Vec<Id> = spots.iter().filter_map(|spot| spot.row()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let revs: BTreeMap<Id, u32> = session.lock(kind, &ids).await?.into_iter().collect();
        let found = spots.iter().filter_map(|spot| Some((*spot, *revs.get(&spot.row()?)?)));
        self.found.extend(found);
        Ok(())
    }

    /// Inserts the new rows of this kind of every plan that stands so far.
    async fn insert<S: Session>(&mut self, session: &mut S, kind: Kind) -> Result<(), Error> {
        let standing = self.standing(kind);
        let fresh: Vec<(usize, &Write)> = (0..)
            .zip(self.bundles)
            .filter(|(plan, _)| standing[*plan])
            .flat_map(|(plan, bundle)| bundle.writes.iter().map(move |write| (plan, write)))
            .filter(|(_, write)| {
                Guard::of(write).is_some_and(|g| g.was.is_none() && g.spot.kind() == kind)
            })
            .collect();
        if fresh.is_empty() {
            return Ok(());
        }
        let free = self.insert_rows(session, kind, &fresh).await?;
        for (plan, write) in fresh {
            let Some(guard) = Guard::of(write) else { continue };
            if free.contains(&guard.spot) {
                self.inserted[plan] = true;
            } else {
                self.taken.insert(guard.spot);
            }
        }
        Ok(())
    }

    async fn insert_rows<S: Session>(
        &self,
        session: &mut S,
        kind: Kind,
        fresh: &[(usize, &Write)],
    ) -> Result<BTreeSet<Spot>, Error> {
        let content = |plan: usize| self.bundles[plan].content;
        let writes = || fresh.iter().map(|(_, write)| *write);
        Ok(match kind {
            Kind::Endpoint => {
                let rows: Vec<_> =
                    fresh.iter().filter_map(|(p, w)| callback(w, content(*p))).collect();
                spots(session.insert_endpoints(&rows).await?, Spot::Endpoint)
            }
            Kind::Entity => {
                unreachable!("an entity is made by `Store::load`, in its initial state")
            }
            Kind::Operation => {
                let rows: Vec<_> = writes().filter_map(operation).collect();
                spots(session.insert_operations(&rows).await?, Spot::Operation)
            }
            Kind::Receipt => {
                let rows: Vec<_> =
                    fresh.iter().filter_map(|(p, w)| letter(w, content(*p))).collect();
                spots(session.insert_receipts(&rows).await?, Spot::Receipt)
            }
            Kind::Event => {
                unreachable!("an event is published by `Store::publish`, which has its payload")
            }
            Kind::Delivery => {
                let rows: Vec<_> = writes().filter_map(delivery).collect();
                spots(session.insert_deliveries(&rows).await?, Spot::Delivery)
            }
        })
    }

    /// Leaves out the plans that have inserted something and do not stand. Whether there were any: then
    /// everything is taken back, and nothing is known any more.
    fn drop_spoiled(&mut self, standing: &[bool]) -> bool {
        let mut any = false;
        for (plan, stands) in standing.iter().enumerate() {
            if self.inserted[plan] && !stands {
                self.dropped[plan] = true;
                any = true;
            }
        }
        if any {
            self.found.clear();
            self.taken.clear();
            self.inserted.fill(false);
        }
        any
    }
}

fn spots<K>(keys: Vec<K>, spot: impl Fn(K) -> Spot) -> BTreeSet<Spot> {
    keys.into_iter().map(spot).collect()
}

fn callback<'a>(write: &Write, content: Content<'a>) -> Option<(Endpoint, &'a Callback)> {
    let Write::Endpoint(put) = write else { return None };
    let Content::Callback(callback) = content else {
        unreachable!("a new endpoint is written beside its callback")
    };
    Some((put.row, callback))
}

fn letter<'a>(write: &Write, content: Content<'a>) -> Option<(Receipt, &'a Letter)> {
    let Write::Receipt(put) = write else { return None };
    let Content::Letter(letter) = content else {
        unreachable!("a new receipt is written beside its letter")
    };
    Some((put.row, letter))
}

fn operation(write: &Write) -> Option<Operation> {
    if let Write::Operation(operation) = write { Some(*operation) } else { None }
}

fn delivery(write: &Write) -> Option<Delivery> {
    if let Write::Delivery(put) = write { Some(put.row) } else { None }
}

/// Writes the rest of the plans that stand, all of it on rows that are locked, or on nobody's.
async fn finish<S: Session>(
    session: &mut S,
    bundles: &[Bundle<'_>],
    standing: &[bool],
) -> Result<(), Error> {
    let mut rest = Rest::default();
    let standing = bundles.iter().zip(standing).filter(|(_, stands)| **stands);
    for write in standing.flat_map(|(bundle, _)| bundle.writes) {
        rest.take(write);
    }
    crash::here(Point::HalfFanOut).await;
    let now = session.now().await?;
    session.update(&rest.changes, now).await?;
    session.alert(&rest.alerts, now).await?;
    session.audit(&rest.audits, now).await?;
    let wakes: Vec<Id> = rest.wakes.into_iter().collect();
    session.wake(&wakes, now).await
}

/// What is written after everything is locked and inserted.
#[derive(Default)]
struct Rest {
    changes: Changes,
    alerts: Vec<(About, Reason)>,
    audits: Vec<Audit>,
    wakes: BTreeSet<Id>,
}

impl Rest {
    /// Of several changes to one row the last counts: each was decided on the one before.
    fn take(&mut self, write: &Write) {
        let changes = &mut self.changes;
        match write {
            Write::Endpoint(Put { was: Some(_), row }) => {
                changes.endpoints.insert(row.id, *row);
            }
            Write::Entity(Put { was: Some(_), row }) => {
                changes.entities.insert(row.id, *row);
            }
            Write::Receipt(Put { was: Some(_), row }) => {
                changes.receipts.insert(row.id, *row);
            }
            Write::Purge { id, .. } => {
                changes.receipts.remove(id);
                changes.purged.insert(*id);
            }
            Write::Event(Put { was: Some(_), row }) => {
                changes.events.insert(row.id, *row);
            }
            Write::Delivery(Put { was: Some(_), row }) => {
                let fence = if rogue::is(Rogue::NoFence) { 0 } else { row.fence };
                changes.deliveries.insert(row.id, Delivery { fence, ..*row });
            }
            Write::Alert { about, reason } => self.alerts.push((*about, *reason)),
            Write::Audit(audit) => self.audits.push(*audit),
            Write::Wake { entity } => {
                self.wakes.insert(*entity);
            }
            Write::Endpoint(Put { was: None, .. })
            | Write::HoldEndpoint { .. }
            | Write::Entity(Put { was: None, .. })
            | Write::HoldEntity { .. }
            | Write::Operation(_)
            | Write::Receipt(Put { was: None, .. })
            | Write::Event(Put { was: None, .. })
            | Write::Delivery(Put { was: None, .. })
            | Write::Handle { .. } => {}
        }
    }
}
