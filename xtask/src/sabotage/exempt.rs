//! Lines that need no place in the list, each with the reason.

use super::list::{DB, ENDPOINT, GROUND, INBOX, OUTBOX};

/// A line that looks like a guard, a fence or a wake, and is not tried.
pub(super) struct Exempt {
    pub(super) file: &'static str,
    pub(super) line: &'static str,
    #[expect(dead_code, reason = "it is for whoever reads the list")]
    pub(super) why: &'static str,
}

pub(super) const EXEMPT: &[Exempt] = &[
    Exempt {
        file: ENDPOINT,
        line: "Write::Endpoint(Put { was: Some(self.rev), row })",
        why: CALLERS,
    },
    Exempt { file: INBOX, line: "Write::Receipt(Put { was: Some(self.rev), row })", why: CALLERS },
    Exempt {
        file: OUTBOX,
        line: "Write::Delivery(Put { was: Some(self.rev), row })",
        why: CALLERS,
    },
    Exempt {
        file: GROUND,
        line: "self.put(Entity { state, version, projected, ..*self.entity })",
        why: CALLERS,
    },
    Exempt { file: GROUND, line: "self.put(Entity { projected, ..*self.entity })", why: CALLERS },
    Exempt { file: GROUND, line: "self.hold()", why: CALLERS },
    Exempt {
        file: DB,
        line: "Write::Operation(operation) => self.operations.push(*operation),",
        why: "the write itself, of which the rogues and the effects speak",
    },
    Exempt {
        file: DB,
        line: "Write::Alert { .. } | Write::Audit(_) | Write::Wake { .. } | Write::Handle { .. } => {",
        why: "these have no guard",
    },
];

const CALLERS: &str = "each of its callers is in the list";
