//! Lines for the archive and for people, as columns.

use hookproof_core::plan::{About, Audit};

use crate::{ident::Key, rows::digest_bytes};

/// A line of the archive as columns.
#[derive(Clone, Debug)]
pub(crate) struct AuditRow {
    pub(crate) what: &'static str,
    pub(crate) about: Key,
    pub(crate) by_whom: Option<Key>,
    pub(crate) transition: Option<i64>,
    pub(crate) occurrence: Option<i64>,
    pub(crate) digest: Option<Vec<u8>>,
}

impl From<&Audit> for AuditRow {
    fn from(audit: &Audit) -> Self {
        let line = |what, about, by_whom: Option<_>| Self {
            what,
            about: Key(about),
            by_whom: by_whom.map(Key),
            transition: None,
            occurrence: None,
            digest: None,
        };
        match *audit {
            Audit::Resent { delivery, by } => line("resent", delivery, Some(by)),
            Audit::Replayed { receipt, by } => line("replayed", receipt, Some(by)),
            Audit::Booked { operation, by } => Self {
                transition: Some(operation.transition.0.into()),
                occurrence: Some(operation.occurrence as i64),
                ..line("booked", operation.entity, Some(by))
            },
            Audit::OtherBytes { receipt, digest } => {
                Self { digest: Some(digest_bytes(digest)), ..line("other bytes", receipt, None) }
            }
        }
    }
}

/// What an alert is about as columns.
pub(crate) fn about(about: About) -> (&'static str, Key) {
    match about {
        About::Receipt(id) => ("receipt", Key(id)),
        About::Delivery(id) => ("delivery", Key(id)),
    }
}
