//! One tag beside a signed time.

use alloc::borrow::Cow;

use super::{
    Algorithm, Carrier, Construction, Encoding, KeyForm, Names, OURS, Part, Place, Scheme, Side,
    Template, Tolerance, Unit, facts, list, names, row, single, some, template, text, within,
};

pub(super) static ROWS: [Scheme; 14] = [
    row(
        ("slack-v0", "Slack"),
        template(
            list![names("X-Slack-Signature", None, some("X-Slack-Request-Timestamp"))],
            single("v0="),
            Encoding::Hex,
            V0_TIME_BODY,
            Some((Place::Header, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(300),
        facts(
            "2xx within 3 s; `X-Slack-No-Retry: 1` on a failure stops the retries",
            some(
                "url_verification: answer the body's `challenge` as plain text; `ssl_check` form posts",
            ),
            4,
            "slackapi/python-slack-sdk, bolt-js tests; docs.slack.dev",
        ),
    ),
    row(
        ("zoom-v0", "Zoom"),
        template(
            list![names("x-zm-signature", None, some("x-zm-request-timestamp"))],
            single("v0="),
            Encoding::Hex,
            V0_TIME_BODY,
            Some((Place::Header, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        OURS,
        facts(
            "200 or 204 within 3 s",
            some(
                "endpoint.url_validation: answer JSON with `plainToken` and `encryptedToken`, the \
                  hexadecimal HMAC-SHA256 of plainToken",
            ),
            0,
            "zoom/webhook-sample; developers.zoom.us/blog/webhook-delays",
        ),
    ),
    row(
        ("webflow-sha256", "Webflow"),
        template(
            list![names("x-webflow-signature", None, some("x-webflow-timestamp"))],
            single(""),
            Encoding::Hex,
            const { &[Part::Timestamp, Part::Text(text(":")), Part::Body] },
            Some((Place::Header, Unit::Milliseconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(300),
        facts("2xx", None, 0, "developers.webflow.com"),
    ),
    row(
        ("zendesk-sha256", "Zendesk"),
        template(
            list![names(
                "X-Zendesk-Webhook-Signature",
                some("X-Zendesk-Webhook-Invocation-Id"),
                some("X-Zendesk-Webhook-Signature-Timestamp")
            )],
            single(""),
            Encoding::Base64,
            TIME_BODY,
            Some((Place::Header, Unit::Rfc3339)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        OURS,
        facts("2xx", None, 0, "developer.zendesk.com verifying"),
    ),
    row(
        ("twitch-sha256", "Twitch EventSub"),
        template(
            list![names(
                "Twitch-Eventsub-Message-Signature",
                some("Twitch-Eventsub-Message-Id"),
                some("Twitch-Eventsub-Message-Timestamp")
            )],
            single("sha256="),
            Encoding::Hex,
            const { &[Part::Id, Part::Timestamp, Part::Body] },
            Some((Place::Header, Unit::Rfc3339)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        Some(Tolerance { seconds: 600, side: Side::Both, stated: false }),
        facts(
            "2xx",
            some("webhook_callback_verification: answer the body's `challenge` as plain text"),
            0,
            "dev.twitch.tv eventsub",
        ),
    ),
    row(
        ("klaviyo-sha256", "Klaviyo"),
        template(
            list![names("Klaviyo-Signature", None, some("Klaviyo-Timestamp"))],
            single(""),
            Encoding::Hex,
            BODY_TIME,
            Some((Place::Header, Unit::HttpDate)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        OURS,
        facts("2xx", None, 0, "developers.klaviyo.com"),
    ),
    row(
        ("scalr-sha1-body-date", "Scalr"),
        template(
            list![names("X-Signature", None, some("Date"))],
            single(""),
            Encoding::Hex,
            BODY_TIME,
            Some((Place::Header, Unit::HttpDate)),
        ),
        Algorithm::HmacSha1,
        KeyForm::Text,
        within(300),
        facts("2xx", None, 1, "adnanh/webhook internal/hook/hook_test.go"),
    ),
    row(
        ("box-v2", "Box"),
        Construction::Template(Template {
            names: list![Names {
                signature: Carrier::Each(list![
                    text("BOX-SIGNATURE-PRIMARY"),
                    text("BOX-SIGNATURE-SECONDARY")
                ]),
                id: some("BOX-DELIVERY-ID"),
                timestamp: some("BOX-DELIVERY-TIMESTAMP"),
            }],
            grammar: single(""),
            encoding: Encoding::Base64,
            signed: Cow::Borrowed(BODY_TIME),
            clock: Some((Place::Header, Unit::Rfc3339)),
            fixed: list![
                (text("BOX-SIGNATURE-VERSION"), text("1")),
                (text("BOX-SIGNATURE-ALGORITHM"), text("HmacSHA256")),
            ],
            body_sha256_query: None,
        }),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(600),
        facts("2xx", None, 12, "box/box-node-sdk, box-python-sdk tests"),
    ),
    row(
        ("sendgrid-ecdsa-p256", "SendGrid"),
        template(
            list![names(
                "X-Twilio-Email-Event-Webhook-Signature",
                None,
                some("X-Twilio-Email-Event-Webhook-Timestamp")
            )],
            single(""),
            Encoding::Base64,
            TIME_BODY,
            Some((Place::Header, Unit::Seconds)),
        ),
        Algorithm::EcdsaP256Der,
        KeyForm::P256Public,
        OURS,
        facts("2xx", None, 6, "sendgrid/sendgrid-python test/unit/test_eventwebhook.py"),
    ),
    row(
        ("discord-ed25519", "Discord"),
        template(
            list![names("X-Signature-Ed25519", None, some("X-Signature-Timestamp"))],
            single(""),
            Encoding::Hex,
            TIME_BODY,
            Some((Place::Header, Unit::Seconds)),
        ),
        Algorithm::Ed25519,
        KeyForm::Ed25519Public,
        OURS,
        facts(
            "2xx; 204 within 3 s for webhook events; a wrong signature must get 401",
            some("PING (type 1, or 0 for webhook events) must be answered"),
            0,
            "discord/discord-api-docs",
        ),
    ),
    row(
        ("telnyx-ed25519", "Telnyx"),
        template(
            list![names("telnyx-signature-ed25519", None, some("telnyx-timestamp"))],
            single(""),
            Encoding::Base64,
            const { &[Part::Timestamp, Part::Text(text("|")), Part::Body] },
            Some((Place::Header, Unit::Seconds)),
        ),
        Algorithm::Ed25519,
        KeyForm::Ed25519Public,
        within(300),
        facts(
            "200 alone, by the callback reference",
            None,
            0,
            "team-telnyx/telnyx-python, telnyx-node",
        ),
    ),
    row(
        ("linear-hex", "Linear"),
        template(
            list![names("Linear-Signature", some("Linear-Delivery"), None)],
            single(""),
            Encoding::Hex,
            &[Part::Body],
            Some((Place::Body(text("/webhookTimestamp")), Unit::Milliseconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(60),
        facts("200", None, 0, "linear/linear packages/sdk/src/webhooks"),
    ),
    row(
        ("contentful-canonical", "Contentful"),
        template(
            list![names("x-contentful-signature", None, some("x-contentful-timestamp"))],
            single(""),
            Encoding::Hex,
            const {
                &[
                    Part::Method,
                    LINE,
                    Part::EncodedPath,
                    LINE,
                    Part::ListedHeaders(text("x-contentful-signed-headers")),
                    LINE,
                    Part::Body,
                ]
            },
            Some((Place::Header, Unit::Milliseconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(30),
        facts("2xx", None, 0, "contentful/node-apps-toolkit src/requests"),
    ),
    row(
        ("mailgun-body-token", "Mailgun"),
        Construction::Mailgun,
        Algorithm::HmacSha256,
        KeyForm::Text,
        OURS,
        facts("200; 406 stops the retries", None, 0, "mailgun/documentation user_manual.rst"),
    ),
];

const LINE: Part = Part::Text(Cow::Borrowed("\n"));
const V0_TIME_BODY: &[Part] = &[
    Part::Text(Cow::Borrowed("v0:")),
    Part::Timestamp,
    Part::Text(Cow::Borrowed(":")),
    Part::Body,
];
const TIME_BODY: &[Part] = &[Part::Timestamp, Part::Body];
const BODY_TIME: &[Part] = &[Part::Body, Part::Timestamp];
