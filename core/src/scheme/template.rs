//! Schemes that users declare: a template in text, and the checks before first use.

use alloc::{string::ToString, vec::Vec};

use super::{
    Algorithm, BadScheme, Construction, Grammar, KeyForm, Part, Place, Scheme, Template, Text,
    UrlForm, apart, named, probe,
};

/// Reads `v0:{timestamp}:{body}`: fixed text and `{id}`, `{timestamp}`, `{body}`, `{url}`, `{path}`,
/// `{method}`, `{header:Name}`, `{compact_body}`, `{form}`.
pub fn parse_template(template: &str) -> Result<Vec<Part>, BadScheme> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((front, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}').ok_or(BadScheme::Template)?;
        push_text(&mut parts, front)?;
        parts.push(part(name).ok_or(BadScheme::Template)?);
        rest = behind;
    }
    push_text(&mut parts, rest)?;
    Ok(parts)
}

fn push_text(parts: &mut Vec<Part>, text: &str) -> Result<(), BadScheme> {
    if text.contains('}') {
        return Err(BadScheme::Template);
    }
    if !text.is_empty() {
        parts.push(Part::Text(Text::Owned(text.to_string())));
    }
    Ok(())
}

fn part(name: &str) -> Option<Part> {
    Some(match name {
        "id" => Part::Id,
        "timestamp" => Part::Timestamp,
        "body" => Part::Body,
        "compact_body" => Part::CompactBody,
        "form" => Part::FormParams,
        "url" => Part::Url(UrlForm::Exact),
        "path" => Part::Path,
        "method" => Part::Method,
        other => match other.split_once(':') {
            Some(("header", name)) if !name.is_empty() => {
                Part::Header(Text::Owned(name.to_string()))
            }
            _ => return None,
        },
    })
}

impl Scheme {
    /// Whether a declared scheme can verify anything, and nothing that was not signed. What ships is
    /// built as its provider builds it, so of that less is asked.
    pub fn check(&self) -> Result<(), BadScheme> {
        let ships = named(&self.name.to_ascii_lowercase());
        let is_declared = ships != Some(self);
        if is_declared && (ships.is_some() || !probe::is_name(&self.name)) {
            return Err(BadScheme::Name);
        }
        if !self.key_fits() {
            return Err(BadScheme::KeyForm);
        }
        let Construction::Template(template) = &self.construction else { return Ok(()) };
        let signs = |part: &Part| template.signed.contains(part);
        let anything = template.signed.iter().any(|part| !matches!(part, Part::Text(_)));
        if !anything && self.algorithm != Algorithm::Token {
            return Err(BadScheme::SignsNothing);
        }
        let needs_id = signs(&Part::Id);
        let in_header = matches!(template.clock, Some((Place::Header, _)));
        for names in template.names.iter() {
            if (needs_id && names.id.is_none()) || (in_header && names.timestamp.is_none()) {
                return Err(BadScheme::MissingName);
            }
        }
        let member = matches!(&template.grammar, Grammar::Pairs { timestamp: Some(_), .. });
        let clock = match template.clock {
            None => !signs(&Part::Timestamp),
            Some((Place::Member, _)) => member,
            Some((Place::Header | Place::Body(_), _)) => true,
        };
        if !clock || template.names.is_empty() {
            return Err(BadScheme::MissingName);
        }
        template.names.iter().try_for_each(probe::names)?;
        probe::grammar(&template.grammar)?;
        probe::parts(template)?;
        if is_declared {
            self.vouches(template)?;
        }
        probe::round_trip(self, template)
    }

    /// Whether the time is signed wherever it stands, and each tag belongs to one request.
    fn vouches(&self, template: &Template) -> Result<(), BadScheme> {
        let signs_time = template.signed.contains(&Part::Timestamp);
        if self.algorithm == Algorithm::Token {
            let has_time = signs_time || template.clock.is_some() || self.tolerance.is_some();
            return if has_time { Err(BadScheme::Token) } else { Ok(()) };
        }
        let is_signed = match &template.clock {
            Some((Place::Body(_), _)) => template.signs_json(),
            Some((Place::Header | Place::Member, _)) => template.signs(self.algorithm).time,
            None => true,
        };
        if !is_signed {
            return Err(BadScheme::UnsignedTime);
        }
        if apart::in_one_way(self, template) { Ok(()) } else { Err(BadScheme::Ambiguous) }
    }

    fn key_fits(&self) -> bool {
        match self.algorithm {
            Algorithm::Ed25519 => self.key == KeyForm::Ed25519Public,
            Algorithm::EcdsaP256Der | Algorithm::EcdsaP256Raw => self.key == KeyForm::P256Public,
            _ => !matches!(self.key, KeyForm::Ed25519Public | KeyForm::P256Public),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_text_and_names_in_braces() {
        assert_eq!(
            parse_template("v0:{timestamp}:{body}"),
            Ok(alloc::vec![
                Part::Text("v0:".into()),
                Part::Timestamp,
                Part::Text(":".into()),
                Part::Body
            ])
        );
        assert_eq!(parse_template("{header:Date}"), Ok(alloc::vec![Part::Header("Date".into())]));
        for bad in ["{", "}", "{nobody}", "{header:}", "a}b", "{body"] {
            assert_eq!(parse_template(bad), Err(BadScheme::Template), "{bad}");
        }
    }

    #[test]
    fn every_row_that_ships_passes_its_own_check() {
        for scheme in super::super::all() {
            assert_eq!(scheme.check(), Ok(()), "{}", scheme.name);
        }
    }
}
