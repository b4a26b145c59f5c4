//! The promises of the delivery contract, by the ids that name them everywhere.

/// One promise of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[rustfmt::skip]
#[expect(missing_docs, reason = "each variant is the id of the sentence in `Promise::sentence`")]
pub enum Promise {
    S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14, S15, S16,
    R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, R16, R17, R18, R19, R20,
    E1, O1, O2, O3, O4,
}

impl Promise {
    /// All promises, in the order of the contract.
    #[rustfmt::skip]
    pub const ALL: [Self; 41] = {
        use Promise::*;
        [
            S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14, S15, S16,
            R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, R16, R17, R18, R19, R20,
            E1, O1, O2, O3, O4,
        ]
    };

    /// The promises that this oracle decides.
    #[rustfmt::skip]
    pub const CHECKED: [Self; 36] = {
        use Promise::*;
        [
            S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14, S15,
            R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, R16, R17, R18, R19, R20,
            E1,
        ]
    };

    /// The id, as it stands in the contract, the scenarios, the rogues and the reports.
    pub fn id(self) -> &'static str {
        self.text().0
    }

    /// The promise in one sentence.
    pub fn sentence(self) -> &'static str {
        self.text().1
    }

    /// The promise with this id, in any case.
    pub fn named(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|promise| promise.id().eq_ignore_ascii_case(id))
    }

    #[expect(clippy::too_many_lines, reason = "a table, one line a promise")]
    fn text(self) -> (&'static str, &'static str) {
        use Promise::*;
        match self {
            S1 => (
                "S1",
                "an outbox row exists if and only if its transaction committed, and no request starts before that",
            ),
            S2 => (
                "S2",
                "a delivery is attempted until it is acknowledged, its cycle is used up, or it is cancelled with a reason",
            ),
            S3 => ("S3", "the delivery id is fixed before the first attempt and never changes"),
            S4 => ("S4", "the body is byte for byte the same in every attempt"),
            S5 => (
                "S5",
                "a worker that lost its claim changes nothing, and none starts a request past its own deadline",
            ),
            S6 => (
                "S6",
                "attempts keep the ladder: every failure climbs, no wait is cut, no cycle has more than its attempts",
            ),
            S7 => (
                "S7",
                "one total deadline bounds an attempt, and running out is unknown, not refused",
            ),
            S8 => (
                "S8",
                "a dead, slow or poisoned neighbour neither changes nor delays another delivery",
            ),
            S9 => (
                "S9",
                "during a rotation every live secret verifies, afterwards the old one does not",
            ),
            S10 => (
                "S10",
                "no request goes to an address that was not vetted, and redirects are not followed",
            ),
            S11 => (
                "S11",
                "a resend opens one new cycle with the same id, or makes the open one due now",
            ),
            S12 => (
                "S12",
                "a committed event gets exactly one delivery for each endpoint subscribed at its commit",
            ),
            S13 => (
                "S13",
                "each attempt is signed with the secrets live then and the time of that attempt",
            ),
            S14 => {
                ("S14", "no endpoint gets more attempts at once, or faster, than its limits say")
            }
            S15 => (
                "S15",
                "publishing again with the same key is one event, and \"duplicate\" is answered only once the first is durable",
            ),
            S16 => ("S16", "no order is promised between deliveries"),
            R1 => (
                "R1",
                "the signature is checked over what the provider prescribes, against each candidate and live secret",
            ),
            R2 => ("R2", "a request that fails verification leaves no trace and is answered 4xx"),
            R3 => (
                "R3",
                "an acknowledgement leaves only after the receipt would survive the loss of process and machine",
            ),
            R4 => (
                "R4",
                "duplicates fold into one receipt, and only a committed receipt is acknowledged as a duplicate",
            ),
            R5 => (
                "R5",
                "the answer never waits for business work, and no effect precedes the receipt's commit",
            ),
            R6 => ("R6", "receipts are keyed by delivery, operations by their declared key"),
            R7 => ("R7", "no operation has two effects, in no prefix of any history"),
            R8 => (
                "R8",
                "every change of state is a legal transition, and nothing overwrites newer state",
            ),
            R9 => (
                "R9",
                "a deferral ends: applied as soon as its prerequisite is, or dead-lettered at its cap",
            ),
            R10 => (
                "R10",
                "a failing event climbs to the dead letters and delays no other; an outage climbs nothing",
            ),
            R11 => (
                "R11",
                "a dead letter keeps its reference and its reason, and its alert commits with it",
            ),
            R12 => (
                "R12",
                "a replay is authorised, enters at work, keeps the receipt and passes the same guards",
            ),
            R13 => (
                "R13",
                "received and processed are two facts, and the row says what the history says",
            ),
            R14 => (
                "R14",
                "an effect outside carries the operation's key, the same each time, and is done once",
            ),
            R15 => (
                "R15",
                "a ledger keeps every event in the declared order, and a refetch never overwrites newer state",
            ),
            R16 => ("R16", "keys outlive every possible attempt, and nothing unfinished is purged"),
            R17 => (
                "R17",
                "source, account and id come from what the signature and the path vouch for",
            ),
            R18 => ("R18", "status, body, deadline and handshake are the source's"),
            R19 => (
                "R19",
                "every authentic event has a verdict: unknown ones are ignored, unreadable ones set aside, all acknowledged",
            ),
            R20 => (
                "R20",
                "any order and multiplicity of arrival ends in the same state and the same effects",
            ),
            E1 => ("E1", "when faults stop, every event is accounted for in exactly one end"),
            O1 => ("O1", "metrics come from the database and stay right when every worker is dead"),
            O2 => (
                "O2",
                "the latest events, failures and dead letters can be inspected, replayed and resent",
            ),
            O3 => ("O3", "receipts and effects are held against the authoritative list"),
            O4 => {
                ("O4", "a playground delivery goes through the normal outbox, in the sandbox only")
            }
        }
    }
}

impl core::fmt::Display for Promise {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.id())
    }
}
