//! Evaluates numeric expressions over parameters.

use model::units::{parse_count, parse_share};
use model::{float, whole};

use crate::error::{PlanError, Source};
use crate::nearest::nearest;
use crate::syntax::Pairs;

/// Name of the number of loaded rows.
const LOADED: &str = "loaded";
/// Longest expression: a sanity limit that also bounds the recursion.
const LENGTH_MAX: usize = 200;

/// The loaded rows and the parameters, in the file's order, with their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variables(Vec<(String, i64)>);

impl Variables {
    /// Assigns the experiment's values, or defaults, to the parameters.
    ///
    /// `set` are the experiment's assignments, in its own file.
    pub(super) fn of(
        (file, known): (&Source, &Pairs),
        (experiment, set): (&Source, &Pairs),
        loaded: u64,
    ) -> Result<Self, PlanError> {
        let names: Vec<_> = known.iter().map(|(name, _)| name.get_ref().as_str()).collect();
        for (name, _) in set {
            let (place, name) = (name.span(), name.get_ref().as_str());
            if !names.contains(&name) {
                let otherwise = match names.is_empty() {
                    true => "it has none: leave this out".to_owned(),
                    false => format!("parameters: {}", names.join(", ")),
                };
                return Err(PlanError::new(format!("the application has no parameter `{name}`"))
                    .at(experiment, place, "no such parameter")
                    .meant(name, names, otherwise));
            }
        }
        let mut variables = vec![(LOADED.to_owned(), i64::try_from(loaded).unwrap_or(i64::MAX))];
        for (name, default) in known {
            let (place, name) = (name.span(), name.get_ref());
            if !is_name(name) || [LOADED, "table", "rows"].contains(&name.as_str()) {
                return Err(PlanError::new(format!("`{name}` cannot be a parameter's name"))
                    .at(file, place, "here")
                    .remedy(
                        "use letters, digits and `_`; `loaded`, `table` and `rows` are taken",
                    ));
            }
            let own = set.iter().find(|(set, _)| set.get_ref() == name);
            let (source, text) = own.map_or((file, default), |(_, text)| (experiment, text));
            let value = value_of(text.get_ref(), loaded)
                .map_err(|why| PlanError::new(why).at(source, text.span(), "here"))?;
            variables.push((name.clone(), value));
        }
        Ok(Self(variables))
    }

    /// Returns the loaded rows.
    pub(super) fn loaded(&self) -> u64 {
        self.0.first().map_or(0, |(_, loaded)| loaded.unsigned_abs())
    }

    /// Evaluates sums and products of numbers and names.
    pub(super) fn evaluate(&self, text: &str) -> Result<i64, String> {
        let text = text.trim();
        if text.len() > LENGTH_MAX {
            return Err(format!("an expression of {} characters is too long", text.len()));
        }
        let value = self.part(text, text)?;
        i64::try_from(value).map_err(|_beyond| format!("`{text}` is too large"))
    }

    /// Evaluates `part` of the expression `whole`: at its last sum, or else its last product.
    fn part(&self, part: &str, whole: &str) -> Result<i128, String> {
        let part = part.trim();
        for signs in [['+', '-'], ['*', '/']] {
            // A sign at the beginning belongs to the number.
            let Some(at) = part.rfind(signs).filter(|at| *at > 0) else { continue };
            let (left, right) =
                (self.part(&part[..at], whole)?, self.part(&part[at + 1..], whole)?);
            let value = match &part[at..=at] {
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                _ if right == 0 => return Err(format!("`{whole}` divides by zero")),
                _ => left.checked_div(right),
            };
            return value.ok_or_else(|| format!("`{whole}` is too large"));
        }
        if let Some(number) = part.strip_prefix('-') {
            return self.part(number, whole).map(|value| -value);
        }
        if part.starts_with(|first: char| first.is_ascii_digit()) {
            return parse_count(part).map(i128::from);
        }
        if part.is_empty() {
            return Err(format!("`{whole}` lacks a number or a name"));
        }
        if !is_name(part) {
            return Err(format!("`{part}` is neither a number nor a name"));
        }
        let found = self.0.iter().find(|(name, _)| name == part);
        found.map(|(_, value)| i128::from(*value)).ok_or_else(|| {
            let names: Vec<_> = self.0.iter().map(|(name, _)| name.as_str()).collect();
            match nearest(part, names.iter().copied()) {
                Some(word) => format!("no parameter is named `{part}`: did you mean `{word}`?"),
                None => format!("no parameter is named `{part}`; there are {}", names.join(", ")),
            }
        })
    }
}

/// Parses a parameter: a count (`5M`), or a share of the loaded rows (`80%`).
fn value_of(text: &str, loaded: u64) -> Result<i64, String> {
    if let Some(value) = text.trim().parse::<i64>().ok().filter(|value| *value < 0) {
        return Ok(value);
    }
    let value = if text.trim().ends_with('%') {
        share_of(loaded, parse_share(text)?)
    } else {
        parse_count(text).map_err(|_why| {
            format!("`{text}` is not a value: write a count (5M) or a share (80%)")
        })?
    };
    i64::try_from(value).map_err(|_beyond| format!("`{text}` is too large"))
}

/// Returns a share of a count, rounded.
pub(super) fn share_of(count: u64, share: f64) -> u64 {
    whole((float(count) * share).round())
}

/// Returns whether a text is a valid identifier.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        let known = [("loaded", 1000), ("tables", 8), ("zero", 0)];
        Variables(known.map(|(name, value)| (name.to_owned(), value)).into())
    }

    #[test]
    fn expressions_follow_arithmetic() {
        let variables = |text| variables().evaluate(text);
        assert_eq!(variables("7"), Ok(7));
        assert_eq!(variables(" loaded / tables + 1 "), Ok(126));
        assert_eq!(variables("1 + 2 * 3 - 4"), Ok(3));
        assert_eq!(variables("-3 * 3 - loaded / tables / 5"), Ok(-34));
        assert_eq!(variables("2k"), Ok(2000));
    }

    #[test]
    fn an_invalid_expression_is_reported() {
        let refused = |text| variables().evaluate(text).unwrap_err();
        assert_eq!(refused("table"), "no parameter is named `table`: did you mean `tables`?");
        assert_eq!(
            refused("speed"),
            "no parameter is named `speed`; there are loaded, tables, zero"
        );
        assert_eq!(refused("1 / zero"), "`1 / zero` divides by zero");
        assert_eq!(refused("1 +"), "`1 +` lacks a number or a name");
        assert_eq!(refused("1 2"), "`1 2` is not a count: write 1000, 200k, 4M or 2B");
        assert_eq!(
            refused("9000000000B * 9000000000B"),
            "`9000000000B * 9000000000B` is too large"
        );
        assert!(refused(&"-".repeat(300)).contains("too long"));
    }

    #[test]
    fn a_parameter_is_a_count_or_a_share_of_the_rows() {
        assert_eq!(value_of("80%", 1000), Ok(800));
        assert_eq!(value_of("5M", 1000), Ok(5_000_000));
        assert_eq!(value_of("-3", 1000), Ok(-3));
        let refused = value_of("many", 1000).unwrap_err();
        assert_eq!(refused, "`many` is not a value: write a count (5M) or a share (80%)");
    }
}
