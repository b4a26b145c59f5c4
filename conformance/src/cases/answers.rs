//! Kinds that decide on times, waits and answers.

use hookproof_core::{
    answer::{self, Answer, Backoff, Class, Jitter},
    instant::{Instant, Unit},
    ladders,
    profile::Profile,
};
use serde_json::{Map, Value, json};

use super::{Fields, Unreadable, fields::needed};

type Outcome = Result<Map<String, Value>, Unreadable>;

fn one(name: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value)])
}

/// A tolerance as a configuration writes it.
pub(super) fn tolerance(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let text = match fields.any("tolerance_s") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    fields.done()?;
    let good = answer::tolerance(&text).is_some();
    Ok(one("result", json!(if good { "accept" } else { "config_error" })))
}

/// A timestamp in its unit.
pub(super) fn timestamp(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let value = needed("value", fields.text("value")?)?;
    let unit = fields.text("unit")?.unwrap_or("s");
    fields.done()?;
    let unit = Unit::named(unit).ok_or_else(|| Unreadable(format!("unknown unit `{unit}`")))?;
    Ok(match Instant::parse(value.as_bytes(), unit) {
        Some(instant) => one("seconds", json!(instant.seconds)),
        None => one("error", json!("bad_timestamp")),
    })
}

/// A `Retry-After` header.
pub(super) fn retry_after(fields: &Fields<'_>, profile: &Profile) -> Outcome {
    let single = fields.text("value")?;
    let values = fields.texts("values")?;
    let now = fields.integer("now")?.unwrap_or(0);
    let cap = fields.unsigned("cap_s")?.unwrap_or(profile.retry_after_max_ms / 1_000);
    fields.unsigned("backoff_s")?;
    fields.done()?;
    // A null `value` is a header that is not there.
    let given = |name: &str| fields.names().any(|other| other == name);
    if given("value") == given("values") {
        return Err(Unreadable("expected either `value` or `values`".into()));
    }
    let values = values.unwrap_or_default();
    let lines: Vec<Vec<u8>> = single.into_iter().chain(values).map(bytes).collect();
    let delay = answer::retry_after(lines.iter().map(Vec::as_slice), now, cap);
    Ok(one("delay_s", json!(delay)))
}

/// A header value's characters are its bytes.
fn bytes(text: &str) -> Vec<u8> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    bytes.unwrap_or_else(|| text.as_bytes().to_vec())
}

/// The bounds of a growing wait.
pub(super) fn backoff(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let jitter = match fields.text("jitter")?.unwrap_or("none") {
        "none" => Jitter::None,
        "full" => Jitter::Full,
        "pm10" => Jitter::TenPercent,
        other => return Err(Unreadable(format!("unknown jitter `{other}`"))),
    };
    let backoff = Backoff {
        base_ms: needed("base_ms", fields.unsigned("base_ms")?)?,
        factor_milli: thousandths(needed("factor", fields.any("factor"))?)?,
        cap_ms: needed("cap_ms", fields.unsigned("cap_ms")?)?,
        jitter,
    };
    let attempt = needed("attempt", fields.unsigned("attempt")?)?;
    let asked = fields.unsigned("retry_after_s")?;
    fields.done()?;
    let attempt = u32::try_from(attempt).unwrap_or(u32::MAX);
    let (shortest, longest) = backoff.bounds_ms(attempt, asked);
    Ok(Map::from_iter([
        ("min_ms".to_owned(), json!(shortest)),
        ("max_ms".to_owned(), json!(longest)),
    ]))
}

/// A factor with up to three decimals, as it is written: `2`, `1.5`.
fn thousandths(factor: &Value) -> Result<u64, Unreadable> {
    let wrong = || Unreadable("`factor` is no number with up to three decimals".into());
    let text = factor.as_number().ok_or_else(wrong)?.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    if decimals.len() > 3 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let decimals: u64 = format!("{decimals:0<3}").parse().map_err(|_| wrong())?;
    whole.checked_mul(1_000).and_then(|whole| whole.checked_add(decimals)).ok_or_else(wrong)
}

/// A published ladder.
pub(super) fn ladder(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let name = match fields.text("ladder")? {
        Some(name) => name,
        None => needed("ladder", fields.text("provider")?)?,
    };
    fields.text("provider")?;
    fields.done()?;
    let waits = match (listed(name), ladders::named(name)) {
        (Some(waits), _) => waits,
        (None, Some(ladder)) => ladder.waits_ms().iter().map(|wait| wait / 1_000).collect(),
        (None, None) => return Err(Unreadable(format!("unknown ladder `{name}`"))),
    };
    Ok(Map::from_iter([
        ("total_s".to_owned(), json!(waits.iter().sum::<u64>())),
        ("attempts".to_owned(), json!(waits.len() + 1)),
        ("waits_s".to_owned(), json!(waits)),
    ]))
}

/// The waits that the list of schemes prints for a provider, written as there. Where a provider goes
/// on with the last wait for a time, the list prints it once; the built-in ladder has its repeats.
fn listed(provider: &str) -> Option<Vec<u64>> {
    let rows: Vec<Value> = serde_json::from_str(SCHEMES).ok()?;
    let mut of_provider = rows.iter().filter(|row| row["provider"] == provider);
    let waits = of_provider.find_map(|row| row["retry_delays_seconds"].as_array())?;
    waits.iter().map(Value::as_u64).collect()
}

const SCHEMES: &str = include_str!("../../../vectors/schemes.json");

/// What an answer does to the delivery.
pub(super) fn classify(fields: &Fields<'_>, profile: &Profile) -> Outcome {
    let status = fields.unsigned("status")?;
    let error = fields.text("error")?;
    let asked = fields.any("retry_after").map(|value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    fields.any("body_len");
    fields.any("body");
    fields.done()?;
    let answer = match (status, error) {
        (Some(status), None) => Answer::Status(u16::try_from(status).unwrap_or(0)),
        (None | Some(_), Some(_)) => Answer::NoAnswer,
        (None, None) => return Err(Unreadable("neither `status` nor `error`".into())),
    };
    let outcome = match answer::classify(answer, profile) {
        Class::Success => "success",
        Class::FailedRetry => "failed_retry",
        Class::FailedPermanent { .. } => "failed_permanent",
    };
    let mut got = one("outcome", json!(outcome));
    let cap = profile.retry_after_max_ms / 1_000;
    let lines = asked.iter().map(String::as_bytes);
    if let Some(wait) = answer::retry_after(lines, 0, cap) {
        got.insert("min_delay_s".into(), json!(wait));
    }
    Ok(got)
}
