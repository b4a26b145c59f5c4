//! Lists of candidates: Standard Webhooks and its kin, Stripe and its kin; message signatures.

use super::{
    Algorithm, Carrier, Construction, Encoding, Grammar, KeyForm, Names, OURS, Part, Place, Scheme,
    Unit, facts, list, names, row, some, template, text, within,
};

pub(super) static ROWS: [Scheme; 15] = [
    row(
        ("standard-webhooks-v1", "Standard Webhooks, GitLab signing tokens"),
        template(
            list![names("webhook-signature", some("webhook-id"), some("webhook-timestamp"))],
            Grammar::Versions { version: text("v1") },
            Encoding::Base64,
            ID_TIME_BODY,
            Some((Place::Header, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Base64 { prefix: text("whsec_") },
        within(300),
        facts(
            "2xx within 15 to 30 s; 410 disables the endpoint",
            None,
            14,
            "standard-webhooks/standard-webhooks spec/standard-webhooks.md and libraries",
        ),
    ),
    row(
        ("standard-webhooks-v1a", "Standard Webhooks"),
        template(
            list![names("webhook-signature", some("webhook-id"), some("webhook-timestamp"))],
            Grammar::Versions { version: text("v1a") },
            Encoding::Base64,
            ID_TIME_BODY,
            Some((Place::Header, Unit::Seconds)),
        ),
        Algorithm::Ed25519,
        KeyForm::Ed25519Public,
        within(300),
        facts(
            "2xx within 15 to 30 s; 410 disables the endpoint",
            None,
            3,
            "spec/standard-webhooks.md; svix/svix-webhooks server/svix-server/src/worker.rs",
        ),
    ),
    row(
        ("svix-v1", "Svix, Clerk, Resend"),
        template(
            list![
                names("svix-signature", some("svix-id"), some("svix-timestamp")),
                names("webhook-signature", some("webhook-id"), some("webhook-timestamp")),
            ],
            Grammar::Versions { version: text("v1") },
            Encoding::Base64,
            ID_TIME_BODY,
            Some((Place::Header, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Base64 { prefix: text("whsec_") },
        within(300),
        facts("2xx within 15 s", None, 2, "svix/svix-webhooks; docs.svix.com"),
    ),
    row(
        ("stripe-v1", "Stripe"),
        template(
            list![names("Stripe-Signature", None, None)],
            pairs_t(b',', V1),
            Encoding::Hex,
            TIME_DOT_BODY,
            Some((Place::Member, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(300),
        facts("2xx", None, 5, "stripe/stripe-python tests/test_webhook.py, stripe/stripe-node"),
    ),
    row(
        ("paymos-v1", "Paymos"),
        template(
            list![names("X-Webhook-Signature", some("X-Webhook-Id"), some("X-Webhook-Timestamp"))],
            pairs_t(b',', V1),
            Encoding::Hex,
            TIME_DOT_BODY,
            Some((Place::Member, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(300),
        facts(
            "2xx; 10 s is a default of ours",
            None,
            4,
            "Paymos-labs SDKs, conformance/contract.json",
        ),
    ),
    row(
        ("mux-v1", "Mux"),
        template(
            list![names("Mux-Signature", None, None)],
            pairs_t(b',', V1),
            Encoding::Hex,
            TIME_DOT_BODY,
            Some((Place::Member, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(300),
        facts("2xx", None, 3, "muxinc/mux-python, mux-node, mux-go"),
    ),
    row(
        ("workos-v1", "WorkOS"),
        template(
            list![names("WorkOS-Signature", None, None)],
            Grammar::Pairs {
                separator: b',',
                spaced: true,
                timestamp: some("t"),
                tags: V1,
                headers: None,
            },
            Encoding::Hex,
            TIME_DOT_BODY,
            Some((Place::Member, Unit::Milliseconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(180),
        facts("2xx", None, 0, "workos/workos-node, workos-python"),
    ),
    row(
        ("hook0-v0", "Hook0, Coinbase CDP"),
        template(
            list![names("X-Hook0-Signature", None, None)],
            pairs_t(b',', Cow::Borrowed(&[Cow::Borrowed("v0")])),
            Encoding::Hex,
            TIME_DOT_BODY,
            Some((Place::Member, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(300),
        facts("2xx", None, 4, "hook0/hook0 SDK tests; docs.cdp.coinbase.com"),
    ),
    row(
        ("hook0-v1", "Hook0, Coinbase CDP"),
        template(
            list![names("X-Hook0-Signature", None, None)],
            Grammar::Pairs {
                separator: b',',
                spaced: false,
                timestamp: some("t"),
                tags: V1,
                headers: some("h"),
            },
            Encoding::Hex,
            const { &[Part::Timestamp, DOT, Part::NamedHeaders, DOT, Part::Body] },
            Some((Place::Member, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(300),
        facts("2xx", None, 2, "hook0/hook0 SDK tests"),
    ),
    row(
        ("convoy-advanced", "Convoy"),
        template(
            list![names("X-Convoy-Signature", None, None)],
            pairs_t(b',', V1),
            Encoding::HexOrBase64,
            const { &[Part::Timestamp, Part::Text(text(",")), Part::CompactBody] },
            Some((Place::Member, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        OURS,
        facts("2xx", None, 1, "frain-dev/convoy pkg/signature/signature_test.go"),
    ),
    row(
        ("paddle-h1", "Paddle Billing"),
        template(
            list![names("Paddle-Signature", None, None)],
            Grammar::Pairs {
                separator: b';',
                spaced: false,
                timestamp: some("ts"),
                tags: Cow::Borrowed(&[Cow::Borrowed("h1")]),
                headers: None,
            },
            Encoding::Hex,
            const { &[Part::Timestamp, COLON, Part::Body] },
            Some((Place::Member, Unit::Seconds)),
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        within(5),
        facts(
            "2xx within 5 s",
            None,
            11,
            "PaddleHQ/paddle-node-sdk, -python-, -go-, -php-sdk tests",
        ),
    ),
    row(
        ("http-message-signatures/hmac-sha256", "RFC 9421"),
        Construction::HttpMessage,
        Algorithm::HmacSha256,
        KeyForm::Base64 { prefix: text("") },
        OURS,
        facts("as agreed", None, 2, "RFC 9421 appendix B.2.5"),
    ),
    row(
        ("http-message-signatures/ed25519", "RFC 9421"),
        Construction::HttpMessage,
        Algorithm::Ed25519,
        KeyForm::Ed25519Public,
        OURS,
        facts("as agreed", None, 1, "RFC 9421 appendix B.2.6"),
    ),
    row(
        ("http-message-signatures/ecdsa-p256-sha256", "RFC 9421"),
        Construction::HttpMessage,
        Algorithm::EcdsaP256Raw,
        KeyForm::P256Public,
        OURS,
        facts("as agreed", None, 1, "RFC 9421 appendix B.2.4"),
    ),
    row(
        ("docusign-hmac", "DocuSign Connect"),
        template(
            list![Names {
                signature: Carrier::Numbered(text("X-DocuSign-Signature-")),
                id: None,
                timestamp: None
            }],
            super::single(""),
            Encoding::Base64,
            &[Part::Body],
            None,
        ),
        Algorithm::HmacSha256,
        KeyForm::Text,
        None,
        facts("2xx", None, 0, "docusign code examples"),
    ),
];

/// Members with the time under `t`.
const fn pairs_t(separator: u8, tags: super::super::List<super::Text>) -> Grammar {
    Grammar::Pairs {
        separator,
        spaced: false,
        timestamp: Some(Cow::Borrowed("t")),
        tags,
        headers: None,
    }
}

const V1: super::super::List<super::Text> = Cow::Borrowed(&[Cow::Borrowed("v1")]);
const DOT: Part = Part::Text(Cow::Borrowed("."));
const COLON: Part = Part::Text(Cow::Borrowed(":"));
const ID_TIME_BODY: &[Part] = &[Part::Id, DOT, Part::Timestamp, DOT, Part::Body];
const TIME_DOT_BODY: &[Part] = &[Part::Timestamp, DOT, Part::Body];

use alloc::borrow::Cow;
