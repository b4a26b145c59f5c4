//! A receiver of one's own in the simulator, written once for any transaction: a right one, and the same
//! one with a mail sent from inside its handler.
//!
//!     cargo run --release -p hookproof-sim --example own_receiver

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use core::future::Future;

use hookproof_core::{
    handler::{Handler, HandlerError, Incoming},
    model::Operation,
};
use hookproof_sim::{check, handler::SimTx, promise::Promise};

/// What the shop does in a transaction, whoever provides it. For sqlx, implement it for
/// `sqlx::Transaction<'static, sqlx::Postgres>` with the statements that the comments below show.
trait ShopTx: Send {
    fn book(
        &mut self,
        operation: Operation,
        key: &str,
        what: &str,
    ) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

/// The shop, over any such transaction.
struct Shop;

impl<Tx: ShopTx> Handler<Tx> for Shop {
    async fn apply(&self, tx: &mut Tx, event: &Incoming<'_>) -> Result<(), HandlerError> {
        tx.book(event.operation, &event.key(), event.name).await
    }
}

impl ShopTx for SimTx {
    async fn book(
        &mut self,
        operation: Operation,
        key: &str,
        what: &str,
    ) -> Result<(), HandlerError> {
        // INSERT INTO bookings (key, what) VALUES ($1, $2)
        self.insert("bookings", key, what)?;
        // Nothing in production: the statement above is the effect.
        Ok(self.effect(operation)?)
    }
}

/// The shop that also sends a mail, at once and without a key.
struct Mails;

impl Handler<SimTx> for Mails {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Result<(), HandlerError> {
        Shop.apply(tx, event).await?;
        // mailer.send(…).await
        Ok(tx.call_outside(event.operation, None)?)
    }
}

fn main() {
    let right = check(|| Shop).run();
    println!("Shop: {right}\n");
    right.assert_holds();

    let wrong = check(|| Mails).run();
    println!("Mails: {wrong}");
    assert!(wrong.broken(Promise::R14).is_some(), "a mail without a key is sent twice");
}
