//! The schema: which version a database has, and which this version works with.

use crate::error::Error;

/// One step of the schema, run once and never edited.
pub(crate) struct Step {
    pub(crate) version: i64,
    pub(crate) sql: &'static str,
}

/// The schema's version that this version works with.
pub const SCHEMA_VERSION: i64 = 1;

/// Refuses a schema that this version does not know, and one that still lacks a step.
pub(crate) fn check(found: i64) -> Result<(), Error> {
    if found > SCHEMA_VERSION {
        return Err(newer(found));
    }
    if found < SCHEMA_VERSION {
        return Err(Error::unfit(
            &format!("a schema of version {SCHEMA_VERSION}"),
            format!("version {found}"),
            "run the store's `migrate`, then open it again",
        ));
    }
    Ok(())
}

/// The steps that a schema of this version still lacks.
pub(crate) fn missing(steps: &'static [Step], found: i64) -> Result<&'static [Step], Error> {
    if found > SCHEMA_VERSION {
        return Err(newer(found));
    }
    let done = steps.iter().take_while(|step| step.version <= found).count();
    Ok(&steps[done..])
}

fn newer(found: i64) -> Error {
    Error::unfit(
        &format!("a schema of version {SCHEMA_VERSION} or older"),
        format!("version {found}"),
        "a newer Hookproof has migrated this database; run that version",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &[Step] = &[Step { version: 1, sql: "" }];

    #[test]
    fn a_newer_schema_is_refused_and_an_older_one_migrated() {
        assert_eq!(missing(STEPS, 0).expect("older").len(), 1);
        assert_eq!(missing(STEPS, 1).expect("the same").len(), 0);
        assert!(missing(STEPS, SCHEMA_VERSION + 1).is_err());
        let error = check(SCHEMA_VERSION + 1).expect_err("newer").to_string();
        assert!(error.contains("or older, found version 2: a newer Hookproof"), "{error}");
    }

    #[test]
    fn a_schema_that_was_never_migrated_says_what_to_run() {
        let error = check(0).expect_err("older").to_string();
        assert!(error.contains("found version 0: run the store's `migrate`"), "{error}");
        assert_eq!(check(SCHEMA_VERSION), Ok(()));
    }
}
