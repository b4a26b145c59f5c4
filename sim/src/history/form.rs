//! How the parts of a fact that are the core's stand in a file: as plain numbers.

use hookproof_core::{
    Millis,
    model::{EventType, State, Transition},
};

/// A number of the core's as a number of a file.
macro_rules! number {
    ($($module:ident: $type:ident),+ $(,)?) => {$(
        pub(crate) mod $module {
            use serde::{Deserializer, Serialize as _, Serializer};

            use super::$type;

            pub(crate) fn serialize<S: Serializer>(of: &$type, to: S) -> Result<S::Ok, S::Error> {
                of.0.serialize(to)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                serde::Deserialize::deserialize(from).map($type)
            }
        }
    )+};
}

number! { millis: Millis, event_type: EventType, state: State, transition: Transition }

/// A state, or none.
pub(crate) mod state_shown {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::State;

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(crate) fn serialize<S: Serializer>(of: &Option<State>, to: S) -> Result<S::Ok, S::Error> {
        of.map(|state| state.0).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<State>, D::Error> {
        Ok(Option::deserialize(from)?.map(State))
    }
}

/// The key of a call outside: `null` where it showed none. It is written in hexadecimal, since half the
/// readers of JSON cannot keep a number of its size.
pub(crate) mod key {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::history::NO_KEY;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(crate) fn serialize<S: Serializer>(key: &u64, to: S) -> Result<S::Ok, S::Error> {
        (*key != NO_KEY).then(|| format!("{key:016x}")).serialize(to)
    }

    /// Whoever reads has put a number of its own in the place of the text.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(NO_KEY))
    }
}

/// A set of secrets as a list of their numbers.
pub(crate) mod secrets {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(crate) fn serialize<S: Serializer>(set: &u16, to: S) -> Result<S::Ok, S::Error> {
        (0..u16::BITS).filter(|no| set >> no & 1 == 1).collect::<Vec<_>>().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
        let numbers = Vec::<u32>::deserialize(from)?;
        numbers.into_iter().try_fold(0, |set, no| {
            let bit = 1_u16.checked_shl(no);
            let bit = bit.ok_or_else(|| Error::custom(format!("secret {no}: expected 0 to 15")))?;
            Ok(set | bit)
        })
    }
}
