//! Evaluates numeric expressions over parameters.

use std::ops::Range;

use model::options::Text;
use model::units::{parse_count, parse_share};
use toml::Spanned;

use crate::error::{PlanError, Source};
use crate::named::Named;
use crate::nearest::nearest;

/// Name of the number of loaded rows.
const LOADED: &str = "loaded";
/// Longest expression: a sanity limit that also bounds the nesting depth.
const LENGTH_MAX: usize = 200;

/// Parameters that an experiment sets: names and values as written.
pub(crate) type Assignments = Vec<(Spanned<String>, Spanned<Text>)>;

/// A parameter and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) value: i64,
}

/// Values of the names in one experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Variables {
    /// Rows that the experiment loads.
    pub(crate) loaded: u64,
    /// The parameters, in the file's order.
    pub(crate) parameters: Vec<Parameter>,
}

impl Variables {
    /// Assigns the experiment's values, or defaults, to the parameters.
    ///
    /// `set` are the experiment's assignments, in its own file.
    pub(crate) fn of(
        written: (&Source, &Named<Text>),
        set: (&Source, &Assignments),
        loaded: u64,
    ) -> Result<Self, PlanError> {
        let ((file, known), (experiment, set)) = (written, set);
        for (name, _) in set {
            if known.get(name.get_ref()).is_none() {
                let error = PlanError::new(format!(
                    "the application has no parameter `{}`",
                    name.get_ref()
                ))
                .at(experiment, name.span(), "no such parameter");
                let names: Vec<_> = known.names().collect();
                return Err(match nearest(name.get_ref(), names.iter().copied()) {
                    Some(word) => error.remedy(format!("did you mean `{word}`?")),
                    None if names.is_empty() => error.remedy("it has none: leave this out"),
                    None => error.remedy(format!("parameters: {}", names.join(", "))),
                });
            }
        }
        let mut variables = Self { loaded, parameters: Vec::new() };
        for (name, default) in &known.0 {
            if !is_name(name.get_ref()) || [LOADED, "table", "rows"].contains(&&**name.get_ref()) {
                return Err(PlanError::new(format!(
                    "`{}` cannot be a parameter's name",
                    name.get_ref()
                ))
                .at(file, name.span(), "here")
                .remedy("use letters, digits and `_`; `loaded`, `table` and `rows` are taken"));
            }
            let own = set.iter().find(|(set, _)| set.get_ref() == name.get_ref());
            let (source, text) = own.map_or((file, default), |(_, text)| (experiment, text));
            let value = value_of(&text.get_ref().0, loaded)
                .map_err(|why| PlanError::new(why).at(source, text.span(), "here"))?;
            variables.parameters.push(Parameter { name: name.get_ref().clone(), value });
        }
        Ok(variables)
    }

    /// Evaluates an expression.
    pub(crate) fn evaluate(&self, text: &str) -> Result<i64, String> {
        let text = text.trim();
        if text.len() > LENGTH_MAX {
            return Err(format!("an expression of {} characters is too long", text.len()));
        }
        let mut sum = Parser { variables: self, text, at: 0 };
        let value = sum.sum()?;
        if sum.rest().is_empty() {
            return i64::try_from(value).map_err(|_beyond| format!("`{text}` is too large"));
        }
        Err(format!("`{}` is not understood in `{text}`", sum.rest()))
    }

    /// Evaluates an expression that must be at least `least`.
    pub(crate) fn at_least(
        &self,
        source: &Source,
        (text, place): (&str, Range<usize>),
        least: i64,
        what: &str,
    ) -> Result<u64, PlanError> {
        let refuse = |why: String| PlanError::new(why).at(source, place.clone(), "here");
        let value = self.evaluate(text).map_err(refuse)?;
        if value < least {
            let is = if text.trim() == value.to_string() {
                String::new()
            } else {
                format!(", and `{text}` is {value}")
            };
            return Err(refuse(format!("{what} must be at least {least}{is}")));
        }
        Ok(u64::try_from(value).unwrap_or(0))
    }

    /// Returns the value of a name.
    fn value_of_name(&self, name: &str) -> Result<i128, String> {
        if name == LOADED {
            return Ok(i128::from(self.loaded));
        }
        let found = self.parameters.iter().find(|parameter| parameter.name == name);
        found.map(|parameter| i128::from(parameter.value)).ok_or_else(|| {
            let names = self.parameters.iter().map(|parameter| parameter.name.as_str());
            let names: Vec<_> = [LOADED].into_iter().chain(names).collect();
            match nearest(name, names.iter().copied()) {
                Some(word) => format!("no parameter is named `{name}`: did you mean `{word}`?"),
                None => format!("no parameter is named `{name}`; there are {}", names.join(", ")),
            }
        })
    }
}

/// Parses a parameter: a count (`5M`), or a share of the loaded rows (`80%`).
fn value_of(text: &str, loaded: u64) -> Result<i64, String> {
    if text.trim().ends_with('%') {
        return i64::try_from(share_of(loaded, parse_share(text)?))
            .map_err(|_beyond| format!("`{text}` of the rows is too many"));
    }
    let negative = text.trim().parse::<i64>().ok().filter(|value| *value < 0);
    if let Some(value) = negative {
        return Ok(value);
    }
    let value = parse_count(text)
        .map_err(|_why| format!("`{text}` is not a value: write a count (5M) or a share (80%)"))?;
    i64::try_from(value).map_err(|_beyond| format!("`{text}` is too large"))
}

/// Returns a share of a count, rounded.
#[expect(clippy::cast_precision_loss, reason = "a share is approximate anyway")]
#[expect(clippy::cast_possible_truncation, reason = "a share of a u64 fits a u64")]
#[expect(clippy::cast_sign_loss, reason = "shares are positive")]
pub(super) fn share_of(count: u64, share: f64) -> u64 {
    (count as f64 * share).round() as u64
}

/// Returns whether a text is a valid identifier.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// A recursive-descent parser of an expression.
struct Parser<'a> {
    variables: &'a Variables,
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text[self.at..].trim_start()
    }

    /// Consumes one of two signs, if it is next.
    fn sign(&mut self, signs: [char; 2]) -> Option<char> {
        let rest = self.rest();
        let sign = rest.chars().next().filter(|next| signs.contains(next))?;
        self.at = self.text.len() - rest.len() + sign.len_utf8();
        Some(sign)
    }

    fn sum(&mut self) -> Result<i128, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.sign(['+', '-']) {
            let next = self.product()?;
            let sum = if sign == '+' { value.checked_add(next) } else { value.checked_sub(next) };
            value = sum.ok_or_else(|| self.beyond())?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<i128, String> {
        let mut value = self.atom()?;
        while let Some(sign) = self.sign(['*', '/']) {
            let next = self.atom()?;
            if sign == '/' && next == 0 {
                return Err(format!("`{}` divides by zero", self.text));
            }
            let product =
                if sign == '*' { value.checked_mul(next) } else { value.checked_div(next) };
            value = product.ok_or_else(|| self.beyond())?;
        }
        Ok(value)
    }

    /// Parses a number, a name, or an expression in parentheses.
    fn atom(&mut self) -> Result<i128, String> {
        if self.sign(['-', '-']).is_some() {
            return self.atom().map(|value| -value);
        }
        if self.sign(['(', '(']).is_some() {
            let value = self.sum()?;
            return match self.sign([')', ')']) {
                Some(_) => Ok(value),
                None => Err(format!("a parenthesis of `{}` is not closed", self.text)),
            };
        }
        let rest = self.rest();
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let word = &rest[..rest.find(|letter| !fits(letter)).unwrap_or(rest.len())];
        self.at = self.text.len() - rest.len() + word.len();
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            return parse_count(word).map(i128::from);
        }
        if word.is_empty() {
            return Err(format!("`{}` lacks a number or a name", self.text));
        }
        self.variables.value_of_name(word)
    }

    fn beyond(&self) -> String {
        format!("`{}` is too large", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        let parameter = |name: &str, value| Parameter { name: name.to_owned(), value };
        Variables { loaded: 1000, parameters: vec![parameter("tables", 8), parameter("zero", 0)] }
    }

    #[test]
    fn expressions_follow_arithmetic() {
        let variables = |text| variables().evaluate(text);
        assert_eq!(variables("7"), Ok(7));
        assert_eq!(variables(" loaded / tables + 1 "), Ok(126));
        assert_eq!(variables("1 + 2 * 3 - 4"), Ok(3));
        assert_eq!(variables("(1 + 2) * -3"), Ok(-9));
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
        assert_eq!(refused("(1"), "a parenthesis of `(1` is not closed");
        assert_eq!(refused("1 2"), "`2` is not understood in `1 2`");
        assert_eq!(
            refused("9000000000B * 9000000000B"),
            "`9000000000B * 9000000000B` is too large"
        );
        assert!(refused(&"(".repeat(300)).contains("too long"));
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
