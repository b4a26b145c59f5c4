//! What the world did to a transaction, as a value that says what to do about it.

use core::fmt;

use hookproof_core::{handler::HandlerError, plan::Outcome};
use sqlx::error::DatabaseError;

/// Why a store could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A guard failed, or the database gave up for the sake of another transaction: load again, decide
    /// again.
    Conflict,
    /// The connection was lost during the commit: whether it is in, only the rows can tell.
    Unknown(Fault),
    /// The application's handler failed, and everything was rolled back.
    Handler(HandlerError),
    /// Anything else of the database's; everything was rolled back.
    Database(Fault),
    /// The database is not one that this version can work with; nothing was changed.
    Unfit(Fault),
}

/// What was wrong, and what mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What should have been.
    pub expected: String,
    /// What was.
    pub found: String,
    /// What to do.
    pub advice: String,
}

impl Error {
    /// How the transaction ended, as the core sees it.
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Conflict => Outcome::Conflict,
            Self::Unknown(_) => Outcome::Unknown,
            Self::Handler(_) | Self::Database(_) | Self::Unfit(_) => Outcome::RolledBack,
        }
    }

    pub(crate) fn unfit(expected: &str, found: impl fmt::Display, advice: &str) -> Self {
        Self::Unfit(Fault::of(expected, found, advice))
    }

    pub(crate) fn database(expected: &str, found: impl fmt::Display, advice: &str) -> Self {
        Self::Database(Fault::of(expected, found, advice))
    }
}

impl Fault {
    pub(crate) fn of(expected: &str, found: impl fmt::Display, advice: &str) -> Self {
        Self { expected: expected.into(), found: found.to_string(), advice: advice.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}: {}", self.expected, self.found, self.advice)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => f.write_str(
                "expected the rows as they were decided on, found them changed: load them again and \
                 decide again",
            ),
            Self::Unknown(fault) | Self::Database(fault) | Self::Unfit(fault) => fault.fmt(f),
            Self::Handler(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

/// A failed statement within a transaction, which the database rolls back.
pub(crate) fn of_statement(expected: &str, error: &sqlx::Error) -> Error {
    if error.as_database_error().and_then(DatabaseError::code).is_some_and(|c| gave_way(&c)) {
        return Error::Conflict;
    }
    Error::database(expected, error, "nothing was written; mend that, then try again")
}

/// A handler committed or rolled back what it was only lent.
pub(crate) fn ended_by_handler() -> Error {
    Error::Unknown(Fault::of(
        "the transaction of the work",
        "that its handler had ended it",
        "take the COMMIT or ROLLBACK out of the handler; the rows tell which it was",
    ))
}

/// A transaction that did not outlive its handler: one that swallowed an error is the handler's doing, and
/// trying the same event again may not help.
pub(crate) fn of_handled(error: &sqlx::Error) -> Error {
    let code = error.as_database_error().and_then(DatabaseError::code);
    if code.is_some_and(|code| code == ABORTED) {
        return Error::Handler(HandlerError::event(
            "it swallowed an error of the database, which then keeps nothing of the transaction: give \
             the error back",
        ));
    }
    of_statement("a transaction that the handler left whole", error)
}

/// PostgreSQL's code for a statement in a transaction that an error has ended.
const ABORTED: &str = "25P02";

/// A failed `COMMIT`: only a database that answered, and was not on its way down, says that nothing is in.
pub(crate) fn of_commit(error: &sqlx::Error) -> Error {
    let code = error.as_database_error().and_then(DatabaseError::code);
    match code {
        Some(code) if gave_way(&code) => Error::Conflict,
        Some(code) if is_the_rows_fault(&code) => Error::Handler(HandlerError::event(error)),
        Some(code) if !leaves_open(&code) => {
            Error::database("a commit", error, "nothing was written; mend that, then try again")
        }
        Some(_) | None => Error::Unknown(Fault::of(
            "the answer of a commit",
            error,
            "load the rows again: they tell whether it is in",
        )),
    }
}

/// Codes with which a database gives one transaction up for another: PostgreSQL's serialization
/// failure, deadlock and lock timeout; SQLite's busy and locked, which carry their kind in the low byte.
fn gave_way(code: &str) -> bool {
    ["40001", "40P01", "55P03"].contains(&code)
        || code.len() < 5 && code.parse::<u32>().is_ok_and(|code| [5, 6].contains(&(code & 0xff)))
}

/// Whose fault an error of the database is, for a handler that gives it on: what the rows themselves break
/// (a constraint, a value out of range, what a trigger raises) is the event's and climbs; everything else
/// is the infrastructure's, and climbs nothing (R10).
pub fn blame(error: &sqlx::Error) -> HandlerError {
    let code = error.as_database_error().and_then(DatabaseError::code);
    match code {
        Some(code) if is_the_rows_fault(&code) => HandlerError::event(error),
        Some(_) | None => HandlerError::infrastructure(error),
    }
}

/// PostgreSQL's data exceptions, violated constraints and raised exceptions; SQLite's constraints, and
/// values of a wrong type or size. Trying the same again will not help.
fn is_the_rows_fault(code: &str) -> bool {
    let is_long = code.len() == 5;
    is_long && (code.starts_with("22") || code.starts_with("23") || code.starts_with("P0"))
        || !is_long && code.parse::<u32>().is_ok_and(|code| [18, 19, 20].contains(&(code & 0xff)))
}

/// Codes that PostgreSQL may send for a commit that is in already (it was told to go down while it
/// waited for a standby), and SQLite for one whose frames may have reached the disk.
fn leaves_open(code: &str) -> bool {
    code.starts_with("08")
        || code.starts_with("57P")
        || code.len() < 5 && code.parse::<u32>().is_ok_and(|code| code & 0xff == 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_that_gave_way_is_a_conflict() {
        for code in ["40001", "40P01", "55P03", "5", "6", "261", "517"] {
            assert!(gave_way(code), "{code}");
        }
        for code in ["23505", "57014", "10", "13", "2067"] {
            assert!(!gave_way(code), "{code}");
        }
    }

    #[test]
    fn what_the_rows_break_is_the_events_fault() {
        for code in ["23505", "22003", "P0001", "787", "2067", "20"] {
            assert!(is_the_rows_fault(code), "{code}");
        }
        for code in ["25P02", "53100", "57P01", "40001", "5", "13", "10"] {
            assert!(!is_the_rows_fault(code), "{code}");
        }
    }

    #[test]
    fn only_an_answer_says_that_a_commit_is_not_in() {
        let lost = of_commit(&sqlx::Error::WorkerCrashed);
        assert_eq!(lost.outcome(), Outcome::Unknown);
        for code in ["57P01", "57P02", "08006", "10", "1034"] {
            assert!(leaves_open(code), "{code}");
        }
        for code in ["23505", "57014", "13", "53100"] {
            assert!(!leaves_open(code), "{code}");
        }
    }

    #[test]
    fn a_message_says_what_was_expected_and_what_to_do() {
        let error = Error::unfit("a", "b", "do c");
        assert_eq!(error.to_string(), "expected a, found b: do c");
        assert_eq!(error.outcome(), Outcome::RolledBack);
    }
}
