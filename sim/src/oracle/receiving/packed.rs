//! The monitor in a key: what later verdicts depend on, in canonical order and without absolute times.

use hookproof_core::Millis;

use super::{
    super::{
        Terms,
        pack::{Names, at_latest, not_before, number},
    },
    Receiving,
    commit::Commit,
    receipt::{Mark, Receipt, Stand},
    rows::{Booked, EntityRow, OperationRow, Rows},
    weather::patience_ms,
};
use crate::history::{About, Node, Reading, Reason, ReceiptNo, Side};

/// What the parts are written with.
#[derive(Clone, Copy)]
struct Packing<'a> {
    names: Names<'a>,
    /// On the clock of the receiver's database.
    db: Millis,
    /// How long something that is due may wait, where lateness counts.
    patience_ms: Option<u64>,
}

impl Receiving {
    /// Appends everything.
    pub(super) fn write(&self, terms: &Terms, now: Millis, names: Names<'_>, key: &mut Vec<u8>) {
        let Self { rows, backup, door: _, about, alerting, commit, weather, open: _, .. } = self;
        let patience_ms = terms.timely.then(|| patience_ms(terms));
        let with = Packing { names, db: weather.database(now), patience_ms };
        key.push(
            u8::from(weather.down)
                | u8::from(weather.troubled) << 1
                | u8::from(self.outside_failed) << 2
                | u8::from(self.stands) << 3
                | u8::from(commit.is_some()) << 4
                | u8::from(backup.is_some()) << 5
                | u8::from(weather.hung) << 6,
        );
        if let Some(patience_ms) = patience_ms {
            number(key, weather.up);
            number(key, weather.stalled);
            at_latest(key, with.db, weather.grace + patience_ms);
        }
        number(key, about.len() as u64);
        for entity in about {
            number(key, entity.map_or(0, |entity| u64::from(entity.0) + 1));
        }
        number(key, alerting.len() as u64);
        for delivery in alerting {
            number(key, u64::from(delivery.0));
        }
        self.write_door(with, now, key);
        if let Some(commit) = commit {
            commit.write(now, key);
        }
        rows.write(with, key);
        if let Some(backup) = backup {
            backup.write(with, key);
        }
    }

    fn write_door(&self, with: Packing<'_>, now: Millis, key: &mut Vec<u8>) {
        number(key, self.door.requests.len() as u64);
        for request in &self.door.requests {
            key.push(request.ingress);
            key.push(request.signs);
            number(key, u64::from(request.delivery.0));
            number(key, u64::from(request.attempt));
            number(key, u64::from(request.id.0));
            number(key, u64::from(request.body.0));
            not_before(key, with.db, request.keep);
            if with.patience_ms.is_some() {
                at_latest(key, now, request.late);
            }
        }
    }
}

impl Rows {
    fn write(&self, with: Packing<'_>, key: &mut Vec<u8>) {
        let counts = |receipt: &Receipt| receipt.is_present() || receipt.is(Mark::Gone);
        let receipts = self.receipts.iter().rposition(counts).map_or(0, |last| last + 1);
        number(key, receipts as u64);
        for (no, receipt) in self.receipts[..receipts].iter().enumerate() {
            receipt.write(with, no, key);
        }
        let fresh = |row: &EntityRow| *row == EntityRow::default();
        let entities = self.entities.iter().rposition(|row| !fresh(row)).map_or(0, |last| last + 1);
        number(key, entities as u64);
        for row in &self.entities[..entities] {
            self.write_entity(row, key);
        }
        number(key, self.ids.iter().filter(|known| known.purged).count() as u64);
        for (id, known) in self.ids.iter().enumerate() {
            if known.purged {
                number(key, id as u64);
            }
        }
        number(key, self.differences.len() as u64);
        for (receipt, body) in &self.differences {
            number(key, u64::from(receipt.0));
            number(key, u64::from(body.0));
        }
    }

    fn write_entity(&self, row: &EntityRow, key: &mut Vec<u8>) {
        key.push(row.state.0);
        key.push(u8::from(row.refetched) | u8::from(row.partial) << 1 | u8::from(row.shaken) << 2);
        number(key, row.version);
        key.push(row.projected.map_or(0, |state| state.0 + 1));
        let mut next = row.first_operation;
        while let Some(at) = next {
            let operation = &self.operations[at as usize];
            operation.write(key);
            next = operation.next;
        }
        key.push(0);
    }
}

impl Receipt {
    fn write(&self, with: Packing<'_>, no: usize, key: &mut Vec<u8>) {
        let (claimed, gone) = (self.claim.is_some(), self.is(Mark::Gone));
        key.push(self.stand as u8 | u8::from(claimed) << 4 | u8::from(gone) << 5);
        if self.stand == Stand::Absent {
            return;
        }
        number(key, u64::from(self.weighty_marks()));
        number(key, u64::from(self.id.0));
        number(key, u64::from(self.body.0));
        match self.reading {
            Reading::Event { entity, kind, occurrence, version } => {
                number(key, u64::from(entity.0) + 2);
                number(key, u64::from(kind.0));
                number(key, occurrence);
                number(key, version);
            }
            Reading::UnknownType => key.push(0),
            Reading::Unreadable => key.push(1),
        }
        not_before(key, with.db, self.keep);
        if self.stand.is_open() {
            self.write_open(with, no, key);
        }
    }

    fn write_open(&self, with: Packing<'_>, no: usize, key: &mut Vec<u8>) {
        number(key, u64::from(self.strikes));
        not_before(key, with.db, self.wake);
        not_before(key, with.db, self.cap.earliest);
        match self.claim {
            Some(claim) => {
                number(key, with.names.worked(no, claim.fence));
                key.push(claim.ran | u8::from(claim.jumped) << 3);
                key.push(u8::from(self.fetched.is_some()));
                // A decision is as old as the claim at most, so its age counts, and the cap from it.
                number(key, with.db.since(claim.at));
                not_before(key, claim.at, self.cap.latest);
                if let Some((state, version)) = self.fetched {
                    key.push(state.0);
                    number(key, version);
                }
            }
            None => not_before(key, with.db, self.cap.latest),
        }
        if let Some(patience_ms) = with.patience_ms {
            at_latest(key, with.db, self.due + patience_ms);
        }
    }
}

impl OperationRow {
    fn write(&self, key: &mut Vec<u8>) {
        let booked = match self.booked {
            Booked::No => 0,
            Booked::ByHand => 1,
            Booked::By(_) => 2,
        };
        key.push(1 << 7 | booked | u8::from(self.did) << 2 | u8::from(self.outside.is_some()) << 3);
        number(key, u64::from(self.key.transition.0));
        number(key, self.key.occurrence);
        if let Booked::By(ReceiptNo(receipt)) = self.booked {
            number(key, u64::from(receipt));
        }
        if let Some(outside) = self.outside {
            number(key, outside);
        }
    }
}

impl Commit {
    fn write(&self, now: Millis, key: &mut Vec<u8>) {
        number(key, now.since(self.at));
        let (place, which) = match self.by {
            Node::App => (0, 0),
            Node::Relay(relay) => (1, relay),
            Node::Network => (2, 0),
            Node::Ingress(ingress) => (3, ingress),
            Node::Worker(worker) => (4, worker),
            Node::EffectRelay(relay) => (5, relay),
            Node::External => (6, 0),
            Node::Api => (7, 0),
            Node::Database(Side::Sender) => (8, 0),
            Node::Database(Side::Receiver) => (9, 0),
            Node::Operator => (10, 0),
            Node::World => (11, 0),
        };
        key.extend([place, which, u8::from(self.alerted)]);
        number(key, u64::from(self.owed));
        match self.before {
            Some((entity, state, version)) => {
                number(key, u64::from(entity.0) + 1);
                key.push(state.0);
                number(key, version);
            }
            None => key.push(0),
        }
        match self.effect {
            Some(effect) => {
                number(key, u64::from(effect.entity.0) + 1);
                number(key, u64::from(effect.transition.0));
                number(key, effect.occurrence);
            }
            None => key.push(0),
        }
        match self.letter {
            Some((about, reason)) => write_letter(about, reason, key),
            None => key.push(0),
        }
        number(key, self.failed.map_or(0, |delivery| u64::from(delivery.0) + 1));
    }
}

fn write_letter(about: About, reason: Reason, key: &mut Vec<u8>) {
    let (what, which) = match about {
        About::Receipt(receipt) => (1, receipt.0),
        About::Delivery(delivery) => (2, delivery.0),
    };
    key.extend([what, reason as u8]);
    number(key, u64::from(which));
}
