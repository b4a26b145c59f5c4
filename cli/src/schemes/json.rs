//! Schemes for programs.

use std::io::{self, Write};

use hookproof_core::scheme::{self, Scheme, Side, UNSUPPORTED, Unsupported};
use serde_json::{Value, json};

use crate::sheet;

pub(super) fn one(scheme: &Scheme, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", supported(scheme))
}

pub(super) fn unsupported(known: &Unsupported, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", refused(known))
}

pub(super) fn all(out: &mut dyn Write) -> io::Result<()> {
    let rows = scheme::all().map(supported).chain(UNSUPPORTED.iter().map(refused));
    writeln!(out, "{}", Value::Array(rows.collect()))
}

fn supported(scheme: &Scheme) -> Value {
    let template = sheet::template(scheme);
    let names = template.and_then(|template| template.names.first());
    let tolerance = scheme.tolerance.map(|tolerance| {
        let side = match tolerance.side {
            Side::Both => "both",
            Side::PastOnly => "past_only",
        };
        json!({ "seconds": tolerance.seconds, "side": side, "stated": tolerance.stated })
    });
    json!({
        "scheme": scheme.name,
        "aliases": super::aliases(scheme),
        "provider": scheme.provider,
        "supported": true,
        "legacy": scheme.facts.legacy,
        "content": sheet::content(scheme),
        "signed": sheet::signed(scheme.signs()),
        "not_signed": sheet::unsigned(scheme),
        "signs_what_it_lists": sheet::signs_what_it_lists(scheme),
        "warnings": sheet::warnings(scheme),
        "algorithm": sheet::algorithm(scheme.algorithm),
        "encoding": sheet::encoding(scheme),
        "headers": {
            "signature": sheet::signature_headers(scheme),
            "id": scheme.id_header(),
            "timestamp": names.and_then(|names| names.timestamp.as_deref()),
        },
        "list": sheet::list(scheme),
        "time": sheet::clock(scheme),
        "unit": template.and_then(|template| template.clock.as_ref()).map(|(_, unit)| unit.name()),
        "tolerance": tolerance,
        "key": sheet::key(&scheme.key),
        "signs_with_each_secret": scheme.signs_with_all(),
        "acknowledge": scheme.facts.acknowledge,
        "handshake": scheme.facts.handshake,
        "published_vectors": scheme.facts.vectors,
        "source": scheme.facts.source,
    })
}

fn refused(known: &Unsupported) -> Value {
    json!({
        "scheme": known.name, "provider": known.provider, "supported": false, "why": known.why,
    })
}
