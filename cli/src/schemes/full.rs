//! One scheme, in full.

use std::io::{self, Write};

use hookproof_core::scheme::{Names, Scheme};

use crate::{
    say::{BAD, HEAD, OPEN},
    sheet,
};

/// Prints what is known of it, what is not signed most loudly.
pub(super) fn print(scheme: &Scheme, out: &mut dyn Write) -> io::Result<()> {
    let aliases = super::aliases(scheme);
    let also =
        if aliases.is_empty() { String::new() } else { format!(" (or {})", aliases.join(", ")) };
    writeln!(out, "{HEAD}{}{HEAD:#}{also}", scheme.name)?;
    line(out, "used by", &scheme.provider)?;
    if scheme.facts.legacy {
        writeln!(out, "{OPEN}{:<13}{OPEN:#}{LEGACY}", "legacy")?;
    }
    line(out, "signed", &sheet::content(scheme))?;
    for (at, warning) in sheet::warnings(scheme).iter().enumerate() {
        let label = if at == 0 { "NOT signed" } else { "" };
        writeln!(out, "{BAD}{label:<13}{BAD:#}{warning}")?;
    }
    for (label, text) in facts(scheme) {
        line(out, label, &text)?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{HEAD}{label:<13}{HEAD:#}{text}")
}

fn facts(scheme: &Scheme) -> Vec<(&'static str, String)> {
    let encoding = sheet::encoding(scheme);
    let mut all = vec![
        ("algorithm", format!("{}, written as {encoding}", sheet::algorithm(scheme.algorithm))),
        ("tag", tag(scheme)),
    ];
    all.extend(headers(scheme));
    if sheet::signs_what_it_lists(scheme) {
        all.push(("components", COMPONENTS.into()));
    }
    all.extend([
        ("time", sheet::clock(scheme)),
        ("tolerance", sheet::tolerance(scheme.tolerance)),
        ("secret", sheet::key(&scheme.key)),
        ("two secrets", rotation(scheme)),
        ("acknowledge", scheme.facts.acknowledge.to_string()),
        ("handshake", scheme.facts.handshake.as_deref().unwrap_or("none").to_owned()),
        ("vectors", vectors(scheme)),
        ("source", scheme.facts.source.to_string()),
    ]);
    all
}

fn tag(scheme: &Scheme) -> String {
    let headers = sheet::signature_headers(scheme).join(" or ");
    let list = sheet::list(scheme);
    if headers.is_empty() { list } else { format!("{headers}: {list}") }
}

/// The other headers, each with what signs it.
fn headers(scheme: &Scheme) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let Some(template) = sheet::template(scheme) else { return all };
    let names_of = |of: fn(&Names) -> Option<&str>| -> Option<String> {
        let names: Vec<&str> = template.names.iter().filter_map(of).collect();
        (!names.is_empty()).then(|| names.join(" or "))
    };
    if let Some(id) = names_of(|names| names.id.as_deref()) {
        let note = if scheme.signs().id { "signed" } else { "NOT signed" };
        all.push(("delivery id", format!("{id}, {note}")));
    }
    if sheet::joins_id_and_time(scheme) {
        all.push(("", ID_AND_TIME.into()));
    }
    for (name, value) in template.fixed.iter() {
        all.push(("must say", format!("{name}: {value}, where it is present")));
    }
    all
}

fn rotation(scheme: &Scheme) -> String {
    let how = if scheme.signs_with_all() {
        "a request can carry a tag of each"
    } else {
        "a request carries one tag: keep both secrets while the provider changes over"
    };
    how.to_owned()
}

fn vectors(scheme: &Scheme) -> String {
    match scheme.facts.vectors {
        0 => "no published vector: the cases are generated from the documented construction".into(),
        1 => "1 published vector is checked".into(),
        number => format!("{number} published vectors are checked"),
    }
}

const ID_AND_TIME: &str = "an id with a dot is taken as it is; one that holds a time (`a.1700000000`) \
                           is not signed, since its text can be taken apart in two ways";
const COMPONENTS: &str = "header fields whole, @method, @target-uri, @authority, @scheme, @request-target, @path, \
                          @query, @query-param;name, @status; a signature over a component with another \
                          parameter (;sf ;bs ;key ;req ;tr) is passed over";
const LEGACY: &str =
    "only for senders that cannot do better; used only where it is asked for by name";
