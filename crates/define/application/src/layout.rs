//! Assigns each value of a procedure its argument position.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::sql::Draw;
use reader::error::{PlanError, refuse};
use reader::syntax::Word;
use toml::Spanned;

use crate::names::{FOUND, Names, position, unknown};
use crate::statement::{Layout, Slot};
use crate::text::{SqlText, SqlTexts};
use crate::token::Token;
use crate::value::Value;

/// How a value is used in a procedure.
#[derive(Debug, Clone)]
struct Usage {
    /// In rows; else outside of them.
    in_row: bool,
    /// How often the statement that uses it is executed.
    times: u16,
    /// Position of its block: a statement, or several that are repeated together.
    block: usize,
    /// Place of its first use.
    place: Range<usize>,
}

impl Names<'_> {
    /// Returns the position of each value that the procedure uses.
    pub(super) fn layout(
        &self,
        procedure: &Word<'_>,
        texts: &SqlTexts<'_>,
        row: Option<&SqlText<'_>>,
        values: &[Value<'_>],
    ) -> Result<Layout, PlanError> {
        let mut layout = Layout::default();
        let uses = self.uses(texts, row, values, &mut layout.unused)?;
        for value in values {
            let name = *value.name.get_ref();
            let Some(used) = uses.get(name) else { continue };
            let in_row = used.in_row && !value.is_once;
            let (width, copies) = (value.count, if value.is_once { 1 } else { used.times });
            if in_row && width > 1 {
                let why = format!(
                    "`{name}` draws {width} values, but each place in a row takes one value"
                );
                return Err(PlanError::here(&used.place, why));
            }
            let drawn = if in_row { layout.row.len() } else { layout.once.len() };
            let base = self.few_values(drawn, procedure.span())?;
            let all = drawn + usize::from(width) * usize::from(copies);
            self.few_values(all, procedure.span())?;
            let slot = Slot { in_row, base, width, copies };
            let source = value.source.as_ref().map(|of| self.source_of(value, of, slot, &layout));
            let source = source.transpose()?;
            if in_row && matches!(value.draw, Draw::Read(_)) {
                let why = format!("`{name}` is read from a result, but rows are drawn first");
                return Err(PlanError::here(&used.place, why));
            }
            let draws = if in_row { &mut layout.row } else { &mut layout.once };
            for (copy, nth) in (0..copies).flat_map(|copy| (0..width).map(move |nth| (copy, nth))) {
                let mut draw = value.draw.clone();
                if let Draw::Integer { from, .. } = &mut draw {
                    // The next one of several, or the one of the next repetition.
                    let moves = if width > 1 { nth } else { copy };
                    *from = from.saturating_add(value.apart.saturating_mul(moves.into()));
                }
                if let Some(source) = source {
                    set_source(&mut draw, source.position(copy));
                }
                draws.push(draw);
            }
            layout.slots.insert(name.to_owned(), slot);
        }
        Ok(layout)
    }

    /// Returns the place of the integer that another value at `slot` is made of.
    fn source_of(
        &self,
        value: &Value<'_>,
        of: &Word<'_>,
        slot: Slot,
        layout: &Layout,
    ) -> Result<Slot, PlanError> {
        let refuse = |why: &str, remedy: &str| {
            let what = format!("`{}` cannot be made of `{of}`: {why}", value.name);
            refuse(of.span(), what, remedy)
        };
        let Some(source) = layout.slots.get(*of.get_ref()).copied() else {
            let remedy = "put the integer above this value in [values]";
            return refuse("the integer is not drawn before this value", remedy);
        };
        let are_one = source.width == 1 && slot.width == 1;
        let is_matched = source.copies == 1 || source.copies == slot.copies;
        if source.in_row != slot.in_row || !are_one || !is_matched {
            return refuse(
                "the two values are not drawn at the same time",
                "use both values in rows, or both outside of rows",
            );
        }
        let drawn = if slot.in_row { &layout.row } else { &layout.once };
        let draw = drawn.get(usize::from(source.base));
        let range = draw.filter(|draw| !matches!(draw, Draw::Read(_))).and_then(Draw::integers);
        let Some(range) = range else {
            return refuse("the source is not a drawn integer", "name an `integer`");
        };
        let has_three_digits = range.first >= 0 && range.last() < 1_000;
        if matches!(value.draw, Draw::Syllables { .. }) && !has_three_digits {
            return refuse(
                "the integer may have more than three digits",
                "name an integer from 0 to 999",
            );
        }
        Ok(source)
    }

    /// Returns how the procedure uses each value, including values only added to others.
    fn uses(
        &self,
        texts: &SqlTexts<'_>,
        row: Option<&SqlText<'_>>,
        values: &[Value<'_>],
        unused: &mut BTreeSet<String>,
    ) -> Result<BTreeMap<String, Usage>, PlanError> {
        let mut uses = BTreeMap::new();
        let texts = texts.dialects().into_iter().flatten().map(|text| (text, false));
        for (text, in_row) in texts.chain(row.map(|row| (row, true))) {
            if text.block.times == 0 {
                unused.extend(text.tokens.iter().filter_map(Token::value).map(str::to_owned));
                continue;
            }
            let (place, block) = (text.place.clone(), text.block.number);
            let here = Usage { in_row, times: text.block.times, block, place };
            self.record_uses(text, &here, values, &mut uses)?;
        }
        // From the last on: what a value is made of stands above it.
        for value in values.iter().rev() {
            let Some(of) = &value.source else { continue };
            let names = values.iter().map(|value| *value.name.get_ref());
            position(of, "value", names)?;
            if let Some(used) = uses.get(*value.name.get_ref()).cloned() {
                uses.entry((*of.get_ref()).to_owned()).or_insert(used);
            }
        }
        Ok(uses)
    }

    /// Records the values used by one text.
    fn record_uses(
        &self,
        text: &SqlText<'_>,
        here: &Usage,
        values: &[Value<'_>],
        uses: &mut BTreeMap<String, Usage>,
    ) -> Result<(), PlanError> {
        for (name, place, is_shared) in self.named(text, here) {
            let Some(value) = values.iter().find(|value| *value.name.get_ref() == name) else {
                let names = values.iter().map(|value| *value.name.get_ref());
                return Err(unknown(&Spanned::new(place, name), "value", names));
            };
            let shared = Usage { times: 1, block: usize::MAX, ..here.clone() };
            let here = if is_shared { &shared } else { here };
            let used = uses.entry(name.to_owned()).or_insert_with(|| here.clone());
            let clash = if value.is_once {
                continue;
            } else if used.in_row != here.in_row {
                "in rows and outside of them"
            } else if (used.times > 1 || here.times > 1)
                && (used.block, used.times) != (here.block, here.times)
            {
                "in a repeated statement and elsewhere"
            } else {
                continue;
            };
            let why = format!("`{name}` is used {clash}");
            let remedy = "set `once = true` on the value to share it, or use two values";
            return refuse(&here.place, why, remedy);
        }
        Ok(())
    }

    /// Returns the values that a text names, their places, and whether all repetitions share them.
    fn named<'t>(&self, text: &'t SqlText<'_>, here: &Usage) -> Vec<(&'t str, Range<usize>, bool)> {
        let in_text = text.tokens.iter().filter_map(|token| {
            let Token::Value(name) = *token else { return None };
            Some((name, self.place_within(here.place.clone(), &format!(":{name}")), false))
        });
        let whole = |word: &'t Word<'_>, is_shared| (*word.get_ref(), word.span(), is_shared);
        let conditions = text.block.conditions.iter().map(|condition| &condition.of);
        let conditions = conditions.filter(|of| *of.get_ref() != FOUND);
        let into = text.into.iter().chain(conditions).map(|word| whole(word, false));
        let times = text.block.times_by.iter().map(|word| whole(word, true));
        let copy = text.block.copy.iter().map(|word| whole(word, false));
        in_text.chain(into).chain(times).chain(copy).collect()
    }
}

/// Sets the position of the integer that a value is made of.
const fn set_source(draw: &mut Draw, position: u16) {
    if let Draw::Real { plus, .. } = draw {
        *plus = Some(position);
    } else if let Draw::Part { of, .. } | Draw::Syllables { of, .. } | Draw::Other { of, .. } = draw
    {
        *of = position;
    }
}
