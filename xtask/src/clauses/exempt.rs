//! Clauses that nobody needs to notice, each with the reason.

/// A clause by its name, as `cargo xtask mutants --sql` prints it.
pub(super) struct Exempt {
    pub(super) name: &'static str,
    #[expect(dead_code, reason = "it is for whoever reads the list")]
    pub(super) why: &'static str,
}

pub(super) const EXEMPT: &[Exempt] = &[
    Exempt { name: "postgres MAKE_ENTITIES without (id) in ON CONFLICT", why: ONE_KEY },
    Exempt { name: "postgres INSERT_ENDPOINTS without (id) in ON CONFLICT", why: ONE_KEY },
    Exempt {
        name: "postgres INSERT_OPERATIONS without (entity, transition, occurrence) in ON CONFLICT",
        why: ONE_KEY,
    },
    Exempt { name: "postgres INSERT_EVENT without (id) in ON CONFLICT", why: ONE_KEY },
    Exempt { name: "postgres SECRETS without endpoint IN (", why: BESIDE },
    Exempt { name: "sqlite SECRETS without endpoint IN (", why: BESIDE },
    Exempt { name: "sqlite MAKE_ENTITY without (id) in ON CONFLICT", why: ONE_KEY },
    Exempt { name: "sqlite INSERT_ENDPOINT without (id) in ON CONFLICT", why: ONE_KEY },
    Exempt {
        name: "sqlite INSERT_OPERATION without (entity, transition, occurrence) in ON CONFLICT",
        why: ONE_KEY,
    },
    Exempt { name: "sqlite INSERT_EVENT without (id) in ON CONFLICT", why: ONE_KEY },
];

const BESIDE: &str =
    "`addresses` leaves out what was loaded beside; the clause is there for the index";
const ONE_KEY: &str = "the table has no other key that a new row could find taken; naming this one is for the \
                       day on which it has";
