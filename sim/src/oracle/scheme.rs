//! How both sides vouch for requests, and what the source wants of its receivers: declared choices.

use hookproof_core::time::{DAY, HOUR, MINUTE};

/// The choices of a source that signatures and answers are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Scheme {
    /// Whether a header carries one signature for each live secret; else one in all.
    pub lists: bool,
    /// Whether the header also carries candidates of other versions, which no receiver understands.
    pub strangers: bool,
    /// Whether the header that shows the delivery id is signed; else the signed one is elsewhere, and
    /// the header is a copy that nobody vouches for.
    pub covers_header: bool,
    /// How long a retired secret is good beside the new one (S9).
    pub overlap_ms: u64,
    /// Where a header has one value: how long a new secret is known before it signs.
    pub notice_ms: u64,
    /// How far a signed time may be from the ingress's clock, either way, this included (R1).
    pub tolerance_ms: u64,
    /// Whether 200 alone acknowledges; else any 2xx (R18).
    pub wants_200: bool,
    /// Whether it wants its handshake answered before it sends to a URL (R18).
    pub greets: bool,
}

impl Scheme {
    /// The choices of the contract where a source prescribes none.
    pub const fn hookproof() -> Self {
        Self {
            lists: true,
            strangers: false,
            covers_header: true,
            overlap_ms: DAY,
            notice_ms: HOUR,
            tolerance_ms: 5 * MINUTE,
            wants_200: false,
            greets: false,
        }
    }

    /// Whether a status acknowledges a delivery.
    pub fn acknowledges(&self, status: u16) -> bool {
        if self.wants_200 { status == 200 } else { (200..300).contains(&status) }
    }
}
