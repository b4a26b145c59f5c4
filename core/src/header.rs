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

fn is_reserved(name: &str) -> bool {
    let starts = |prefix: &&str| {
        name.get(..prefix.len()).is_some_and(|front| front.eq_ignore_ascii_case(prefix))
    };
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name))
        || RESERVED_PREFIXES.iter().any(starts)
}

/// The longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// The longest value, in bytes.
pub const VALUE_BYTES_MAX: usize = 4_096;
/// Framing, routing and connection; representation; identity.
const RESERVED: [&str; 33] = [
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
    "x-hub-signature",
    "x-hub-signature-256",
];
/// Families: Standard Webhooks, Svix, Paymos, Stripe, ours, proxies.
const RESERVED_PREFIXES: [&str; 9] = [
    "webhook-",
    "svix-",
    "x-webhook-",
    "stripe-",
    "hookproof-",
    "x-hookproof-",
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
        for name in
            ["Host", "transfer-encoding", "Webhook-Signature", "IDEMPOTENCY-KEY", "x-WEBHOOK-id"]
        {
            assert_eq!(custom(name, "x"), Err(BadHeader::Reserved), "{name}");
        }
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
