//! The transaction that a handler under test works in, and the wrong ways around it.
//!
//! Rows are strings under a table and a key. Whatever is written here commits with the plan that marks
//! the receipt, and is gone with it: by a rollback, a conflict, a crash, a restore.
//!
//! A write of the transaction may be refused (the event is poisoned), and then the transaction goes
//! on, as in `SQLite` or behind a savepoint: a handler that passes over the error commits without the
//! write. Once the connection is lost nothing commits any more.

use std::collections::BTreeMap;

use hookproof_core::{handler::HandlerError, model::Operation};

/// The application's rows: a part of the receiver's database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables(BTreeMap<(String, String), String>);

impl Tables {
    /// The value under a key of a table.
    pub fn row(&self, table: &str, key: &str) -> Option<&str> {
        self.0.get(&(table.to_owned(), key.to_owned())).map(String::as_str)
    }

    /// All rows, by table and key.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().map(|((table, key), value)| (format!("{table}/{key}"), value.clone()))
    }

    fn put(&mut self, table: &str, key: &str, value: &str) {
        self.0.insert((table.to_owned(), key.to_owned()), value.to_owned());
    }

    fn insert(&mut self, table: &str, key: &str, value: &str) -> Result<(), TxError> {
        if self.row(table, key).is_some() {
            return Err(TxError::NotUnique(format!("{table}/{key}")));
        }
        self.put(table, key, value);
        Ok(())
    }
}

/// Why a statement did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxError {
    /// A row with this table and key exists.
    NotUnique(String),
    /// The database refuses to store what this event says.
    Refused,
    /// The connection is lost, and the transaction with it.
    Lost,
    /// The service outside did not answer. It may have acted.
    NoAnswer,
}

impl core::fmt::Display for TxError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotUnique(row) => write!(f, "the row {row} exists"),
            Self::Refused => f.write_str("the database refuses the row"),
            Self::Lost => f.write_str("the connection is lost"),
            Self::NoAnswer => f.write_str("the service did not answer"),
        }
    }
}

impl core::error::Error for TxError {}

impl From<TxError> for HandlerError {
    fn from(error: TxError) -> Self {
        match error {
            TxError::NotUnique(_) | TxError::Refused => Self::event(error),
            TxError::Lost | TxError::NoAnswer => Self::infrastructure(error),
        }
    }
}

/// The transaction that marks the receipt.
#[derive(Debug)]
pub struct SimTx {
    /// What is committed. Other transactions may commit while this one is open.
    committed: Tables,
    /// What this transaction sees.
    seen: Tables,
    effects: Vec<Operation>,
    left: Left,
    luck: Luck,
    /// Statements and calls so far.
    steps: u8,
    /// Writes so far.
    writes: u8,
    /// Whether something went wrong that is not the handler's own doing.
    hurt: bool,
    /// Whether the connection is lost.
    lost: bool,
}

impl SimTx {
    pub(crate) fn begin(committed: Tables, luck: Luck) -> Self {
        let seen = committed.clone();
        Self {
            committed,
            seen,
            effects: Vec::new(),
            left: Left::default(),
            luck,
            steps: 0,
            writes: 0,
            hurt: false,
            lost: false,
        }
    }

    /// The row that this transaction sees.
    pub fn get(&mut self, table: &str, key: &str) -> Result<Option<String>, TxError> {
        self.statement()?;
        Ok(self.seen.row(table, key).map(str::to_owned))
    }

    /// Stores a row, whatever was there.
    pub fn put(&mut self, table: &str, key: &str, value: &str) -> Result<(), TxError> {
        self.write()?;
        self.seen.put(table, key, value);
        Ok(())
    }

    /// Stores a row under a unique key.
    pub fn insert(&mut self, table: &str, key: &str, value: &str) -> Result<(), TxError> {
        self.write()?;
        self.seen.insert(table, key, value)
    }

    /// Says that the effect of an operation is true once this transaction commits. It stands for the
    /// statement that makes it so: in production it is that statement alone.
    pub fn effect(&mut self, operation: Operation) -> Result<(), TxError> {
        self.write()?;
        self.effects.push(operation);
        Ok(())
    }

    /// Calls a service outside to do what the operation asks for: at once, whatever becomes of this
    /// transaction. Of calls with one key the service honours the first; without a key it acts each
    /// time.
    pub fn call_outside(&mut self, operation: Operation, key: Option<&str>) -> Result<(), TxError> {
        self.step()?;
        self.left.calls.push(Call { operation, key: key.map(digest) });
        self.unless(self.luck.silent, TxError::NoAnswer)
    }

    /// A second connection, on which each statement commits at once.
    pub fn outside_tx(&mut self) -> OutsideTx<'_> {
        OutsideTx { tx: self }
    }

    fn write(&mut self) -> Result<(), TxError> {
        self.statement()?;
        let refused = self.luck.refuses || self.luck.refuses_write == Some(self.writes);
        self.writes = self.writes.saturating_add(1);
        self.unless(refused, TxError::Refused)
    }

    fn statement(&mut self) -> Result<(), TxError> {
        self.step()?;
        self.lost |= self.luck.breaks_after.is_some_and(|after| self.steps > after);
        self.unless(self.lost, TxError::Lost)
    }

    /// A dead process does nothing more, though its future is run to the end here.
    fn step(&mut self) -> Result<(), TxError> {
        self.steps = self.steps.saturating_add(1);
        let dead = self.luck.dies_after.is_some_and(|after| self.steps > after);
        self.unless(dead, TxError::Lost)
    }

    fn unless(&mut self, wrong: bool, error: TxError) -> Result<(), TxError> {
        self.hurt |= wrong;
        if wrong { Err(error) } else { Ok(()) }
    }

    /// Whether the simulator let anything fail in here, so that an error is not the handler's own.
    pub(crate) fn is_hurt(&self) -> bool {
        self.hurt
    }

    /// Whether a statement found its connection lost: no error after that is the event's fault.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// The effects that a commit makes true, those of other transactions included: a history says of
    /// an effect that it became true with its booking, if nothing came between them.
    pub(crate) fn effects(&self) -> Vec<Operation> {
        self.left.effects.iter().chain(&self.effects).copied().collect()
    }

    /// What is committed whatever becomes of it, what would be if it commits, and what it left.
    pub(crate) fn end(self) -> (Tables, Tables, Left) {
        (self.committed, self.seen, self.left)
    }
}

/// A connection beside the transaction: whatever it is told is committed at once.
#[derive(Debug)]
pub struct OutsideTx<'a> {
    tx: &'a mut SimTx,
}

impl OutsideTx<'_> {
    /// The row, as it is committed.
    pub fn get(&mut self, table: &str, key: &str) -> Result<Option<String>, TxError> {
        self.tx.step()?;
        Ok(self.tx.committed.row(table, key).map(str::to_owned))
    }

    /// Stores a row, and commits.
    pub fn put(&mut self, table: &str, key: &str, value: &str) -> Result<(), TxError> {
        self.write()?;
        self.tx.committed.put(table, key, value);
        self.tx.seen.put(table, key, value);
        Ok(())
    }

    /// Stores a row under a unique key, and commits.
    pub fn insert(&mut self, table: &str, key: &str, value: &str) -> Result<(), TxError> {
        self.write()?;
        self.tx.committed.insert(table, key, value)?;
        self.tx.seen.put(table, key, value);
        Ok(())
    }

    /// Makes the effect of an operation true, and commits.
    pub fn effect(&mut self, operation: Operation) -> Result<(), TxError> {
        self.write()?;
        self.tx.left.effects.push(operation);
        Ok(())
    }

    fn write(&mut self) -> Result<(), TxError> {
        self.tx.step()?;
        self.tx.unless(self.tx.luck.refuses, TxError::Refused)
    }
}

/// What goes wrong under a handler in one run of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Luck {
    /// The database refuses every write: the event is poisoned.
    pub(crate) refuses: bool,
    /// It refuses the write of this number alone, counted from 0.
    pub(crate) refuses_write: Option<u8>,
    /// The connection is lost after this many statements and calls.
    pub(crate) breaks_after: Option<u8>,
    /// The process dies after this many.
    pub(crate) dies_after: Option<u8>,
    /// Services outside act, and do not answer.
    pub(crate) silent: bool,
}

/// What a run of a handler did whatever becomes of its transaction.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// Effects that another transaction made true.
    pub(crate) effects: Vec<Operation>,
    /// Calls of services outside.
    pub(crate) calls: Vec<Call>,
}

/// A call of a service outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// What it was asked to do.
    pub(crate) operation: Operation,
    /// The digest of the key that it was shown.
    pub(crate) key: Option<u64>,
}

/// A key as a number (FNV-1a).
fn digest(key: &str) -> u64 {
    key.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use hookproof_core::{Id, model::Transition};

    use super::*;

    const PAY: Operation = Operation { entity: Id(0), transition: Transition(0), occurrence: 0 };

    fn begin(luck: Luck) -> SimTx {
        SimTx::begin(Tables::default(), luck)
    }

    #[test]
    fn what_was_staged_is_seen_inside_and_nowhere_else() {
        let mut tx = begin(Luck::default());
        tx.put("orders", "1", "paid").unwrap();
        assert_eq!(tx.get("orders", "1"), Ok(Some("paid".to_owned())));
        assert_eq!(tx.outside_tx().get("orders", "1"), Ok(None));
        let (rolled_back, committed, _) = tx.end();
        assert_eq!(rolled_back.row("orders", "1"), None);
        assert_eq!(committed.row("orders", "1"), Some("paid"));
    }

    #[test]
    fn a_unique_key_is_taken_once() {
        let mut tx = begin(Luck::default());
        assert_eq!(tx.insert("orders", "1", "a"), Ok(()));
        assert_eq!(tx.insert("orders", "1", "b"), Err(TxError::NotUnique("orders/1".to_owned())));
        assert_eq!(tx.get("orders", "1"), Ok(Some("a".to_owned())));
    }

    #[test]
    fn another_transaction_commits_at_once() {
        let mut tx = begin(Luck::default());
        tx.outside_tx().put("orders", "1", "paid").unwrap();
        tx.outside_tx().effect(PAY).unwrap();
        let (rolled_back, _, left) = tx.end();
        assert_eq!(rolled_back.row("orders", "1"), Some("paid"));
        assert_eq!(left.effects, [PAY]);
    }

    #[test]
    fn a_lost_connection_takes_the_statements_after_it_but_no_call() {
        let mut tx = begin(Luck { breaks_after: Some(1), ..Luck::default() });
        assert_eq!(tx.put("orders", "1", "paid"), Ok(()));
        assert_eq!(tx.get("orders", "1"), Err(TxError::Lost));
        assert_eq!(tx.call_outside(PAY, None), Ok(()));
    }

    #[test]
    fn a_dead_process_calls_nobody() {
        let mut tx = begin(Luck { dies_after: Some(0), ..Luck::default() });
        assert_eq!(tx.call_outside(PAY, None), Err(TxError::Lost));
        assert_eq!(tx.outside_tx().effect(PAY), Err(TxError::Lost));
        let (_, _, left) = tx.end();
        assert!(left.calls.is_empty() && left.effects.is_empty());
    }

    #[test]
    fn a_refused_write_leaves_the_others() {
        let mut tx = begin(Luck { refuses_write: Some(1), ..Luck::default() });
        assert_eq!(tx.insert("orders", "1", "a"), Ok(()));
        assert_eq!(tx.effect(PAY), Err(TxError::Refused));
        assert_eq!(tx.put("orders", "1", "b"), Ok(()));
    }

    #[test]
    fn a_poisoned_event_is_refused_wherever_it_is_written() {
        let mut tx = begin(Luck { refuses: true, ..Luck::default() });
        assert_eq!(tx.insert("orders", "1", "a"), Err(TxError::Refused));
        assert_eq!(tx.outside_tx().put("orders", "1", "a"), Err(TxError::Refused));
        assert_eq!(tx.get("orders", "1"), Ok(None));
    }
}
