//! Evaluates numeric expressions over parameters.

use model::limits::is_sql_name;
use model::units::{parse_count, parse_share};
use model::{float, whole};
use reader::error::{PlanError, Source, refuse};
use reader::nearest;
use reader::place::Placed;
use reader::syntax::Pairs;

/// Name of the number of loaded rows.
const LOADED: &str = "loaded";
/// Name of the repetition of a statement, from 1.
const NTH: &str = "nth";
/// Value of a parameter for tables of which each client has its own.
pub(super) const PER_CLIENT: &str = "per client";
/// A sign and whether it holds between two numbers.
type Comparison = (&'static str, fn(&i128, &i128) -> bool);
/// Comparisons, longer signs first; their value is 1 or 0.
const COMPARISONS: [Comparison; 5] =
    [(">=", i128::ge), ("<=", i128::le), (">", i128::gt), ("<", i128::lt), ("=", i128::eq)];
/// Longest expression: a sanity limit that also bounds the recursion.
const LENGTH_MAX: usize = 200;

/// What an experiment decides of its application.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// The experiment's file, which has the places of the parameters.
    pub experiment: &'a Source,
    /// The parameters that it sets.
    pub parameters: &'a Pairs,
    /// The rows that it loads.
    pub rows: u64,
    /// The most clients of its levels.
    pub clients: u32,
}

/// The loaded rows and the parameters, in the file's order, with their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variables {
    known: Vec<(String, i64)>,
    /// Parameters that are [`PER_CLIENT`]; as a number, the most clients.
    per_client: Vec<String>,
}

impl Variables {
    /// Assigns the experiment's values, or defaults, to the parameters.
    ///
    /// A value may be an expression of those before it.
    pub(super) fn of(known: &Pairs, setup: Setup<'_>) -> Result<Self, PlanError> {
        let Setup { experiment, parameters: set, rows: loaded, clients } = setup;
        let names: Vec<_> = known.iter().map(|(name, _)| name.value.as_str()).collect();
        for (Placed { value: name, place }, _) in set {
            let name = name.as_str();
            if !names.contains(&name) {
                let otherwise = match names.is_empty() {
                    true => "the application has no parameters: leave the parameter out".to_owned(),
                    false => format!("parameters: {}", names.join(", ")),
                };
                return Err(PlanError::new(format!("the application has no parameter `{name}`"))
                    .at(place.clone(), "no such parameter")
                    .meant(name, names, otherwise)
                    .within(experiment));
            }
        }
        let loaded_rows = i64::try_from(loaded).unwrap_or(i64::MAX);
        let mut variables =
            Self { known: vec![(LOADED.to_owned(), loaded_rows)], per_client: Vec::new() };
        for (Placed { value: name, place }, default) in known {
            if !is_sql_name(name) || [LOADED, NTH, "table", "rows"].contains(&name.as_str()) {
                let why = format!("`{name}` cannot be a parameter's name");
                let remedy = "use letters, digits and `_`; the names `loaded`, `nth`, `table` and \
                              `rows` are reserved";
                return refuse(place.clone(), why, remedy);
            }
            let own = set.iter().find(|(set, _)| set.value == *name).map(|(_, text)| text);
            let Placed { value: text, place } = own.unwrap_or(default);
            if text.trim() == PER_CLIENT {
                variables.per_client.push(name.clone());
                variables.known.push((name.clone(), i64::from(clients)));
                continue;
            }
            let value = variables.parameter(text).map_err(|why| {
                let error = PlanError::here(place.clone(), why);
                if own.is_some() { error.within(experiment) } else { error }
            })?;
            variables.known.push((name.clone(), value));
        }
        Ok(variables)
    }

    /// Returns whether a text is [`PER_CLIENT`], or a parameter that is.
    pub(super) fn is_per_client(&self, text: &str) -> bool {
        text == PER_CLIENT || self.per_client.iter().any(|name| name == text)
    }

    /// Returns the variables of the repetition of a statement, which counts from 1.
    pub(super) fn of_repetition(&self, nth: u16) -> Self {
        let mut of_repetition = self.clone();
        of_repetition.known.push((NTH.to_owned(), i64::from(nth)));
        of_repetition
    }

    /// Returns the loaded rows.
    pub(super) fn loaded(&self) -> u64 {
        self.known.first().map_or(0, |(_, loaded)| loaded.unsigned_abs())
    }

    /// Evaluates a parameter: an expression (`5M`), or a share of the loaded rows (`80%`).
    fn parameter(&self, text: &str) -> Result<i64, String> {
        match text.trim().ends_with('%') {
            true => integer(share_of(self.loaded(), parse_share(text)?), text),
            false => self.evaluate(text),
        }
    }

    /// Evaluates sums and products of numbers and names, or a comparison of two: 1 or 0.
    pub(super) fn evaluate(&self, text: &str) -> Result<i64, String> {
        let text = text.trim();
        if text.len() > LENGTH_MAX {
            return Err(format!("an expression of {} characters is too long", text.len()));
        }
        let compared = COMPARISONS
            .into_iter()
            .find_map(|(sign, holds)| text.split_once(sign).map(|sides| (sides, holds)));
        let value = match compared {
            Some(((left, right), holds)) => {
                i128::from(holds(&self.part(left, text)?, &self.part(right, text)?))
            }
            None => self.part(text, text)?,
        };
        integer(value, text)
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
        if !is_sql_name(part) {
            return Err(format!("`{part}` is neither a number nor a name"));
        }
        let found = self.known.iter().find(|(name, _)| name == part);
        found.map(|(_, value)| i128::from(*value)).ok_or_else(|| {
            let names: Vec<_> = self.known.iter().map(|(name, _)| name.as_str()).collect();
            match nearest(part, names.iter().copied()) {
                Some(word) => format!("no parameter is named `{part}`: did you mean `{word}`?"),
                None => format!("no parameter is named `{part}`; known: {}", names.join(", ")),
            }
        })
    }
}

fn integer(value: impl TryInto<i64>, text: &str) -> Result<i64, String> {
    value.try_into().map_err(|_beyond| format!("`{text}` is too large"))
}

/// Returns a share of a count, rounded.
pub(super) fn share_of(count: u64, share: f64) -> u64 {
    whole((float(count) * share).round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reader::place::Place;

    fn variables() -> Variables {
        let known = [("loaded", 1000), ("tables", 8), ("zero", 0)];
        let known = known.map(|(name, value)| (name.to_owned(), value)).into();
        Variables { known, per_client: vec!["tables".to_owned()] }
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
    fn comparisons_are_one_or_zero() {
        let value = |text| variables().of_repetition(3).evaluate(text);
        let holds = ["tables > 7", "loaded / tables >= 125", "nth = 3", "zero < 1", "nth <= 3"];
        assert!(holds.into_iter().all(|text| value(text) == Ok(1)));
        assert_eq!([value("tables < 8"), value("zero = 1")], [Ok(0), Ok(0)]);
        assert_eq!(value("zero >"), Err("`zero >` lacks a number or a name".to_owned()));
        assert!(value("1 < 2 < 3").is_err());
    }

    #[test]
    fn a_parameter_may_follow_from_those_before_it() {
        let pairs = |pairs: &[(&str, &str)]| -> Pairs {
            let typed = |text: &str| Placed::new(text.to_owned(), Place::Unwritten);
            pairs.iter().map(|(name, value)| (typed(name), typed(value))).collect()
        };
        let known =
            [("tables", "per client"), ("each", "loaded / tables"), ("last", "each * 2 + 1")];
        let experiment = &Source::default();
        let of = |set: &[(&str, &str)]| {
            let setup = Setup { experiment, parameters: &pairs(set), rows: 1000, clients: 4 };
            Variables::of(&pairs(&known), setup)
        };
        assert_eq!(of(&[]).unwrap().evaluate("last"), Ok(501));
        assert_eq!(of(&[("tables", "2")]).unwrap().evaluate("last"), Ok(1001));
        let error = of(&[("tables", "last + 1")]).unwrap_err().to_string();
        assert!(error.starts_with("no parameter is named `last`"), "{error}");
        let error = of(&[("tables", "0")]).unwrap_err().to_string();
        assert_eq!(error, "`loaded / tables` divides by zero");
    }

    #[test]
    fn a_parameter_may_be_one_per_client() {
        assert!(variables().is_per_client("tables") && variables().is_per_client(PER_CLIENT));
        assert!(!variables().is_per_client("zero"));
    }

    #[test]
    fn an_invalid_expression_is_reported() {
        let refused = |text| variables().evaluate(text).unwrap_err();
        assert_eq!(refused("table"), "no parameter is named `table`: did you mean `tables`?");
        assert_eq!(refused("speed"), "no parameter is named `speed`; known: loaded, tables, zero");
        assert_eq!(refused("1 / zero"), "`1 / zero` divides by zero");
        assert_eq!(refused("1 +"), "`1 +` lacks a number or a name");
        assert_eq!(refused("1 2"), "`1 2` is not a count: write 1000, 1.5k, 4M or 2B");
        assert_eq!(
            refused("9000000000B * 9000000000B"),
            "`9000000000B * 9000000000B` is too large"
        );
        assert!(refused(&"-".repeat(300)).contains("too long"));
    }

    #[test]
    fn a_parameter_is_a_count_or_a_share_of_the_rows() {
        assert_eq!(variables().parameter("80%"), Ok(800));
        assert_eq!(variables().parameter("5M"), Ok(5_000_000));
        assert_eq!(variables().parameter("-3"), Ok(-3));
        let refused = variables().parameter("many").unwrap_err();
        assert!(refused.starts_with("no parameter is named `many`"), "{refused}");
    }
}
