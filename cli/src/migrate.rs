//! `hookproof migrate`: brings a database's tables to this version.

use std::io::{self, Write};

use clap::Args;
use hookproof::SCHEMA_VERSION;

use crate::{
    End,
    database::{Database, wait},
};

/// Options of `hookproof migrate`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: Database,
}

/// Migrates, and says from which version to which.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> io::Result<End> {
    let place = match options.database.place() {
        Ok(place) => place,
        Err(fault) => return Ok(fault.end()),
    };
    match wait(place.migrate())? {
        Err(fault) => return Ok(fault.end()),
        Ok(SCHEMA_VERSION) => writeln!(out, "schema {SCHEMA_VERSION}: nothing to do")?,
        Ok(0) => writeln!(out, "schema {SCHEMA_VERSION}: made")?,
        Ok(found) => writeln!(out, "schema {SCHEMA_VERSION}: was {found}")?,
    }
    Ok(End::Kept)
}

pub(crate) const ENDS: &str = "\
Of many that run it at once, one does it. A version and the one after it can run on the tables together.

    hookproof migrate --database sqlite:shop.db
    HOOKPROOF_DATABASE=postgres://shop@localhost/shop hookproof migrate

Exit codes: 0 the tables are of this version; 2 a wrong option; 3 a database that cannot be reached, or that \
a newer version has migrated";
