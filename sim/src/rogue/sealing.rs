//! Wrong lines about what vouches for a request.

use super::Rogue;
use crate::{
    history::Body,
    world::{
        Parcel,
        seal::{Ring, reserialised},
    },
};

impl Rogue {
    /// The bytes that a wrong sender sends.
    pub fn respells(self, parcel: &Parcel) -> Body {
        match self {
            Self::ReserialisesPayload if parcel.ticket.attempt > 1 => reserialised(parcel.body),
            _ => parcel.body,
        }
    }

    /// The secrets that a wrong sender signs with.
    pub fn signs_with(self, ring: &Ring) -> u16 {
        match self {
            Self::SignsWithNewSecretAlone => 1 << ring.signs.ilog2(),
            // The first one ever made, beside those that it should be.
            Self::OldSecretForEver => ring.signs | 1,
            _ => ring.signs,
        }
    }
}
