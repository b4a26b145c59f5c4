//! What a process takes from its machine besides the database: the time of day, and chance.

use std::time::{Duration, SystemTime};

use hookproof_core::{Id, Millis};
use uuid::Builder;

/// The machine that a process runs on; a test has one of its own. Persisted times are the database's,
/// and limits within a process are tokio's time, which a test can stop.
pub trait Host: Send + Sync {
    /// The time of day, for what is signed and verified.
    fn now(&self) -> Millis;

    /// 64 bits of chance.
    fn roll(&self) -> u64;

    /// A new id, in order of time: rows that are made together lie together (a UUID of version 7).
    fn id(&self) -> Id {
        let [high, low] = [self.roll(), self.roll()].map(u64::to_be_bytes);
        let chance =
            [high[0], high[1], low[0], low[1], low[2], low[3], low[4], low[5], low[6], low[7]];
        let uuid = Builder::from_unix_timestamp_millis(self.now().0, &chance).into_uuid();
        Id(uuid.as_u128())
    }
}

/// The real one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Host for Machine {
    fn now(&self) -> Millis {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Millis(now.unwrap_or(Duration::ZERO).as_millis() as u64)
    }

    fn roll(&self) -> u64 {
        getrandom::u64().expect("an operating system gives random numbers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_in_order_of_time_and_all_different() {
        let (one, other) = (Machine.id(), Machine.id());
        assert_ne!(one, other);
        assert!(Machine.now().0.abs_diff((one.0 >> 80) as u64) < 60_000);
    }
}
