//! The values of an application and their generators.

use model::limits::TEXT_BYTES_MAX;
use model::sql::{Draw, IntegerRange, ReadKind};
use reader::error::{PlanError, refuse};
use reader::syntax::{Fields, Node, Word, entries, list, real, switch, text};

use crate::names::{FOUND, Names, own_name};

/// Generators of values, each with the fields that belong to it alone.
const KINDS: [(&str, &[&str]); 12] = [
    ("integer", &["distribution"]),
    ("real", &["plus", "scale"]),
    ("payload", &["random"]),
    ("pattern", &[]),
    ("moment", &[]),
    ("draw", &[]),
    ("nurand", &["a", "c"]),
    ("chance", &[]),
    ("part", &["divide", "modulo", "add"]),
    ("syllables", &["of"]),
    ("other", &["share", "among"]),
    ("read", &[]),
];
/// Fields that name the integer a value is made of.
const SOURCES: [&str; 4] = ["plus", "part", "of", "other"];
/// Syllables that stand for digits.
const DIGITS: usize = 10;
/// Values without parameters.
const PLAIN: [(&str, Draw); 3] =
    [("id", Draw::Id), ("first-id", Draw::FirstId), ("number", Draw::Number)];

/// A value of the file, checked without its procedure.
#[derive(Debug, Clone)]
pub(super) struct Value<'a> {
    pub(super) name: Word<'a>,
    pub(super) draw: Draw,
    /// The integer that it is made of.
    pub(super) source: Option<Word<'a>>,
    /// How many are drawn, each with its own position.
    pub(super) count: u16,
    /// Offset of the range from one to the next.
    pub(super) apart: i64,
    /// Whether all rows and all repetitions of a call share it.
    pub(super) is_once: bool,
}

impl<'a> Names<'a> {
    /// Checks the values, in the file's order.
    pub(super) fn values(&self, node: Option<&'a Node<'a>>) -> Result<Vec<Value<'a>>, PlanError> {
        let Some(node) = node else { return Ok(Vec::new()) };
        entries(node)?.map(|(name, node)| self.value(name, node)).collect()
    }

    fn value(&self, name: Word<'a>, node: &'a Node<'a>) -> Result<Value<'a>, PlanError> {
        own_name(&name, "a value")?;
        if *name.get_ref() == FOUND {
            let why = format!("`{FOUND}` cannot be a value's name");
            let remedy = "choose another name: `found` stands for the rows of a statement";
            return refuse(name.span(), why, remedy);
        }
        if node.get_ref().is_str() {
            let draw = self.keyword(node, "value", &PLAIN)?;
            return Ok(Value { name, draw, source: None, count: 1, apart: 0, is_once: false });
        }
        let kinds = KINDS.iter().flat_map(|(kind, own)| [*kind].into_iter().chain(own.to_vec()));
        let keys: Vec<_> = kinds.chain(["count", "apart", "once"]).collect();
        let fields = Fields::of(node, "a value", &keys)?;
        let draw = self.draw(&fields)?;
        let count = fields.get("count");
        let count = count.map_or(Ok(1), |node| self.number(node, 1, "the count of values"))?;
        let apart = match fields.get("apart") {
            None => 0,
            Some(node) if matches!(draw, Draw::Integer { .. }) => self.signed(node)?,
            Some(node) => {
                let why = "`apart` shifts the ranges of integers, not of other values";
                let remedy = "write `apart` for an `integer` with a `count`, or in a repetition";
                return refuse(node.span(), why, remedy);
            }
        };
        let source = SOURCES.iter().find_map(|key| fields.get(key));
        let source = source.map(text).transpose()?;
        let is_once = switch(fields.get("once"))?;
        Ok(Value { name, draw, source, count, apart, is_once })
    }

    /// Returns the generator of a value written as a table.
    fn draw(&self, fields: &Fields<'a>) -> Result<Draw, PlanError> {
        let (kind, node) = self.one_kind(fields)?;
        match kind {
            "integer" => self.integer(node, fields.get("distribution")),
            "real" => {
                let why = "the upper bound of a real number cannot be negative: write 0 or more";
                let below = real(node, |below| below.is_finite() && below >= 0.0, why)?;
                let scale = fields
                    .get("scale")
                    .map_or(Ok(1.0), |scale| real(scale, f64::is_finite, "a scale is a number"))?;
                Ok(Draw::Real { below, plus: None, scale })
            }
            "payload" => self.payload(node, fields.get("random")),
            "pattern" => {
                let text = text(node)?;
                if text.get_ref().len() > TEXT_BYTES_MAX as usize {
                    return Err(PlanError::here(
                        node.span(),
                        format!("at most {TEXT_BYTES_MAX} letters"),
                    ));
                }
                if !text.get_ref().contains('#') {
                    let why = "the pattern has no `#`";
                    let remedy = "each `#` becomes a digit; a constant belongs in the SQL";
                    return refuse(node.span(), why, remedy);
                }
                Ok(Draw::Pattern((*text.get_ref()).to_owned()))
            }
            "moment" => {
                let what = "the calls that share a second";
                Ok(Draw::Moment { calls_per_second: self.number(node, 1, what)? })
            }
            "draw" => self.keyword(node, "value", &PLAIN),
            _ => self.derived(kind, node, fields),
        }
    }

    /// Returns the generator of a value that belongs to other values or to a result.
    fn derived(
        &self,
        kind: &str,
        node: &'a Node<'a>,
        fields: &Fields<'a>,
    ) -> Result<Draw, PlanError> {
        let share = |node: &'a Node<'a>| {
            let why = "a probability is from 0 to 1";
            real(node, |share| (0.0..=1.0).contains(&share), why)
        };
        let number = |key: &str, least: i64, default: u64| {
            fields.get(key).map_or(Ok(default), |node| self.number(node, least, key))
        };
        match kind {
            "nurand" => {
                let IntegerRange { first: from, count } = self.range(node, "nurand = [1, 3000]")?;
                let a = self.number(fields.required("a")?, 1, "a")?;
                let constant = fields.required("c")?;
                let c = self.number(constant, 0, "c")?;
                if c > a {
                    let why = format!("`c` must be from 0 to `a`, which is {a}");
                    return Err(PlanError::here(constant.span(), why));
                }
                Ok(Draw::Nurand { a, c, from, count })
            }
            "chance" => share(node).map(Draw::Chance),
            "part" => Ok(Draw::Part {
                of: 0,
                divide: number("divide", 1, 1)?,
                modulo: number("modulo", 1, i64::MAX.unsigned_abs())?,
                add: fields.get("add").map_or(Ok(0), |node| self.signed(node))?,
            }),
            "syllables" => {
                fields.required("of")?;
                let texts = list(node)?.iter().map(text);
                let texts = texts.collect::<Result<Vec<_>, _>>()?;
                let bytes: usize = texts.iter().map(|text| text.get_ref().len()).sum();
                if texts.len() != DIGITS || bytes > TEXT_BYTES_MAX as usize {
                    let why = format!("`syllables` has {} texts of {bytes} bytes", texts.len());
                    return refuse(node.span(), why, "write ten short texts, one for each digit");
                }
                let syllables = texts.iter().map(|text| (*text.get_ref()).to_owned()).collect();
                Ok(Draw::Syllables { syllables, of: 0 })
            }
            "other" => {
                let among = fields.required("among")?;
                let IntegerRange { first: from, count } = self.range(among, "among = [1, 10]")?;
                let share = share(fields.required("share")?)?;
                Ok(Draw::Other { of: 0, share, from, count })
            }
            _ => {
                if let Some(count) = fields.get("count") {
                    let why =
                        "a value read from a result has no `count`: each column sets one value";
                    return Err(PlanError::here(count.span(), why));
                }
                let kinds = ReadKind::ALL.map(|kind| (kind.name(), kind));
                self.keyword(node, "type of values", &kinds).map(Draw::Read)
            }
        }
    }

    /// Checks that a value has one generator and only fields of it.
    fn one_kind(&self, fields: &Fields<'a>) -> Result<(&'static str, &'a Node<'a>), PlanError> {
        let mut given = KINDS.iter().filter_map(|(kind, _)| Some((*kind, fields.get(kind)?)));
        let Some(first) = given.next() else {
            let why = "the value has no generator";
            let remedy = "give one of integer, real, payload, pattern, moment, nurand, chance, \
                          part, syllables, other, read, or draw = \"id\"";
            return refuse(fields.node.span(), why, remedy);
        };
        if let Some((second, _)) = given.next() {
            let why = format!("a value has one generator, not `{}` and `{second}`", first.0);
            return Err(PlanError::here(fields.node.span(), why));
        }
        for (owner, own) in KINDS.iter().filter(|(kind, _)| *kind != first.0) {
            for word in *own {
                let Some(node) = fields.get(word) else { continue };
                let why = format!("`{word}` belongs to values with `{owner}`");
                return refuse(node.span(), why, "leave the key out");
            }
        }
        Ok(first)
    }

    /// Evaluates two bounds.
    fn bounds(&self, node: &'a Node<'a>, example: &str) -> Result<(i64, i64), PlanError> {
        match list(node)? {
            [first, last] => Ok((self.signed(first)?, self.signed(last)?)),
            _ => Err(PlanError::here(
                node.span(),
                "a value of this kind is drawn between two bounds",
            )
            .remedy(format!("write two bounds, such as {example}: both bounds may be drawn"))),
        }
    }

    /// Returns the integers between two bounds.
    fn range(&self, node: &'a Node<'a>, example: &str) -> Result<IntegerRange, PlanError> {
        let (from, to) = self.bounds(node, example)?;
        let count = u64::try_from(i128::from(to) - i128::from(from) + 1).unwrap_or(0);
        if count == 0 {
            let why = format!("there is no integer between {from} and {to}");
            return Err(PlanError::here(node.span(), why));
        }
        Ok(IntegerRange { first: from, count })
    }

    fn integer(
        &self,
        node: &'a Node<'a>,
        distribution: Option<&'a Node<'a>>,
    ) -> Result<Draw, PlanError> {
        let IntegerRange { first: from, count } = self.range(node, "integer = [1, 100]")?;
        let Some(distribution) = distribution else {
            return Ok(Draw::Integer { distribution: "uniform".to_owned(), from, count });
        };
        let text = text(distribution)?;
        self.catalog
            .check_distribution(text.get_ref(), count)
            .map_err(|why| PlanError::here(text.span(), why))?;
        Ok(Draw::Integer { distribution: (*text.get_ref()).to_owned(), from, count })
    }

    fn payload(&self, node: &'a Node<'a>, random: Option<&'a Node<'a>>) -> Result<Draw, PlanError> {
        let (shortest, longest) = self.bounds(node, "payload = [10, 20]")?;
        let (Ok(bytes_min), Ok(bytes_max @ 0..=TEXT_BYTES_MAX), true) =
            (u32::try_from(shortest), u32::try_from(longest), shortest <= longest)
        else {
            let why = format!("there is no payload of {shortest} to {longest} bytes");
            let remedy = format!(
                "write the shorter length first; the longer has at most {TEXT_BYTES_MAX} bytes"
            );
            return refuse(node.span(), why, remedy);
        };
        let why = "`random` is a share of the bytes, from 0 to 1";
        let random = random
            .map_or(Ok(1.0), |random| real(random, |share| (0.0..=1.0).contains(&share), why))?;
        Ok(Draw::Payload { bytes_min, bytes_max, random })
    }
}
