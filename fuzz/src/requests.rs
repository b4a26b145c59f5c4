//! Verification as a whole: any scheme, any headers, any bytes.

use hookproof_core::scheme::{
    Construction, Field, KeyForm, Part, Refusal, Request, Scheme, Time, Verified, Verifier, Window,
    explain,
};

use crate::given::{Given, JUNK, list_header, other_secret};

/// The input is a request.
pub fn run(data: &[u8]) {
    let Some(given) = Given::read(data) else { return };
    let mut verifier = Verifier::new(&given.scheme);
    if verifier.add(given.secret).is_err() {
        let verdict = verifier.verify(&given.request(), given.time);
        assert_eq!(verdict, Err(Refusal::BadSecret));
        return;
    }
    let request = given.request();
    let verdict = verifier.verify(&request, given.time);
    what_says_nothing_changes_nothing(&verifier, &given, verdict);
    if data.len() < EXPLAINED_MAX {
        let secrets = [(given.secret, Window::always())];
        let explained = explain::explain(&given.scheme, &secrets, &request, given.time);
        assert_eq!(explained.verdict, verdict);
    }
    if let Ok(verified) = verdict {
        secrets_decide(&given, verified);
        what_is_signed_cannot_change(&verifier, &given, verified);
        junk_blocks_nothing(&verifier, &given, verified);
        the_window_has_an_end(&verifier, &given, verified);
    }
}

fn what_says_nothing_changes_nothing(
    verifier: &Verifier,
    given: &Given<'_>,
    verdict: Result<Verified, Refusal>,
) {
    let upper: Vec<String> = given.headers.iter().map(|(name, _)| name.to_uppercase()).collect();
    let ascii = given.headers.iter().all(|(name, _)| name.is_ascii());
    let spaced: Vec<Vec<u8>> =
        given.headers.iter().map(|(_, value)| [b" \t", *value, b"\t "].concat()).collect();
    let mut headers: Vec<Field<'_>> = Vec::new();
    for ((name, value), (plain, _)) in upper.iter().zip(&spaced).zip(&given.headers) {
        headers.push((if ascii { name } else { plain }, value));
    }
    // What a signature may cover is chosen by who signs.
    let mentioned = given.headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("x-nothing") || value.windows(9).any(|nine| nine == b"x-nothing")
    });
    if !mentioned {
        headers.insert(0, ("x-nothing", b"v1=00"));
    }
    let request = Request { headers: &headers, ..given.request() };
    assert_eq!(verifier.verify(&request, given.time), verdict, "case, blanks and other headers");
}

fn secrets_decide(given: &Given<'_>, verified: Verified) {
    let Some(other) = other_secret(&given.scheme.key).filter(|other| *other != given.secret) else {
        return;
    };
    let mut wrong = Verifier::new(&given.scheme);
    wrong.add(other).expect("a secret of this form");
    let request = given.request();
    assert!(wrong.verify(&request, given.time).is_err(), "another secret verifies it too");
    let both = wrong.add(given.secret).expect("a secret that was usable before");
    let verdict = both.verify(&request, given.time).map(|verified| verified.secret());
    assert_eq!(verdict, Ok(1), "a wrong secret before the right one");
    assert_eq!(verified.secret(), 0);
}

fn what_is_signed_cannot_change(verifier: &Verifier, given: &Given<'_>, verified: Verified) {
    if verified.signs().body && !signs_form(&given.scheme) {
        let longer = [given.body, b"x"].concat();
        let request = Request { body: &longer, ..given.request() };
        assert!(verifier.verify(&request, given.time).is_err(), "a longer body");
        let mut flipped = given.body.to_vec();
        if let Some(byte) = flipped.first_mut() {
            *byte ^= 0x80;
            let request = Request { body: &flipped, ..given.request() };
            assert!(verifier.verify(&request, given.time).is_err(), "a flipped bit");
        }
    }
    if verified.signs().method {
        let request = Request { method: Some("OTHER"), ..given.request() };
        let same = given.method == Some("OTHER");
        assert!(same || verifier.verify(&request, given.time).is_err(), "another method");
    }
}

/// Parameters are signed without what stands between them.
fn signs_form(scheme: &Scheme) -> bool {
    matches!(&scheme.construction, Construction::Template(t) if t.signed.contains(&Part::FormParams))
}

fn junk_blocks_nothing(verifier: &Verifier, given: &Given<'_>, verified: Verified) {
    let Some(name) = list_header(&given.scheme) else { return };
    for junk in JUNK {
        for first in [true, false] {
            let mut headers = given.headers.clone();
            headers.insert(if first { 0 } else { headers.len() }, (name, junk));
            let request = Request { headers: &headers, ..given.request() };
            let verdict = verifier.verify(&request, given.time);
            assert_eq!(verdict, Ok(verified), "{:?}", String::from_utf8_lossy(junk));
        }
    }
}

fn the_window_has_an_end(verifier: &Verifier, given: &Given<'_>, verified: Verified) {
    let (Time::At(_), Some(at), Some(tolerance)) =
        (given.time, verified.time(), given.scheme.tolerance)
    else {
        return;
    };
    let Ok(seconds) = u64::try_from(at.seconds) else { return };
    let later = seconds.saturating_add(u64::from(tolerance.seconds) + 2).saturating_mul(1_000);
    if later < i64::MAX as u64 {
        let verdict = verifier.verify(&given.request(), Time::At(hookproof_core::Millis(later)));
        assert_eq!(verdict, Err(Refusal::TooOld));
    }
    let untested = verifier.verify(&given.request(), Time::NotTested);
    assert!(untested.is_ok() || given.scheme.key == KeyForm::Text);
}

/// An explanation tries many things; it is for a person with one request.
const EXPLAINED_MAX: usize = 2_048;
