//! Schemes whose tag stands in the body itself: what is signed has to be taken out of it first.

use alloc::{string::String, vec::Vec};

use super::{Refusal, Request, content};
use crate::{
    codec,
    json::{Json, Unreadable, Value},
};

/// One signed thing of a body: its content, its tag, and the time where it has one.
pub(crate) struct Item {
    pub(crate) content: Vec<u8>,
    pub(crate) tag: Option<Vec<u8>>,
    pub(crate) timestamp: Option<Vec<u8>>,
}

/// Adyen payments: every item of the notification, or the one that is the whole body. Each has to
/// verify, or an unsigned item would ride along with a signed one.
pub(crate) fn adyen(request: &Request<'_>) -> Result<Vec<Item>, Refusal> {
    let root = Json::check(request.body)?.root();
    let Some(list) = root.at("/notificationItems")? else {
        return Ok(alloc::vec![adyen_item(root)?]);
    };
    let items = list.elements().filter(|items| !items.is_empty()).ok_or(Refusal::BadBody)?;
    items
        .into_iter()
        .map(|item| {
            let inner = item.at("/NotificationRequestItem")?.ok_or(Refusal::BadBody)?;
            adyen_item(inner)
        })
        .collect()
}

/// Fields joined by colons without escaping, a missing one as an empty text.
fn adyen_item(item: Value<'_>) -> Result<Item, Refusal> {
    let mut fields: Vec<String> = Vec::new();
    for pointer in ADYEN_FIELDS {
        fields.push(field(item, pointer)?.unwrap_or_default());
    }
    let tag = field(item, "/additionalData/hmacSignature")?.ok_or(Refusal::MissingHeader)?;
    let tag = codec::base64(tag.as_bytes()).ok_or(Refusal::Malformed)?;
    Ok(Item { content: fields.join(":").into_bytes(), tag: Some(tag), timestamp: None })
}

/// Mailgun: `signature` in a JSON body, or three fields of a form.
pub(crate) fn mailgun(request: &Request<'_>) -> Result<Item, Refusal> {
    let (timestamp, token, tag) = if let Ok(json) = Json::check(request.body) {
        let text = |pointer| -> Result<_, Refusal> {
            Ok(field(json.root(), pointer)?.map(String::into_bytes))
        };
        (text("/signature/timestamp")?, text("/signature/token")?, text("/signature/signature")?)
    } else {
        let form = content::decode_form(request.body);
        (one(&form, "timestamp")?, one(&form, "token")?, one(&form, "signature")?)
    };
    let timestamp = timestamp.ok_or(Refusal::BadBody)?;
    let mut signed = timestamp.clone();
    signed.extend_from_slice(&token.ok_or(Refusal::BadBody)?);
    let tag = codec::hex(&tag.ok_or(Refusal::BadBody)?).ok_or(Refusal::Malformed)?;
    Ok(Item { content: signed, tag: Some(tag), timestamp: Some(timestamp) })
}

/// A text or number; `null` and absent are none, an object is no field.
fn field(value: Value<'_>, pointer: &str) -> Result<Option<String>, Refusal> {
    match value.at(pointer) {
        Ok(None) => Ok(None),
        Ok(Some(value)) if value.is_null() => Ok(None),
        Ok(Some(value)) => value.scalar().map(Some).ok_or(Refusal::BadBody),
        Err(Unreadable::NotJson | Unreadable::DuplicateKey) => Err(Refusal::BadBody),
    }
}

/// The one value of a form's name.
fn one(form: &[(Vec<u8>, Vec<u8>)], name: &str) -> Result<Option<Vec<u8>>, Refusal> {
    let mut values = form.iter().filter(|(key, _)| key == name.as_bytes());
    match (values.next(), values.next()) {
        (Some((_, value)), None) => Ok(Some(value.clone())),
        (None, _) => Ok(None),
        (Some(_), Some(_)) => Err(Refusal::BadBody),
    }
}

const ADYEN_FIELDS: [&str; 8] = [
    "/pspReference",
    "/originalReference",
    "/merchantAccountCode",
    "/merchantReference",
    "/amount/value",
    "/amount/currency",
    "/eventCode",
    "/success",
];
