//! Which facts a history holds: all that happened of them, or what is missing cannot be told from what
//! never was.

use core::fmt;

use crate::history::Fact;

macro_rules! held {
    (facts { $($fact:ident $name:literal),+ $(,)? } parts { $($part:ident $said:literal),+ $(,)? }) => {
        /// Something that a history holds or does not: a kind of fact, or a part of some.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the names of facts, and `Held::name`")]
        pub enum Held { $($fact,)+ $($part,)+ }

        impl Held {
            /// Every kind of fact, in the order in which they are documented.
            pub const FACTS: &'static [Self] = &[$(Self::$fact),+];
            /// The parts of facts that a history can do without.
            pub const PARTS: &'static [Self] = &[$(Self::$part),+];

            /// The kind of a fact.
            pub fn of(fact: &Fact) -> Self {
                match fact { $(Fact::$fact { .. } => Self::$fact,)+ }
            }

            /// What it is called in a file.
            pub fn name(self) -> &'static str {
                match self { $(Self::$fact => $name,)+ $(Self::$part => $said,)+ }
            }
        }
    };
}

held! {
    facts {
        Committed "committed", RolledBack "rolled_back", Published "published",
        FannedOut "fanned_out", FanOutDone "fan_out_done", Swept "swept", Claimed "claimed",
        ClaimLost "claim_lost", Released "released", Dialled "dialled", Requested "requested",
        Responded "responded", Settled "settled", Fenced "fenced", Closed "closed",
        Audited "audited", Resent "resent", Arrived "arrived", Received "received",
        Differed "differed", Answered "answered", WorkClaimed "work_claimed",
        HandlerRan "handler_ran", Worked "worked", Moved "moved", Projected "projected",
        Effect "effect", WorkFailed "work_failed", Woken "woken", DeadLettered "dead_lettered",
        Alerted "alerted", AlertSent "alert_sent", Replayed "replayed", Purged "purged",
        BookedByHand "booked_by_hand", ExternalCall "external_call", Fetched "fetched",
        Greeted "greeted", Secret "secret", Endpoint "endpoint", Crashed "crashed",
        PowerLost "power_lost", Restarted "restarted", DatabaseUp "database_up",
        BackedUp "backed_up", Restored "restored", Conflicted "conflicted",
        RolledBackByDatabase "rolled_back_by_database", CommitUnknown "commit_unknown",
        ClockJumped "clock_jumped", Fault "fault", Quiet "quiet",
        DeliveryStands "delivery_stands", ReceiptStands "receipt_stands",
        EntityStands "entity_stands", Ended "ended",
    }
    parts {
        Bodies "every `body`", Signatures "every `signed`", Origins "every `authentic`",
        Types "the type of every entity",
    }
}

impl Held {
    /// The kind of fact with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::FACTS.iter().copied().find(|fact| fact.name() == name)
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of what a history holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holds(u64);

impl Holds {
    /// Everything.
    pub const ALL: Self = Self(u64::MAX >> (u64::BITS - COUNT));

    /// Just these.
    pub const fn of(held: &[Held]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < held.len() {
            bits |= 1 << held[at] as u64;
            at += 1;
        }
        Self(bits)
    }

    /// Whether it is among them.
    pub const fn has(self, held: Held) -> bool {
        self.0 >> held as u64 & 1 == 1
    }

    /// Those of either.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of both.
    #[must_use]
    pub const fn meet(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those that are not of the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of the other are among them.
    pub const fn covers(self, other: Self) -> bool {
        other.without(self).is_empty()
    }

    /// Each of them, in their order.
    pub fn each(self) -> impl Iterator<Item = Held> {
        Held::FACTS.iter().chain(Held::PARTS).copied().filter(move |held| self.has(*held))
    }
}

/// How many there are.
const COUNT: u32 = Held::FACTS.len() as u32 + Held::PARTS.len() as u32;
