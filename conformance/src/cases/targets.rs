//! Kinds that decide on callback targets.

use std::net::IpAddr;

use hookproof_core::{
    header,
    profile::Profile,
    target::{Target, TargetPolicy, follows_redirect},
};
use serde_json::{Map, Value, json};

use super::{Fields, Unreadable, fields::needed};

type Outcome = Result<Map<String, Value>, Unreadable>;

/// A URL with what its name resolves to. Without `dns` the URL alone decides.
pub(super) fn url(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let url = needed("url", fields.text("url")?)?;
    let dns = fields.any("dns");
    fields.done()?;
    let policy = TargetPolicy::default();
    let verdict = Target::parse(url, &policy).and_then(|target| match dns {
        None => Ok(()),
        Some(_) if target.literal().is_some() => target.vet(&[], &policy).map(|_| ()),
        Some(dns) => target.vet(&answers(dns, target.host()), &policy).map(|_| ()),
    });
    let mut got = Map::from_iter([("allow".to_owned(), json!(verdict.is_ok()))]);
    if let Err(denied) = verdict {
        got.insert("why".into(), json!(denied.to_string()));
    }
    Ok(got)
}

/// The answers for a host, whose name may be written with its final dot, in capitals or in its own
/// script. One that is
/// no address makes the whole answer empty: it denies.
fn answers(dns: &Value, host: &str) -> Vec<IpAddr> {
    let same = |name: &str| {
        let read = || Target::parse(&format!("https://{name}/"), &TargetPolicy::default());
        name.trim_end_matches('.').eq_ignore_ascii_case(host)
            || read().is_ok_and(|target| target.host() == host)
    };
    let found = dns.as_object().and_then(|map| map.iter().find(|(name, _)| same(name)));
    found.and_then(|(_, list)| addresses(list.as_array()?)).unwrap_or_default()
}

fn addresses(list: &[Value]) -> Option<Vec<IpAddr>> {
    list.iter().map(|text| text.as_str()?.parse().ok()).collect()
}

/// A name that may answer otherwise the second time. The answers that were vetted are the ones that
/// are dialled: nobody asks again.
pub(super) fn resolve(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let url = needed("url", fields.text("url")?)?;
    let vetted = needed("answers_at_validation", fields.list("answers_at_validation")?)?;
    fields.list("answers_at_connect")?;
    fields.done()?;
    let policy = TargetPolicy::default();
    let dial = Target::parse(url, &policy)
        .and_then(|target| target.vet(&addresses(vetted).unwrap_or_default(), &policy));
    let (address, outcome) = match dial {
        Ok(dial) => (json!(dial.address().to_string()), "connected"),
        Err(_) => (Value::Null, "blocked"),
    };
    Ok(Map::from_iter([("connect_to".to_owned(), address), ("outcome".to_owned(), json!(outcome))]))
}

/// A redirect: not followed, so nothing is sent a second time.
pub(super) fn redirect(fields: &Fields<'_>, _: &Profile) -> Outcome {
    fields.text("request_url")?;
    fields.any("request_headers");
    let status = fields.unsigned("status")?.and_then(|status| u16::try_from(status).ok());
    let location = fields.text("location")?.unwrap_or_default();
    fields.done()?;
    let follow = follows_redirect(status.unwrap_or(0), location);
    Ok(Map::from_iter([
        ("follow".to_owned(), json!(follow)),
        ("second_request_sent".to_owned(), json!(follow)),
    ]))
}

/// A header that a user wants to add.
pub(super) fn custom_header(fields: &Fields<'_>, _: &Profile) -> Outcome {
    let name = needed("name", fields.text("name")?)?;
    let value = needed("value", fields.text("value")?)?;
    fields.done()?;
    let verdict = header::custom(name, value);
    let word = if verdict.is_ok() { "accept" } else { "reject_at_registration" };
    let mut got = Map::from_iter([("result".to_owned(), json!(word))]);
    if let Err(bad) = verdict {
        got.insert("why".into(), json!(bad.to_string()));
    }
    Ok(got)
}
