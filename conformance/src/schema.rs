//! The part of JSON Schema (2020-12) that the schemas of `vectors/schema/` use, so that they are the
//! one statement of the form: `type`, `enum`, `required`, `properties`, `additionalProperties`,
//! `items`, `minItems`, `maxItems`, `minimum`, and base64 by `contentEncoding`.

use hookproof_core::codec;
use serde_json::Value;

/// What in `value` breaks `schema`, one sentence each, with the place.
pub fn findings(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(types) = schema.get("type")
        && !has_type(types, value)
    {
        all.push(format!("{place}: expected {types}"));
        return all;
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        all.push(format!("{place}: expected one of {}", Value::Array(allowed.clone())));
    }
    if let (Some(least), Some(number)) = (schema.get("minimum"), value.as_i64())
        && least.as_i64().is_some_and(|least| number < least)
    {
        all.push(format!("{place}: expected at least {least}"));
    }
    let base64 = schema.get("contentEncoding").is_some_and(|encoding| encoding == "base64");
    if base64 && value.as_str().is_some_and(|text| codec::base64(text.as_bytes()).is_none()) {
        all.push(format!("{place}: expected canonical base64"));
    }
    of_object(schema, value, place, &mut all);
    of_array(schema, value, place, &mut all);
    all
}

fn of_object(schema: &Value, value: &Value, place: &str, all: &mut Vec<String>) {
    let Some(map) = value.as_object() else { return };
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if name.as_str().is_some_and(|name| !map.contains_key(name)) {
            all.push(format!("{place}: {name} is missing"));
        }
    }
    for (name, inner) in map {
        let known = schema.get("properties").and_then(|properties| properties.get(name));
        let place = format!("{place}.{name}");
        match (known, schema.get("additionalProperties")) {
            (Some(known), _) => all.extend(findings(known, inner, &place)),
            (None, Some(Value::Bool(false))) => all.push(format!("{place}: unknown field")),
            (None, Some(others)) => all.extend(findings(others, inner, &place)),
            (None, None) => {}
        }
    }
}

fn of_array(schema: &Value, value: &Value, place: &str, all: &mut Vec<String>) {
    let Some(list) = value.as_array() else { return };
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    let length = list.len() as u64;
    if bound("minItems").is_some_and(|least| length < least)
        || bound("maxItems").is_some_and(|most| length > most)
    {
        all.push(format!("{place}: {length} items"));
    }
    if let Some(items) = schema.get("items") {
        for (at, item) in list.iter().enumerate() {
            all.extend(findings(items, item, &format!("{place}[{at}]")));
        }
    }
}

fn has_type(types: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    };
    match types {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_rule_finds_what_breaks_it() {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["a"],
            "properties": { "a": { "type": "integer", "minimum": 1 }, "b": { "enum": ["x"] },
                "c": { "type": "array", "items": { "type": "string" }, "maxItems": 1 },
                "d": { "type": "string", "contentEncoding": "base64" } },
        });
        let count = |value: Value| findings(&schema, &value, "case").len();
        assert_eq!(count(json!({ "a": 1, "b": "x", "c": ["y"], "d": "AA==" })), 0);
        for bad in [
            json!({}),
            json!([]),
            json!({ "a": 0 }),
            json!({ "a": 1, "e": 1 }),
            json!({ "a": 1, "b": "y" }),
            json!({ "a": 1, "c": [1] }),
            json!({ "a": 1, "c": ["x", "y"] }),
            json!({ "a": 1, "d": "A" }),
        ] {
            assert_eq!(count(bad.clone()), 1, "{bad}");
        }
    }
}
