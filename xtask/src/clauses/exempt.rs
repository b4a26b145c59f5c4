//! Clauses that nobody needs to notice, each with the reason.

/// A clause by its name, as `cargo xtask mutants --sql` prints it.
pub(super) struct Exempt {
    pub(super) name: &'static str,
    #[expect(dead_code, reason = "it is for whoever reads the list")]
    pub(super) why: &'static str,
}

pub(super) const EXEMPT: &[Exempt] = &[];
