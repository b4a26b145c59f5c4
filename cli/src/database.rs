//! The database that a verb is about, and how a verb waits for it.

use std::{env, future::Future, io};

use clap::Args;
use hookproof::{ADDRESS, Place};

use crate::input::Fault;

/// Where the database is. The address may hold a password, so it comes from the environment as well, and is
/// repeated nowhere.
#[derive(Args)]
pub(crate) struct Database {
    /// The database: `postgres://user:password@host/name` or `sqlite:path`; from `HOOKPROOF_DATABASE` or
    /// `DATABASE_URL` unless given. Others on this machine can read what stands on a command line.
    #[arg(long = "database", value_name = "URL")]
    address: Option<String>,

    /// An address without its option: taken in only so that clap does not repeat it.
    #[arg(value_name = "URL", hide = true)]
    bare: Vec<String>,
}

impl Database {
    pub(crate) fn place(&self) -> Result<Place, Fault> {
        if !self.bare.is_empty() {
            let hint = format!("expected the database behind --database, as {ADDRESS}");
            return Err(Fault::misuse(hint));
        }
        let named = || VARIABLES.iter().find_map(|name| env::var(name).ok());
        let address = self.address.clone().or_else(named).ok_or_else(|| {
            Fault::misuse(format!(
                "expected a database, {ADDRESS}: name it with --database, or in HOOKPROOF_DATABASE"
            ))
        })?;
        address.parse().map_err(|error: hookproof::Error| Fault::misuse(error.to_string()))
    }
}

/// Waits for a database.
pub(crate) fn wait<T>(
    asked: impl Future<Output = Result<T, hookproof::Error>>,
) -> io::Result<Result<T, Fault>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(asked).map_err(|error| Fault::unreadable(error.to_string())))
}

/// Where an address is looked for, in this order.
const VARIABLES: [&str; 2] = ["HOOKPROOF_DATABASE", "DATABASE_URL"];
