//! The URL is signed: the configured one, in the spelling that the provider knows.

use alloc::borrow::Cow;

use super::{
    super::UrlForm, Algorithm, Construction, Encoding, KeyForm, Part, Place, Scheme, Template,
    Unit, facts, list, names, row, single, some, template, text, within,
};

pub(super) static ROWS: [Scheme; 6] = [
    row(
        ("square-hmacsha256", "Square"),
        template(
            list![names("x-square-hmacsha256-signature", None, None)],
            single(""),
            Encoding::Base64,
            &[Part::Url(UrlForm::Exact), Part::Body],
            None,
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        None,
        facts(
            "2xx within 10 s",
            None,
            5,
            "square/square-python-sdk, square-nodejs-sdk helper tests",
        ),
    ),
    row(
        ("trello-sha1", "Trello"),
        template(
            list![names("x-trello-webhook", None, None)],
            single(""),
            Encoding::Base64,
            &[Part::Body, Part::Url(UrlForm::Exact)],
            None,
        ),
        Algorithm::HmacSha1,
        KeyForm::Text,
        None,
        facts(
            "200",
            some("HEAD when the webhook is created: answer 200"),
            0,
            "developer.atlassian.com trello webhooks",
        ),
    ),
    row(
        ("twilio-sha1", "Twilio"),
        template(
            list![names("X-Twilio-Signature", some("I-Twilio-Idempotency-Token"), None)],
            single(""),
            Encoding::Base64,
            &[Part::Url(UrlForm::Twilio), Part::FormParams],
            None,
        ),
        Algorithm::HmacSha1,
        KeyForm::Text,
        None,
        facts("2xx", None, 7, "twilio/twilio-python, twilio-node validation tests"),
    ),
    row(
        ("twilio-sha1-bodysha256", "Twilio"),
        Construction::Template(Template {
            names: list![names("X-Twilio-Signature", some("I-Twilio-Idempotency-Token"), None)],
            grammar: single(""),
            encoding: Encoding::Base64,
            signed: Cow::Borrowed(&[Part::Url(UrlForm::Twilio)]),
            clock: None,
            fixed: Cow::Borrowed(&[]),
            body_sha256_query: some("bodySHA256"),
        }),
        Algorithm::HmacSha1,
        KeyForm::Text,
        None,
        facts("2xx", None, 4, "twilio/twilio-python, twilio-node validation tests"),
    ),
    row(
        ("hubspot-v2", "HubSpot"),
        Construction::Template(Template {
            names: list![names("X-HubSpot-Signature", None, None)],
            grammar: single(""),
            encoding: Encoding::Hex,
            signed: Cow::Borrowed(&[Part::Method, Part::Url(UrlForm::HubSpot), Part::Body]),
            clock: None,
            fixed: list![(text("X-HubSpot-Signature-Version"), text("v2"))],
            body_sha256_query: None,
        }),
        Algorithm::Sha256Concat,
        KeyForm::Text,
        None,
        super::legacy(2, "HubSpot/hubspot-api-python, hubspot-api-nodejs signature tests"),
    ),
    row(
        ("hubspot-v3", "HubSpot"),
        template(
            list![names("X-HubSpot-Signature-v3", None, some("X-HubSpot-Request-Timestamp"))],
            single(""),
            Encoding::Base64,
            &[Part::Method, Part::Url(UrlForm::HubSpot), Part::Body, Part::Timestamp],
            Some((Place::Header, Unit::Milliseconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(300),
        facts("2xx", None, 1, "HubSpot/hubspot-api-python, hubspot-api-nodejs signature tests"),
    ),
];
