//! What the stores of both databases have in common. The files beside this one are compiled for each.

/// What a store does by statements of modules that are called the same for either database.
macro_rules! methods_in_common {
    () => {
        async fn commit(&self, tx: Self::Tx) -> Result<(), Error> {
            tx.commit().await.map_err(|error| error::of_commit(&error))
        }

        async fn rollback(&self, tx: Self::Tx) -> Result<(), Error> {
            tx.rollback().await.map_err(|error| error::of_statement("to roll back", &error))
        }

        async fn now(&self, tx: &mut Self::Tx) -> Result<Millis, Error> {
            read::now(tx, &self.clock).await
        }

        async fn load(&self, tx: &mut Self::Tx, keys: &Keys) -> Result<Rows, Error> {
            read::load(tx, keys).await
        }

        async fn endpoint(&self, tx: &mut Self::Tx, id: Id) -> Result<Option<Endpoint>, Error> {
            load::endpoint(tx, id).await
        }

        async fn lanes(
            &self,
            tx: &mut Self::Tx,
            after: Option<Id>,
            most: u16,
        ) -> Result<Vec<Lane>, Error> {
            read::lanes(tx, after, most, &self.clock).await
        }

        async fn due_deliveries(
            &self,
            tx: &mut Self::Tx,
            lanes: &[(Id, u16)],
            now: Millis,
        ) -> Result<Vec<Delivery>, Error> {
            read::due_deliveries(tx, lanes, now).await
        }

        async fn due_events(
            &self,
            tx: &mut Self::Tx,
            most: u16,
            now: Millis,
        ) -> Result<Vec<Event>, Error> {
            load::due_events(tx, most, now).await
        }

        async fn subscribers(&self, tx: &mut Self::Tx, event: Id) -> Result<Vec<Endpoint>, Error> {
            sender::subscribers(tx, event).await
        }

        async fn due_receipts(
            &self,
            tx: &mut Self::Tx,
            most: u16,
            now: Millis,
        ) -> Result<Vec<Receipt>, Error> {
            load::due_receipts(tx, most, now).await
        }

        async fn receipt_of(
            &self,
            tx: &mut Self::Tx,
            source: &str,
            account: &str,
            delivery: &str,
        ) -> Result<Option<Receipt>, Error> {
            load::receipt_of(tx, source, account, delivery).await
        }

        async fn letter(&self, tx: &mut Self::Tx, receipt: Id) -> Result<Option<Letter>, Error> {
            load::letter(tx, receipt).await
        }

        async fn is_booked(&self, tx: &mut Self::Tx, operation: Operation) -> Result<bool, Error> {
            load::is_booked(tx, operation).await
        }

        async fn publish(&self, tx: &mut Self::Tx, message: &Message) -> Result<Published, Error> {
            outbox::publish(&mut Outbox(tx, &self.clock), message).await
        }
    };
}
