//! The schema of a database: its version, and the steps to this one. Compiled for each database.

use super::{Connection, open::IS_THERE};
use crate::{
    error::{Error, of_statement},
    migrate::{self, Step},
};

/// The schema's version, 0 where there is none.
pub(super) async fn version(connection: &mut Connection) -> Result<i64, Error> {
    let failed = |error| of_statement("the schema's version", &error);
    let is_there: bool =
        sqlx::query_scalar(IS_THERE).fetch_one(&mut *connection).await.map_err(failed)?;
    if !is_there {
        return Ok(0);
    }
    sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM hookproof_schema")
        .fetch_one(connection)
        .await
        .map_err(failed)
}

/// Runs the steps that are missing, under the lock that the caller holds. Gives the version that it was.
pub(super) async fn catch_up(
    connection: &mut Connection,
    steps: &'static [Step],
) -> Result<i64, Error> {
    let found = version(connection).await?;
    for step in migrate::missing(steps, found)? {
        sqlx::raw_sql(step.sql)
            .execute(&mut *connection)
            .await
            .map_err(|error| of_statement("a migration that runs", &error))?;
        sqlx::query("INSERT INTO hookproof_schema (version) VALUES ($1)")
            .bind(step.version)
            .execute(&mut *connection)
            .await
            .map_err(|error| of_statement("to note the schema's version", &error))?;
    }
    Ok(found)
}
