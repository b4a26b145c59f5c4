//! The kind that reads what an authentic event says of itself.

use hookproof_core::{
    identity::{Place, Places, Text},
    instant::Unit,
    profile::Profile,
};
use serde_json::{Map, Value, json};

use super::{Fields, Unreadable, fields::needed, signatures::request_headers};

/// Reads the routing values at declared places; an event that two readers would read differently is
/// unreadable, not refused.
pub(super) fn read(fields: &Fields<'_>, _: &Profile) -> Result<Map<String, Value>, Unreadable> {
    let places = places(&needed("places", fields.object("places")?)?)?;
    let headers = request_headers(fields.any("headers"))?;
    let lines: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    let body = fields.bytes("body_b64")?.unwrap_or_default();
    fields.done()?;
    Ok(match places.read(&lines, &body) {
        Err(fault) => Map::from_iter([
            ("result".to_owned(), json!("unreadable")),
            ("reason".to_owned(), json!(format!("{fault:?}"))),
        ]),
        Ok(said) => Map::from_iter([
            ("result".to_owned(), json!("read")),
            ("id".to_owned(), json!(said.id)),
            ("event_type".to_owned(), json!(said.event_type)),
            ("resource".to_owned(), json!(said.resource)),
            ("version".to_owned(), json!(said.version)),
            ("seconds".to_owned(), json!(said.time.map(|time| time.seconds))),
            ("account".to_owned(), json!(said.account)),
        ]),
    })
}

fn places(fields: &Fields<'_>) -> Result<Places, Unreadable> {
    let at = |name| fields.text(name).map(|text| text.map(place));
    let unit = fields.text("time_unit")?.unwrap_or("s");
    let unit = Unit::named(unit).ok_or_else(|| Unreadable(format!("unknown unit `{unit}`")))?;
    let places = Places {
        id: at("id")?,
        id_copy: fields.text("id_copy")?.map(|name| Text::Owned(name.to_owned())),
        event_type: at("event_type")?,
        resource: at("resource")?,
        version: at("version")?,
        time: at("time")?.map(|place| (place, unit)),
        account: at("account")?,
    };
    fields.done()?;
    Ok(places)
}

/// A JSON pointer begins with a slash; anything else is the name of a header.
fn place(text: &str) -> Place {
    let owned = Text::Owned(text.to_owned());
    if text.starts_with('/') { Place::Body(owned) } else { Place::Header(owned) }
}
