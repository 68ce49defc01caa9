//! Assigns each value of a procedure its argument position.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::sql::Draw;
use toml::Spanned;

use super::names::Names;
use super::statement::{Layout, Slot, SqlText, SqlTexts};
use super::token::Token;
use super::value::Value;
use crate::error::PlanError;
use crate::syntax::Word;

/// How a value is used in a procedure.
#[derive(Debug, Clone)]
struct Usage {
    /// In rows; else outside of them.
    in_row: bool,
    /// How often the statement that uses it is executed.
    times: u16,
    /// Position of the statement.
    statement: usize,
    /// Place of its first use.
    place: Range<usize>,
}

impl Names<'_> {
    /// Returns the position of each value that the procedure uses.
    pub(super) fn layout(
        &self,
        procedure: &Word<'_>,
        (texts, row): (&SqlTexts<'_>, Option<&SqlText<'_>>),
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
                let why = format!("`{name}` is {width} values, and a row has a place for one");
                return Err(self.refuse(used.place.clone(), why));
            }
            let drawn = if in_row { layout.row.len() } else { layout.once.len() };
            let base = self.few_values(drawn, procedure.span())?;
            let all = drawn + usize::from(width) * usize::from(copies);
            self.few_values(all, procedure.span())?;
            let slot = Slot { in_row, base, width, copies };
            let added = value.plus.as_ref().map(|plus| self.added(plus, slot, &layout));
            let added = added.transpose()?;
            let draws = if in_row { &mut layout.row } else { &mut layout.once };
            for nth in (0..copies).flat_map(|_| 0..width) {
                let mut draw = value.draw.clone();
                if let Draw::Integer { from, .. } = &mut draw {
                    *from = from.saturating_add(value.apart.saturating_mul(nth.into()));
                } else if let Draw::Real { plus, .. } = &mut draw {
                    *plus = added;
                }
                draws.push(draw);
            }
            layout.slots.insert(name.to_owned(), slot);
        }
        Ok(layout)
    }

    /// Returns the position of the value that is added to another at `slot`.
    fn added(&self, plus: &Word<'_>, slot: Slot, layout: &Layout) -> Result<u16, PlanError> {
        let refuse = |why: &str, remedy: &str| {
            Err(self.refuse(plus.span(), format!("`{plus}` cannot be added: {why}")).remedy(remedy))
        };
        let Some(added) = layout.slots.get(*plus.get_ref()) else {
            return refuse("it is not drawn before", "put it above this value in [values]");
        };
        let is_one = |slot: &Slot| (slot.width, slot.copies) == (1, 1);
        if added.in_row != slot.in_row || !is_one(added) || !is_one(&slot) {
            return refuse(
                "the two are not drawn together",
                "use both in rows, or both outside of them, one of each",
            );
        }
        let drawn = if slot.in_row { &layout.row } else { &layout.once };
        match drawn.get(usize::from(added.base)) {
            Some(Draw::Integer { .. }) => Ok(added.base),
            _ => refuse("it is not an integer", "add an `integer`"),
        }
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
        let texts = texts.dialects().into_iter().flat_map(|texts| texts.iter().enumerate());
        let texts = texts.map(|(statement, text)| (statement, text, false));
        for (statement, text, in_row) in texts.chain(row.map(|row| (0, row, true))) {
            if text.times == 0 {
                let names = text.tokens.iter().filter_map(Token::value);
                unused.extend(names.map(str::to_owned));
                continue;
            }
            let place = text.place.clone();
            let here = Usage { in_row, times: text.times, statement, place };
            self.record_uses(text, &here, values, &mut uses)?;
        }
        for value in values {
            let Some(plus) = &value.plus else { continue };
            let names = values.iter().map(|value| *value.name.get_ref());
            self.position(plus, "value", names)?;
            if let Some(used) = uses.get(*value.name.get_ref()).cloned() {
                uses.entry((*plus.get_ref()).to_owned()).or_insert(used);
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
        for token in &text.tokens {
            let Token::Value(name) = *token else { continue };
            let Some(value) = values.iter().find(|value| *value.name.get_ref() == name) else {
                let place = self.place_within(here.place.clone(), &format!(":{name}"));
                let names = values.iter().map(|value| *value.name.get_ref());
                return Err(self.unknown(&Spanned::new(place, name), "value", names));
            };
            let used = uses.entry(name.to_owned()).or_insert_with(|| here.clone());
            let clash = if value.is_once {
                continue;
            } else if used.in_row != here.in_row {
                "in rows and outside of them"
            } else if (used.times > 1 || here.times > 1)
                && (used.statement, used.times) != (here.statement, here.times)
            {
                "in a repeated statement and elsewhere"
            } else {
                continue;
            };
            return Err(self
                .refuse(here.place.clone(), format!("`{name}` is used {clash}"))
                .remedy("set `once = true` on it to share one value, or use two"));
        }
        Ok(())
    }
}
