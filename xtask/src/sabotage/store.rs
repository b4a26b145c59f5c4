//! What is left out of the seals, of the model's store and of its driver.

use super::list::{DB, DRIVER, PLAN, Patch};

pub(super) const STORE: &[Patch] = &[
    // The seals.
    Patch {
        file: PLAN,
        from: "release(transaction(&self.writes), self.then)",
        to: r#"let outcome = transaction(&self.writes);
        if wrong!("a plan that is given out whatever its transaction says") { return Ok(self.then); }
        release(outcome, self.then)"#,
    },
    Patch {
        file: PLAN,
        from: "outcomes.into_iter().zip(plans).map(|(outcome, plan)| release(outcome, plan.then)).collect()",
        to: r#"let blind = wrong!("a batch that is given out whatever its transaction says");
    let first = outcomes.first().copied();
    let turned: Vec<Outcome> = if wrong!("a batch whose answers are turned around") { outcomes.into_iter().rev().collect() } else { outcomes };
    let one = wrong!("a batch whose first answer goes for all");
    let outcomes = turned.into_iter().map(|outcome| first.filter(|_| one).unwrap_or(outcome));
    outcomes.zip(plans).map(|(outcome, plan)| if blind { Ok(plan.then) } else { release(outcome, plan.then) }).collect()"#,
    },
    Patch {
        file: PLAN,
        from: "Outcome::Conflict => Err(Uncommitted::Conflict),
        Outcome::RolledBack => Err(Uncommitted::RolledBack),
        Outcome::Unknown => Err(Uncommitted::Unknown),",
        to: r#"Outcome::Conflict if wrong!("a conflict that breaks the seal") => Ok(then),
        Outcome::RolledBack if wrong!("a rollback that breaks the seal") => Ok(then),
        Outcome::Unknown if wrong!("a lost answer that breaks the seal") => Ok(then),
        Outcome::Conflict => Err(Uncommitted::Conflict),
        Outcome::RolledBack => Err(Uncommitted::RolledBack),
        Outcome::Unknown => Err(Uncommitted::Unknown),"#,
    },
    // The store.
    Patch {
        file: DB,
        from: "rev(self.endpoints.get(index(put.row.id)), |e| e.rev) == put.was
",
        to: r#"rev(self.endpoints.get(index(put.row.id)), |e| e.rev) == put.was || put.was.is_none() && wrong!("a store without unique endpoints") || put.was.is_some() && wrong!("a store without guards of endpoints")
"#,
    },
    Patch {
        file: DB,
        from: "rev(self.endpoints.get(index(*id)), |e| e.rev) == Some(*was)",
        to: r#"rev(self.endpoints.get(index(*id)), |e| e.rev) == Some(*was) || wrong!("a store without HoldEndpoint")"#,
    },
    Patch {
        file: DB,
        from: "Write::Entity(put) => rev(self.entities.get(index(put.row.id)), |e| e.rev) == put.was,",
        to: r#"Write::Entity(put) => rev(self.entities.get(index(put.row.id)), |e| e.rev) == put.was || wrong!("a store without guards of entities"),"#,
    },
    Patch {
        file: DB,
        from: "rev(self.entities.get(index(*id)), |e| e.rev) == Some(*was)",
        to: r#"rev(self.entities.get(index(*id)), |e| e.rev) == Some(*was) || wrong!("a store without HoldEntity")"#,
    },
    Patch {
        file: DB,
        from: "Write::Operation(operation) => !self.is_booked(*operation),",
        to: r#"Write::Operation(operation) => !self.is_booked(*operation) || wrong!("a store without unique operations"),"#,
    },
    Patch {
        file: DB,
        from: "Write::Receipt(put) => rev(self.receipt(put.row.id), |r| r.rev) == put.was,
            Write::Purge { id, rev: was } => rev(self.receipt(*id), |r| r.rev) == Some(*was),",
        to: r#"Write::Receipt(put) => {
                rev(self.receipt(put.row.id), |r| r.rev) == put.was
                    || put.was.is_none() && wrong!("a store without unique receipts")
                    || put.was.is_some() && wrong!("a store without guards of receipts")
            }
            Write::Purge { id, rev: was } => rev(self.receipt(*id), |r| r.rev) == Some(*was) || wrong!("a store without guards of purges"),"#,
    },
    Patch {
        file: DB,
        from: "rev(found, |e| e.rev) == put.was",
        to: r#"rev(found, |e| e.rev) == put.was
                    || put.was.is_none() && wrong!("a store without unique events")
                    || put.was.is_some() && wrong!("a store without guards of events")"#,
    },
    Patch {
        file: DB,
        from: "Write::Delivery(put) => rev(self.delivery(put.row.id), |d| d.rev) == put.was,",
        to: r#"Write::Delivery(put) => {
                rev(self.delivery(put.row.id), |d| d.rev) == put.was
                    || put.was.is_none() && wrong!("a store without unique deliveries")
                    || put.was.is_some() && wrong!("a store without guards of deliveries")
            }"#,
    },
    Patch {
        file: DB,
        from: "if !self.guards_hold(writes, rogue) {",
        to: r#"if !self.guards_hold(writes, rogue) && !wrong!("a store that writes past a broken guard") {"#,
    },
    Patch {
        file: DB,
        from: "Write::Wake { entity } => self.wake(*entity, now),",
        to: r#"Write::Wake { entity } if wrong!("a store that wakes nobody") => {
                let _ = entity;
            }
            Write::Wake { entity } => self.wake(*entity, now),"#,
    },
    Patch {
        file: DRIVER,
        from: "let locked = self.db(Side::Receiver).guards_hold(plan.writes(), ctx.rogue);",
        to: r#"let locked = self.db(Side::Receiver).guards_hold(plan.writes(), ctx.rogue) || wrong!("a handler that runs before its guards hold");"#,
    },
];
