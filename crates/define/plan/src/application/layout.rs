//! Positions of a procedure's values among those drawn.

use std::collections::BTreeMap;
use std::ops::Range;

use model::sql::{Draw, PerDialect};
use toml::Spanned;

use super::merged::Merged;
use super::names::Names;
use super::statement::{Slot, SqlTexts};
use super::token::{Token, tokenize};
use super::value::Value;
use crate::error::PlanError;

/// Positions of the values of one procedure.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) slots: BTreeMap<String, Slot>,
    pub(super) once: Vec<Draw>,
    pub(super) row: Vec<Draw>,
}

/// How a value is used in a procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Usage {
    /// In rows; else outside of them.
    in_row: bool,
    /// How often the statement that uses it is executed.
    times: u32,
    /// Position of the statement; `None` when several use it.
    statement: Option<usize>,
    /// Place of its first use.
    place: Range<usize>,
}

impl Names<'_> {
    /// Returns the position of each value that the procedure uses.
    pub(super) fn layout(
        &self,
        merged: &Merged<'_>,
        sql: &PerDialect<SqlTexts<'_>>,
        values: &[Value<'_>],
    ) -> Result<Layout, PlanError> {
        let uses = self.uses(merged, sql, values)?;
        let mut layout = Layout::default();
        for value in values {
            let name = value.name.get_ref();
            let Some(used) = uses.get(name) else { continue };
            let is_repeated = used.times > 1 && !value.is_once;
            let width = value.count;
            let copies = if is_repeated { used.times } else { 1 };
            let slot = if used.in_row && !value.is_once {
                if width > 1 {
                    let why = format!("`{name}` is {width} values, and a row has a place for one");
                    return Err(self.refuse(used.place.clone(), why));
                }
                Slot::Row(self.position(&layout.row, merged)?)
            } else {
                let base = self.position(&layout.once, merged)?;
                if is_repeated {
                    Slot::UserBuild { base, width }
                } else {
                    Slot::Shared { base, width }
                }
            };
            for nth in (0..copies).flat_map(|_| 0..width) {
                let draw = self.with_plus(value, value.nth(nth), (slot, copies), &layout)?;
                match slot {
                    Slot::Row(_) => layout.row.push(draw),
                    Slot::Shared { .. } | Slot::UserBuild { .. } => layout.once.push(draw),
                }
            }
            layout.slots.insert(name.clone(), slot);
        }
        self.position(&layout.once, merged)?;
        Ok(layout)
    }

    fn position(&self, draws: &[Draw], merged: &Merged<'_>) -> Result<u16, PlanError> {
        self.few_values(draws.len(), merged.name.span())?;
        Ok(u16::try_from(draws.len()).unwrap_or(u16::MAX))
    }

    /// Returns a draw with the position of the value that is added to it.
    fn with_plus(
        &self,
        value: &Value<'_>,
        draw: Draw,
        (slot, copies): (Slot, u32),
        layout: &Layout,
    ) -> Result<Draw, PlanError> {
        let (Some(plus), Draw::Real { below, scale, .. }) = (value.plus, &draw) else {
            return Ok(draw);
        };
        let refuse = |why: &str, remedy: &str| {
            Err(self
                .refuse(plus.span(), format!("`{}` cannot be added: {why}", plus.get_ref()))
                .remedy(remedy))
        };
        let position = match (layout.slots.get(plus.get_ref()), slot) {
            (Some(Slot::Row(position)), Slot::Row(_)) => *position,
            (Some(Slot::Shared { base, width: 1 }), Slot::Shared { width: 1, .. })
                if copies == 1 =>
            {
                *base
            }
            (None, _) => {
                return refuse("it is not drawn before", "put it above this value in [values]");
            }
            (Some(_), _) => {
                return refuse(
                    "the two are not drawn together",
                    "use both in rows, or both outside of them, one of each",
                );
            }
        };
        let drawn = if matches!(slot, Slot::Row(_)) { &layout.row } else { &layout.once };
        if !matches!(drawn.get(usize::from(position)), Some(Draw::Integer { .. })) {
            return refuse("it is not an integer", "add an `integer`");
        }
        Ok(Draw::Real { below: *below, plus: Some(position), scale: *scale })
    }

    /// Returns how the procedure uses each value, including values only added to others.
    fn uses(
        &self,
        merged: &Merged<'_>,
        sql: &PerDialect<SqlTexts<'_>>,
        values: &[Value<'_>],
    ) -> Result<BTreeMap<String, Usage>, PlanError> {
        let mut uses = BTreeMap::new();
        for sql_texts in [&sql.postgres, &sql.mysql] {
            for (index, sql_text) in sql_texts.iter().enumerate() {
                let place = || sql_text.place.clone();
                let uses_here = Usage {
                    in_row: false,
                    times: sql_text.times,
                    statement: Some(index),
                    place: place(),
                };
                self.record_uses(sql_text.sql, &uses_here, values, &mut uses)?;
            }
        }
        if let Some(row) = merged.row {
            let of_row = Usage { in_row: true, times: 1, statement: None, place: row.span() };
            self.record_uses(row.get_ref(), &of_row, values, &mut uses)?;
        }
        for value in values.iter().filter(|value| value.plus.is_some()) {
            let (Some(plus), Some(used)) = (value.plus, uses.get(value.name.get_ref()).cloned())
            else {
                continue;
            };
            let Some(added) = values.iter().find(|known| known.name.get_ref() == plus.get_ref())
            else {
                let names = values.iter().map(|value| value.name.get_ref().as_str());
                return Err(self.unknown(plus, "value", names));
            };
            uses.entry(added.name.get_ref().clone()).or_insert(used);
        }
        Ok(uses)
    }

    /// Records the values used by one text.
    fn record_uses(
        &self,
        text: &str,
        here: &Usage,
        values: &[Value<'_>],
        uses: &mut BTreeMap<String, Usage>,
    ) -> Result<(), PlanError> {
        let pieces =
            tokenize(text).map_err(|wrong| self.error_at_text(here.place.clone(), wrong))?;
        for piece in pieces {
            let Token::Value(name) = piece else { continue };
            let Some(value) = values.iter().find(|value| value.name.get_ref() == name) else {
                let inside = self.source.text.get(here.place.clone()).unwrap_or("");
                let at = inside.find(&format!(":{name}"));
                let place = at.map_or(here.place.clone(), |at| {
                    here.place.start + at + 1..here.place.start + at + 1 + name.len()
                });
                let names = values.iter().map(|value| value.name.get_ref().as_str());
                let name = Spanned::new(place, name.to_owned());
                return Err(self.unknown(&name, "value", names));
            };
            let used = uses.entry(name.to_owned()).or_insert_with(|| here.clone());
            if value.is_once {
                continue;
            }
            let clash = if used.in_row != here.in_row {
                "in rows and outside of them"
            } else if (used.times > 1 || here.times > 1)
                && (used.statement != here.statement || used.times != here.times)
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
