//! One body of 1 MiB, in a file of its own.

use super::{
    Made,
    layouts::{BODY, Draft, LAYOUTS},
};

pub(super) fn file() -> Made {
    let body: Vec<u8> = BODY.iter().copied().cycle().take(1 << 20).collect();
    let draft = Draft { body, ..Draft::new(&LAYOUTS[0]) };
    Made {
        name: "signature.verify.large.json".into(),
        kind: "signature.verify",
        flags: vec![("LargeBody", "AVAILABILITY", "a body larger than any buffer on the way")],
        cases: vec![draft.case("body-1m", "must", "LargeBody", true, "a body of 1 MiB")],
    }
}
