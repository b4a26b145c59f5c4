//! What a user must know of a scheme besides its construction.

use alloc::borrow::Cow;

use super::Text;

/// The window around the signed time. Its edges belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tolerance {
    /// In seconds.
    pub seconds: u32,
    /// On which side it is tested.
    pub side: Side,
    /// Whether the provider states it, or it is a default of ours.
    pub stated: bool,
}

/// On which side of now a signed time is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Neither too old nor too new.
    Both,
    /// The future is let in.
    PastOnly,
}

/// What a user must know of a scheme besides its construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// How a delivery is acknowledged, and by when.
    pub acknowledge: Text,
    /// What an endpoint must answer before deliveries come.
    pub handshake: Option<Text>,
    /// Whether it stays only for senders that cannot do better.
    pub legacy: bool,
    /// How many published vectors (`vectors/published.json`) are checked against it.
    pub vectors: u16,
    /// Where the construction was read.
    pub source: Text,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and none excludes another"
)]
/// What a scheme signs; what is false here can be changed by anybody on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signs {
    /// The body.
    pub body: bool,
    /// The delivery id of the header; `false` where a header has one that is not signed.
    pub id: bool,
    /// The time of the attempt.
    pub time: bool,
    /// The URL.
    pub url: bool,
    /// The method.
    pub method: bool,
}

impl Facts {
    /// Nothing but that a user declared it.
    pub const fn declared() -> Self {
        Self {
            acknowledge: Cow::Borrowed("2xx"),
            handshake: None,
            legacy: false,
            vectors: 0,
            source: Cow::Borrowed("declared by the user"),
        }
    }
}

impl Tolerance {
    /// The number where a provider signs a time and states none: a default of ours.
    pub const OURS: Self = Self { seconds: 300, side: Side::Both, stated: false };
}
