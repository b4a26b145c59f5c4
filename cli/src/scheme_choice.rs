//! Which scheme: one that ships, by its name, or one that a user declares in a file.

use std::{borrow::Cow, path::PathBuf};

use clap::Args;
use hookproof_core::scheme::{self, Scheme, Tolerance, UNSUPPORTED};

use crate::{declared, input::Fault};

/// The scheme of a request.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct Choice {
    /// A scheme by its name or a short one: swh, stripe, paymos, github; all: `hookproof schemes`.
    #[arg(long, value_name = "NAME", value_parser = named)]
    scheme: Option<Known>,

    /// A scheme of your own, in TOML (see `hookproof schemes --help`).
    #[arg(long, value_name = "FILE.toml")]
    scheme_file: Option<PathBuf>,
}

/// A scheme that ships.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known(&'static Scheme);

impl Choice {
    /// The scheme, with another tolerance where one is asked for.
    pub(crate) fn scheme(&self, tolerance_s: Option<u32>) -> Result<Scheme, Fault> {
        let mut scheme = match (&self.scheme, &self.scheme_file) {
            (Some(Known(scheme)), _) => (*scheme).clone(),
            (None, Some(path)) => declared::read(path)?,
            (None, None) => return Err(Fault::misuse("expected --scheme or --scheme-file")),
        };
        if let Some(seconds) = tolerance_s {
            let side = scheme.tolerance.unwrap_or(Tolerance::OURS).side;
            scheme.tolerance = Some(Tolerance { seconds, side, stated: false });
        }
        Ok(scheme)
    }
}

/// The scheme with this name, or what is near.
pub(crate) fn named(name: &str) -> Result<Known, String> {
    if let Some(scheme) = scheme::named(name) {
        return Ok(Known(scheme));
    }
    if let Some(known) = UNSUPPORTED.iter().find(|known| known.name == name) {
        return Err(format!("{name} is known and not verified: {}", known.why));
    }
    Err(format!("expected a scheme; near are {}; all: `hookproof schemes`", near(name)))
}

/// The names that are most like this one, short ones and those of providers included.
pub(crate) fn near(name: &str) -> String {
    let lower = name.to_lowercase();
    let by_name = scheme::all().map(|row| (row.name.to_lowercase(), row.name.clone()));
    let by_provider = scheme::all().map(|row| (row.provider.to_lowercase(), row.name.clone()));
    let by_alias =
        scheme::ALIASES.iter().map(|(alias, _)| ((*alias).to_owned(), Cow::Borrowed(*alias)));
    let mut all: Vec<(String, Cow<'static, str>)> =
        by_alias.chain(by_name).chain(by_provider).collect();
    all.sort_by_key(|(text, _)| {
        (!text.contains(&lower), strsim::damerau_levenshtein(text, &lower))
    });
    let mut names: Vec<Cow<'static, str>> = Vec::new();
    for (_, name) in all {
        if !names.contains(&name) && names.len() < NEAR {
            names.push(name);
        }
    }
    names.join(", ")
}

/// How many near names are shown.
const NEAR: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_has_near_ones_and_an_unsupported_one_its_reason() {
        assert!(named("stripe").is_ok() && named("standard-webhooks-v1").is_ok());
        let near = named("strpe").map(|_| ()).unwrap_err();
        assert!(near.contains("near are stripe"), "{near}");
        assert!(named("Bitbucket").map(|_| ()).unwrap_err().contains("hub-signature-sha256"));
        assert!(named("sns-rsa").map(|_| ()).unwrap_err().contains("RSA"));
    }
}
