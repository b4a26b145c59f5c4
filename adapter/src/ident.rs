//! Ids that are made from names, digests of bytes, and ids as the databases keep them.

use std::borrow::Cow;

use hookproof_core::{Digest, Id};
use sha2::{Digest as _, Sha256};
use sqlx::{
    Decode, Encode, Postgres, Sqlite, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef},
    sqlite::{SqliteArgumentsBuffer, SqliteTypeInfo, SqliteValueRef},
};
use uuid::{Builder, Uuid, fmt::Hyphenated};

/// A new id, in order of time: rows that are made together lie together.
pub fn fresh() -> Id {
    Id(Uuid::now_v7().as_u128())
}

/// The id that these names have: the same for the same names, in every process (a UUID of version 8).
/// An idempotency key, a resource and a delivery id are such names.
pub fn named(names: &[&str]) -> Id {
    let mut hash = Sha256::new();
    for name in names {
        hash.update((name.len() as u64).to_be_bytes());
        hash.update(name.as_bytes());
    }
    Id(Builder::from_custom_bytes(front(hash)).into_uuid().as_u128())
}

/// An id as people and columns write it.
pub fn shown(id: Id) -> String {
    Uuid::from_u128(id.0).to_string()
}

/// The digest of a payload, by which repeated bytes are compared.
pub fn digest(bytes: &[u8]) -> Digest {
    Digest(u128::from_be_bytes(front(Sha256::new_with_prefix(bytes))))
}

fn front(hash: Sha256) -> [u8; 16] {
    let mut front = [0; 16];
    front.copy_from_slice(&hash.finalize()[..16]);
    front
}

/// An id as a column: `uuid` in PostgreSQL, its usual spelling in SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(pub(crate) Id);

impl Key {
    fn uuid(self) -> Uuid {
        Uuid::from_u128(self.0.0)
    }
}

impl Type<Postgres> for Key {
    fn type_info() -> PgTypeInfo {
        <Uuid as Type<Postgres>>::type_info()
    }
}

impl PgHasArrayType for Key {
    fn array_type_info() -> PgTypeInfo {
        Uuid::array_type_info()
    }
}

impl Encode<'_, Postgres> for Key {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        <Uuid as Encode<'_, Postgres>>::encode_by_ref(&self.uuid(), buffer)
    }
}

impl Decode<'_, Postgres> for Key {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self(Id(<Uuid as Decode<'_, Postgres>>::decode(value)?.as_u128())))
    }
}

impl Type<Sqlite> for Key {
    fn type_info() -> SqliteTypeInfo {
        <Hyphenated as Type<Sqlite>>::type_info()
    }
}

impl Encode<'_, Sqlite> for Key {
    fn encode_by_ref(&self, buffer: &mut SqliteArgumentsBuffer) -> Result<IsNull, BoxDynError> {
        <Hyphenated as Encode<'_, Sqlite>>::encode_by_ref(&self.uuid().hyphenated(), buffer)
    }
}

impl Decode<'_, Sqlite> for Key {
    fn decode(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        let text = <Cow<'_, str> as Decode<'_, Sqlite>>::decode(value)?;
        Ok(Self(Id(Uuid::parse_str(&text)?.as_u128())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_run_together_have_ids_of_their_own() {
        assert_eq!(named(&["shop", "order-1"]), named(&["shop", "order-1"]));
        assert_ne!(named(&["shop", "order-1"]), named(&["shoporder", "-1"]));
        assert_eq!(Uuid::from_u128(named(&["a"]).0).get_version_num(), 8);
    }

    #[test]
    fn a_digest_is_the_front_of_a_sha_256() {
        assert_eq!(digest(b"").0, 0xe3b0_c442_98fc_1c14_9afb_f4c8_996f_b924);
    }
}
