//! Headers that a user may add to deliveries (S3, S10): none that frames, routes or signs.

/// Why a custom header is refused when it is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadHeader {
    /// The name is no token (RFC 9110 section 5.6.2), or too long.
    Name,
    /// The name belongs to HTTP, to a proxy or to a protocol of ours.
    Reserved,
    /// The value holds a control character or one outside of ASCII, blanks around it, or is too long.
    Value,
}

impl core::fmt::Display for BadHeader {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Name => "the name is no header name",
            Self::Reserved => {
                "the name is reserved: it frames, routes, identifies or signs the request"
            }
            Self::Value => "the value holds control or non-ASCII characters, or blanks around it",
        })
    }
}

impl core::error::Error for BadHeader {}

/// Checks a header that a user wants to add to each delivery. Names are compared without case.
pub fn custom(name: &str, value: &str) -> Result<(), BadHeader> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_token) {
        return Err(BadHeader::Name);
    }
    if is_reserved(name) {
        return Err(BadHeader::Reserved);
    }
    let inside = value.bytes().all(|byte| matches!(byte, b'\t' | 0x20..=0x7e));
    if !inside || value.len() > VALUE_BYTES_MAX || value.trim_matches([' ', '\t']) != value {
        return Err(BadHeader::Value);
    }
    Ok(())
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// An underline counts as a hyphen, since many servers read it as one.
fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    RESERVED.contains(&&*name)
        || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || RESERVED_WORDS.iter().any(|word| name.contains(word))
}

/// The longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// The longest value, in bytes.
pub const VALUE_BYTES_MAX: usize = 4_096;
/// Framing, routing and connection; representation; identity.
const RESERVED: [&str; 48] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "max-forwards",
    "via",
    "forwarded",
    "http2-settings",
    "content-type",
    "content-encoding",
    "content-digest",
    "content-range",
    "digest",
    "date",
    "accept-encoding",
    "range",
    "signature",
    "signature-input",
    "idempotency-key",
    "x-idempotency-key",
    "x-request-id",
    "traceparent",
    "tracestate",
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-contentful-signed-headers",
    "x-github-delivery",
    "x-request-uuid",
    "x-shopify-event-id",
    "x-razorpay-event-id",
    "x-webflow-timestamp",
    "klaviyo-timestamp",
    "telnyx-timestamp",
    "x-contentful-timestamp",
    "linear-delivery",
    "request-id",
    "x-gitlab-token",
    "x-trello-webhook",
    "box-delivery-id",
    "box-delivery-timestamp",
    "i-twilio-idempotency-token",
    "protocol",
];
/// What says a signature or its time, whoever's it is.
const RESERVED_WORDS: [&str; 3] = ["signature", "hmac-sha", "request-timestamp"];
/// Families: Standard Webhooks, Svix, Paymos, Stripe, ours, other senders, proxies.
const RESERVED_PREFIXES: [&str; 12] = [
    "webhook-",
    "svix-",
    "x-webhook-",
    "stripe-",
    "hookproof-",
    "x-hookproof-",
    "x-zendesk-webhook-",
    "twitch-eventsub-",
    "x-twilio-email-event-webhook-",
    "proxy-",
    "sec-",
    "x-forwarded-",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_header_is_accepted() {
        for (name, value) in [("X-Env", "prod"), ("Authorization", "Bearer a b"), ("X-Empty", "")] {
            assert_eq!(custom(name, value), Ok(()), "{name}");
        }
    }

    #[test]
    fn reserved_names_are_refused_in_any_case() {
        for name in [
            "Host",
            "transfer-encoding",
            "Webhook-Signature",
            "IDEMPOTENCY-KEY",
            "x-WEBHOOK-id",
            "Content_Length",
        ] {
            assert_eq!(custom(name, "x"), Err(BadHeader::Reserved), "{name}");
        }
    }

    #[cfg(feature = "schemes")]
    #[test]
    fn what_a_known_scheme_signs_or_identifies_with_is_reserved() {
        use crate::scheme::{self, Carrier, Construction};
        use alloc::{
            string::{String, ToString},
            vec::Vec,
        };
        let mut open: Vec<String> = Vec::new();
        for row in scheme::all() {
            let Construction::Template(template) = &row.construction else { continue };
            let fixed = template.fixed.iter().map(|(name, _)| name);
            let own = template.names.iter().flat_map(|names| {
                let tags: &[scheme::Text] = match &names.signature {
                    Carrier::One(name) | Carrier::Numbered(name) => core::slice::from_ref(name),
                    Carrier::Each(names) => names,
                };
                tags.iter().chain(&names.id).chain(&names.timestamp)
            });
            let names = own.chain(fixed).filter(|name| custom(name, "x").is_ok());
            open.extend(names.map(ToString::to_string));
        }
        assert_eq!(open, [""; 0]);
    }

    #[test]
    fn what_would_end_a_line_or_a_name_is_refused() {
        for name in ["", " X", "X ", "X:Y", "X\r\nY", "Ünder", "a b", ":authority"] {
            assert_eq!(custom(name, "x"), Err(BadHeader::Name), "{name:?}");
        }
        for value in ["a\r\nX: b", "a\nb", "a\0b", "\u{7f}", "é", " a", "a ", "a\rb"] {
            assert_eq!(custom("X-Env", value), Err(BadHeader::Value), "{value:?}");
        }
    }
}
