//! A database by its address, which may hold a password and is therefore never shown.

use std::{fmt, path::PathBuf, str::FromStr};

use hookproof_core::{Id, model::Operation};
use sqlx::postgres::PgConnectOptions;

use crate::{Clock, Durability, PgStore, SqliteStore, book, error::Error};

/// How an address is written.
pub const ADDRESS: &str = "`postgres://user:password@host/name` or `sqlite:path`";

/// Where a database is.
pub struct Place(Kind);

enum Kind {
    Postgres(Box<PgConnectOptions>),
    Sqlite(PathBuf),
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Postgres(_) => "Place(PostgreSQL)",
            Kind::Sqlite(_) => "Place(SQLite)",
        })
    }
}

impl FromStr for Place {
    type Err = Error;

    /// Reads an [`ADDRESS`].
    fn from_str(address: &str) -> Result<Self, Error> {
        let other =
            |found| Error::unfit(ADDRESS, found, "put the address right; it is not repeated here");
        if address.starts_with("postgres://") || address.starts_with("postgresql://") {
            let options = PgConnectOptions::from_str(address);
            let options = options.map_err(|_| other("an address that cannot be read"))?;
            return Ok(Self(Kind::Postgres(Box::new(options))));
        }
        let path = address.strip_prefix("sqlite:").filter(|path| !path.is_empty());
        let path = path.ok_or_else(|| other("an address of another kind"))?;
        Ok(Self(Kind::Sqlite(path.strip_prefix("//").unwrap_or(path).into())))
    }
}

impl Place {
    /// Brings the schema to this version, and gives the one that it was: 0 where there was none.
    pub async fn migrate(self) -> Result<i64, Error> {
        match self.0 {
            Kind::Postgres(options) => PgStore::migrate(*options).await,
            Kind::Sqlite(path) => SqliteStore::migrate(path).await,
        }
    }

    /// Books an operation by hand. `false`: it was booked already.
    pub async fn book(self, operation: Operation, by: Id) -> Result<bool, Error> {
        let (durability, clock) = (Durability::Required, Clock::database());
        match self.0 {
            Kind::Postgres(options) => {
                let store = PgStore::open(*options, 1, durability, clock).await?;
                book(&store, operation, by).await
            }
            Kind::Sqlite(path) => {
                let store = SqliteStore::open(path, durability, clock).await?;
                book(&store, operation, by).await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_never_shown() {
        let place: Place = "postgres://shop:hunter2@db.example/shop".parse().expect("an address");
        assert_eq!(format!("{place:?}"), "Place(PostgreSQL)");
        for bad in ["postgres://shop:hunter2@db:port/x", "mysql://shop:hunter2@db/x", "sqlite:"] {
            let error = bad.parse::<Place>().expect_err("not an address");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
        for path in ["sqlite:shop.db", "sqlite://shop.db"] {
            let place: Place = path.parse().expect("an address");
            let Kind::Sqlite(path) = place.0 else { panic!("{place:?}") };
            assert_eq!(path, PathBuf::from("shop.db"));
        }
    }
}
