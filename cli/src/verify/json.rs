//! The verdict for programs.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Answer, Asked};
use crate::{say::visible_json, sheet};
use hookproof_core::scheme::{
    Algorithm,
    explain::{Explanation, Mistake},
};

pub(super) fn print(asked: &Asked, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    let mut object = json!({ "scheme": asked.scheme.name });
    match answer.verdict {
        Ok(verified) => {
            let signs = verified.signs();
            object["result"] = json!("accept");
            object["secret"] = json!(answer.usable.get(verified.secret()).map(|at| at + 1));
            object["time_s"] = json!(verified.time().map(|time| time.seconds));
            object["signed"] = json!({
                "body": signs.body, "id": signs.id, "time": signs.time, "url": signs.url,
                "method": signs.method,
            });
            object["warnings"] = json!(sheet::warnings(&asked.scheme));
        }
        Err(refusal) => {
            object["result"] = json!("reject");
            object["reason"] = json!(refusal.name());
            object["http_status"] = json!(refusal.http_status());
        }
    }
    object["body_unsigned"] = json!(answer.body_unsigned);
    object["misframed"] = json!(asked.received.misframed().map(|said| asked.masked(&said)));
    if let Some(explanation) = &answer.explanation {
        object["explanation"] = explained(asked, explanation);
    }
    writeln!(out, "{}", visible_json(&object))
}

fn explained(asked: &Asked, explanation: &Explanation) -> Value {
    let candidates = match asked.scheme.algorithm {
        Algorithm::Token => json!(explanation.candidates.len()),
        _ => json!(explanation.candidates),
    };
    let mistakes: Vec<Value> = explanation.mistakes.iter().copied().map(mistake).collect();
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    json!({
        "signed": explanation.signed.as_ref().map(text),
        "candidates": candidates,
        "left_out": explanation.left_out.is_some(),
        "gave_up": explanation.gave_up,
        "mistakes": mistakes,
        "body_that_verifies": explanation.body.as_ref().map(text),
        "url_that_verifies": explanation.url,
    })
}

fn mistake(mistake: Mistake) -> Value {
    json!({ "name": name(mistake), "text": mistake.to_string() })
}

/// A name that stays.
const fn name(mistake: Mistake) -> &'static str {
    match mistake {
        Mistake::BodyReserialised => "body_reserialised",
        Mistake::BodyLineEnds => "body_line_ends",
        Mistake::BodyByteOrderMark => "body_byte_order_mark",
        Mistake::BodyLength => "body_length",
        Mistake::SecretDecoded => "secret_decoded",
        Mistake::SecretNotDecoded => "secret_not_decoded",
        Mistake::SecretPrefix => "secret_prefix",
        Mistake::SecretBlanks => "secret_blanks",
        Mistake::TimeMissing => "time_missing",
        Mistake::TimeTwice => "time_twice",
        Mistake::TimeUnreadable => "time_unreadable",
        Mistake::TimeInMilliseconds => "time_in_milliseconds",
        Mistake::TimeInSeconds => "time_in_seconds",
        Mistake::TimeOutsideWindow => "time_outside_window",
        Mistake::ListAsOneValue => "list_as_one_value",
        Mistake::UrlPort => "url_port",
        Mistake::UrlSpelling => "url_spelling",
        Mistake::SecretNotLive => "secret_not_live",
        Mistake::OtherSecret => "other_secret",
        Mistake::TagEncoding => "tag_encoding",
        Mistake::IdHoldsTime => "id_holds_time",
    }
}
