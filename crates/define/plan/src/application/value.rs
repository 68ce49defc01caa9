//! The values of an application and their generators.

use model::options::Text;
use model::sql::{Draw, Table};
use toml::Spanned;

use super::file::{ValueEntry, ValueTable};
use super::names::Names;
use crate::error::PlanError;
use crate::syntax::WordOr;

/// Keywords for values without parameters.
const KEYWORDS: [(&str, Plain); 3] =
    [("id", Plain::Id), ("first-id", Plain::FirstId), ("number", Plain::Number)];
/// Longest text drawn: bounds the client's buffers.
const BYTES_MAX: u32 = 1 << 20;
/// Most copies of one value: the protocols count values in 16 bits.
const COUNT_MAX: u32 = 65_535;

/// A value without parameters.
#[derive(Debug, Clone, Copy)]
enum Plain {
    Id,
    FirstId,
    Number,
}

/// A value of the file, checked without its procedure.
#[derive(Debug, Clone)]
pub(super) struct Value<'a> {
    pub(super) name: &'a Spanned<String>,
    pub(super) draw: Draw,
    /// The value that is added to a real number.
    pub(super) plus: Option<&'a Spanned<String>>,
    /// How many are drawn, each with its own position.
    pub(super) count: u16,
    /// Offset of the range from one to the next.
    pub(super) apart: i64,
    /// Whether all rows and all repetitions of a call share it.
    pub(super) is_once: bool,
}

impl Value<'_> {
    /// Returns the generator of its `nth` copy.
    pub(super) fn nth(&self, nth: u16) -> Draw {
        let mut draw = self.draw.clone();
        if let Draw::Integer { from, .. } = &mut draw {
            *from = from.saturating_add(self.apart.saturating_mul(i64::from(nth)));
        }
        draw
    }
}

impl<'a> Names<'a> {
    /// Checks the values, in the file's order.
    pub(super) fn values(&self) -> Result<Vec<Value<'a>>, PlanError> {
        let value = |(name, entry): &'a (Spanned<String>, Spanned<ValueEntry>)| {
            self.own_name(name, "a value")?;
            match entry.get_ref() {
                WordOr::Word(word) => {
                    let word = Spanned::new(entry.span(), word.clone());
                    let draw = plain(self.word(&word, "value", &KEYWORDS)?);
                    let once = ValueTable { once: false, ..ValueTable::default() };
                    self.value(name, (&once, None), draw)
                }
                WordOr::Table(table) => {
                    let draw = self.draw(table, entry)?;
                    self.value(name, (table, table.plus.as_ref()), draw)
                }
            }
        };
        self.file.values.0.iter().map(value).collect()
    }

    fn value(
        &self,
        name: &'a Spanned<String>,
        (table, plus): (&ValueTable, Option<&'a Spanned<String>>),
        draw: Draw,
    ) -> Result<Value<'a>, PlanError> {
        let count = match &table.count {
            None => 1,
            Some(text) => {
                let count = self.small(text, 1, "the count of values")?;
                u16::try_from(count).map_err(|_beyond| {
                    self.refuse(text.span(), format!("{count} values are too many"))
                        .remedy(format!("at most {COUNT_MAX}"))
                })?
            }
        };
        let apart = match &table.apart {
            None => 0,
            Some(text) if matches!(draw, Draw::Integer { .. }) && count > 1 => self.signed(text)?,
            Some(text) => {
                return Err(self
                    .refuse(text.span(), "`apart` moves the range of each next integer")
                    .remedy("it belongs to an `integer` with a `count`"));
            }
        };
        Ok(Value { name, draw, plus, count, apart, is_once: table.once })
    }

    /// Returns the generator of a value written as a table.
    fn draw(&self, table: &ValueTable, entry: &Spanned<ValueEntry>) -> Result<Draw, PlanError> {
        self.one_kind(table, entry)?;
        if let Some(range) = &table.integer {
            return self.integer(range, table.distribution.as_ref());
        }
        if let Some(below) = &table.real {
            let scale = table.scale.as_ref().map_or(1.0, |scale| *scale.get_ref());
            let value = *below.get_ref();
            if !value.is_finite() || value < 0.0 || !scale.is_finite() {
                let why = "the upper bound of a real number cannot be negative";
                return Err(self.refuse(below.span(), why));
            }
            return Ok(Draw::Real { below: value, plus: None, scale });
        }
        if let Some(lengths) = &table.payload {
            return self.payload(lengths, table.random.as_ref());
        }
        if let Some(pattern) = &table.pattern {
            let text = pattern.get_ref();
            if text.len() > BYTES_MAX as usize {
                return Err(self.refuse(pattern.span(), format!("at most {BYTES_MAX} letters")));
            }
            if !text.contains('#') {
                return Err(self
                    .refuse(pattern.span(), "the pattern has no `#`")
                    .remedy("each `#` becomes a digit; a constant belongs in the SQL"));
            }
            return Ok(Draw::Pattern(text.clone()));
        }
        if let Some(calls) = &table.moment {
            let calls_per_second = self.small(calls, 1, "the calls that share a second")?;
            return Ok(Draw::Moment { calls_per_second });
        }
        match &table.draw {
            Some(word) => Ok(plain(self.word(word, "value", &KEYWORDS)?)),
            None => Err(self
                .refuse(entry.span(), "the value has no generator")
                .remedy("give one of integer, real, payload, pattern, moment, or draw = \"id\"")),
        }
    }

    /// Checks that a value has one generator and only fields of it.
    fn one_kind(&self, table: &ValueTable, entry: &Spanned<ValueEntry>) -> Result<(), PlanError> {
        let kinds = [
            ("integer", table.integer.is_some()),
            ("real", table.real.is_some()),
            ("payload", table.payload.is_some()),
            ("pattern", table.pattern.is_some()),
            ("moment", table.moment.is_some()),
            ("draw", table.draw.is_some()),
        ];
        let given: Vec<_> = kinds.iter().filter(|(_, is_given)| *is_given).collect();
        if let [(first, _), (second, _), ..] = given[..] {
            let why = format!("a value has one generator, not `{first}` and `{second}`");
            return Err(self.refuse(entry.span(), why));
        }
        let span_of = |word: &Option<Spanned<String>>| word.as_ref().map(Spanned::span);
        let number = |number: &Option<Spanned<f64>>| number.as_ref().map(Spanned::span);
        let others = [
            ("distribution", span_of(&table.distribution), "integer"),
            ("plus", span_of(&table.plus), "real"),
            ("scale", number(&table.scale), "real"),
            ("random", number(&table.random), "payload"),
        ];
        for (word, place, owner) in others {
            let Some(place) = place else { continue };
            if !given.iter().any(|(kind, _)| *kind == owner) {
                return Err(self
                    .refuse(place, format!("`{word}` belongs to values with `{owner}`"))
                    .remedy("leave it out"));
            }
        }
        Ok(())
    }

    fn integer(
        &self,
        range: &Spanned<Vec<Spanned<Text>>>,
        distribution: Option<&Spanned<String>>,
    ) -> Result<Draw, PlanError> {
        let [first, last] = &range.get_ref()[..] else {
            return Err(self
                .refuse(range.span(), "integers are drawn between two bounds")
                .remedy("for instance integer = [1, 100]: both may be drawn"));
        };
        let (from, to) = (self.signed(first)?, self.signed(last)?);
        let count = u64::try_from(i128::from(to) - i128::from(from) + 1).unwrap_or(0);
        if count == 0 {
            return Err(
                self.refuse(range.span(), format!("there is no integer between {from} and {to}"))
            );
        }
        let text = distribution.map_or("uniform", |text| text.get_ref());
        self.catalog
            .check_distribution(text, count)
            .map_err(|why| self.refuse(distribution.map_or(0..0, Spanned::span), why))?;
        Ok(Draw::Integer { distribution: text.to_owned(), from, count })
    }

    fn payload(
        &self,
        lengths: &Spanned<Vec<Spanned<Text>>>,
        random: Option<&Spanned<f64>>,
    ) -> Result<Draw, PlanError> {
        let [shortest, longest] = &lengths.get_ref()[..] else {
            return Err(self
                .refuse(lengths.span(), "a payload has a shortest and a longest length")
                .remedy("for instance payload = [10, 20]"));
        };
        let bytes_min = self.small(shortest, 0, "the shortest payload")?;
        let bytes_max = self.small(longest, 0, "the longest payload")?;
        if bytes_min > bytes_max || bytes_max > BYTES_MAX {
            let why = format!("there is no payload of {bytes_min} to {bytes_max} bytes");
            let most = format!("the longest is not shorter, and at most {BYTES_MAX}");
            return Err(self.refuse(lengths.span(), why).remedy(most));
        }
        let share = random.map_or(1.0, |share| *share.get_ref());
        if !(0.0..=1.0).contains(&share) {
            let place = random.map_or(0..0, Spanned::span);
            return Err(self.refuse(place, "`random` is a share of the bytes, from 0 to 1"));
        }
        Ok(Draw::Payload { bytes_min, bytes_max, random: share })
    }

    /// Checks that a table with drawn ids has an id column.
    pub(super) fn has_ids(&self, value: &Value<'_>, table: &Table) -> Result<(), PlanError> {
        if table.id.is_some() || !matches!(value.draw, Draw::Id | Draw::FirstId) {
            return Ok(());
        }
        let why =
            format!("`{}` is an id of table {}, which has none", value.name.get_ref(), table.name);
        Err(self
            .refuse(value.name.span(), why)
            .remedy("give the table an `id`: the column of integers that the server assigns"))
    }
}

const fn plain(word: Plain) -> Draw {
    match word {
        Plain::Id => Draw::Id,
        Plain::FirstId => Draw::FirstId,
        Plain::Number => Draw::Number,
    }
}
