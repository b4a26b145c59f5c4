//! How the five schemes that are complete by family lay out their headers.

use hookproof_core::codec;
use serde_json::{Map, Value, json};

use crate::recipe;

/// A scheme as the families see it.
pub(super) struct Layout {
    /// The scheme's name, and the front of each case id.
    pub(super) scheme: &'static str,
    pub(super) slug: &'static str,
    pub(super) secret: &'static str,
    pub(super) other_secret: &'static str,
    /// How a secret becomes a key.
    pub(super) decoded: bool,
    pub(super) content: &'static str,
    pub(super) encoding: &'static str,
    /// Headers beside the signature.
    pub(super) beside: &'static [(&'static str, &'static str)],
    /// The signature header, with the place of its members.
    pub(super) signature: (&'static str, &'static str),
    /// One member, and what stands between members; `None` where a header holds one tag.
    pub(super) member: &'static str,
    pub(super) between: Option<&'static str>,
    /// Whether a time is signed.
    pub(super) timed: bool,
    /// The header with the time, where it is one of its own.
    pub(super) time_header: Option<&'static str>,
}

/// The delivery id of every generated request.
pub(super) const ID: &str = "msg_2b7e151628aed2a6";
/// The time of every generated request, in seconds.
pub(super) const NOW: i64 = 1_700_000_000;
/// The body of most generated requests.
pub(super) const BODY: &[u8] = br#"{"type":"invoice.paid","id":"evt_1","amount":"10.50"}"#;

pub(super) const LAYOUTS: [Layout; 5] = [
    Layout {
        scheme: "standard-webhooks-v1",
        slug: "swh",
        secret: "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
        other_secret: "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=",
        decoded: true,
        content: "{id}.{timestamp}.{body}",
        encoding: "base64",
        beside: &[("webhook-id", ID), ("webhook-timestamp", "{timestamp}")],
        signature: ("webhook-signature", "{members}"),
        member: "v1,{}",
        between: Some(" "),
        timed: true,
        time_header: Some("webhook-timestamp"),
    },
    Layout {
        scheme: "stripe-v1",
        slug: "stripe",
        secret: "whsec_T3stSecretUsedAsText",
        other_secret: "whsec_An0therSecretUsedAsText",
        decoded: false,
        content: "{timestamp}.{body}",
        encoding: "hex",
        beside: &[],
        signature: ("Stripe-Signature", "t={timestamp},{members}"),
        member: "v1={}",
        between: Some(","),
        timed: true,
        time_header: None,
    },
    Layout {
        scheme: "paymos-v1",
        slug: "paymos",
        secret: "whsec_test_4fQ9vLw2ZkT7",
        other_secret: "whsec_test_Xy81HbNdQ3Rs",
        decoded: false,
        content: "{timestamp}.{body}",
        encoding: "hex",
        beside: &[("X-Webhook-Id", "evt_1"), ("X-Webhook-Timestamp", "{timestamp}")],
        signature: ("X-Webhook-Signature", "t={timestamp},{members}"),
        member: "v1={}",
        between: Some(","),
        timed: true,
        time_header: None,
    },
    Layout {
        scheme: "github-sha256",
        slug: "github",
        secret: "hub-secret-01",
        other_secret: "hub-secret-02",
        decoded: false,
        content: "{body}",
        encoding: "hex",
        beside: &[("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")],
        signature: ("X-Hub-Signature-256", "{members}"),
        member: "sha256={}",
        between: None,
        timed: false,
        time_header: None,
    },
    Layout {
        scheme: "slack-v0",
        slug: "slack",
        secret: "8f742231b10e8888abcd99yyyzzz85a5",
        other_secret: "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        decoded: false,
        content: "v0:{timestamp}:{body}",
        encoding: "hex",
        beside: &[("X-Slack-Request-Timestamp", "{timestamp}")],
        signature: ("X-Slack-Signature", "{members}"),
        member: "v0={}",
        between: None,
        timed: true,
        time_header: Some("X-Slack-Request-Timestamp"),
    },
];

/// A change of the header list.
pub(super) type Edit = fn(&mut Vec<(String, String)>);

/// A case in the making: the usual request, changed in one thing.
pub(super) struct Draft<'l> {
    pub(super) layout: &'l Layout,
    pub(super) body: Vec<u8>,
    /// What is signed, where it is not the body that is sent.
    pub(super) signed_body: Option<Vec<u8>>,
    pub(super) secrets: Vec<&'l str>,
    /// The secret of each tag.
    pub(super) tags: Vec<&'l str>,
    pub(super) encoding: &'l str,
    pub(super) content: &'l str,
    /// The members, `{tag0}` for a tag; the layout's own where empty.
    pub(super) members: String,
    pub(super) offset_s: i64,
    /// The time as it is written and signed, where that is no plain number.
    pub(super) time_text: Option<String>,
    pub(super) tolerance_s: u64,
    /// Changes the header list at the end.
    pub(super) edit: Option<Edit>,
}

impl<'l> Draft<'l> {
    pub(super) fn new(layout: &'l Layout) -> Self {
        Self {
            layout,
            body: BODY.to_vec(),
            signed_body: None,
            secrets: vec![layout.secret],
            tags: vec![layout.secret],
            encoding: layout.encoding,
            content: layout.content,
            members: String::new(),
            offset_s: 0,
            time_text: None,
            tolerance_s: 300,
            edit: None,
        }
    }

    /// The finished case.
    pub(super) fn case(
        &self,
        name: &str,
        level: &str,
        flag: &str,
        accept: bool,
        why: &str,
    ) -> Value {
        let recipe = self.recipe();
        let mut input = Map::new();
        input.insert("scheme".into(), json!(self.layout.scheme));
        input.insert("secrets".into(), json!(self.secrets));
        input.insert("headers".into(), Value::Null);
        input.insert("body_b64".into(), json!(codec::to_base64(&self.body)));
        if self.layout.timed {
            input.insert("now".into(), json!(NOW));
            input.insert("tolerance_s".into(), json!(self.tolerance_s));
        }
        let mut with_now = input.clone();
        with_now.insert("now".into(), json!(NOW));
        let made = recipe::made(&recipe, &with_now).expect("a whole recipe");
        input.insert("headers".into(), made.headers);
        json!({
            "id": format!("{}-{name}", self.layout.slug),
            "level": level,
            "flags": [flag],
            "input": input,
            "expected": { "result": if accept { "accept" } else { "reject" } },
            "why": why,
            "source": "generated",
            "recipe": recipe,
        })
    }

    fn recipe(&self) -> Value {
        let layout = self.layout;
        let tags: Vec<Value> = self.tags.iter().map(|secret| self.tag(secret)).collect();
        let members = if self.members.is_empty() {
            let all: Vec<String> = (0..tags.len())
                .map(|at| layout.member.replace("{}", &format!("{{tag{at}}}")))
                .collect();
            all.join(layout.between.unwrap_or_default())
        } else {
            self.members.clone()
        };
        let mut headers: Vec<(String, String)> =
            layout.beside.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let (name, value) = layout.signature;
        headers.push((name.into(), value.replace("{members}", &members)));
        if let Some(text) = &self.time_text {
            for (_, value) in &mut headers {
                *value = value.replace("{timestamp}", text);
            }
        }
        if let Some(edit) = self.edit {
            edit(&mut headers);
        }
        json!({ "timestamp_offset_s": self.offset_s, "tags": tags, "headers": headers })
    }

    fn tag(&self, secret: &str) -> Value {
        let mut tag = json!({
            "algorithm": "hmac-sha256",
            "key_hex": codec::to_hex(&key(self.layout, secret)),
            "content": self.content,
            "encoding": self.encoding,
        });
        if self.content.contains("{id}") {
            tag["id"] = json!(ID);
        }
        if let Some(body) = &self.signed_body {
            tag["body_b64"] = json!(codec::to_base64(body));
        }
        if let Some(text) = &self.time_text {
            tag["timestamp"] = json!(text);
        }
        tag
    }
}

/// The key of a secret, made by hand: not by the code under test.
fn key(layout: &Layout, secret: &str) -> Vec<u8> {
    let inner = secret.strip_prefix("whsec_").filter(|_| layout.decoded);
    match inner.and_then(|inner| codec::base64(inner.as_bytes())) {
        Some(key) => key,
        None => secret.as_bytes().to_vec(),
    }
}
