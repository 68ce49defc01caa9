//! The steps of an application: call mixes and stop rules.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::options::Text;
use model::sql::{Background, CallMix, Procedure, RowCount, TrafficSpec};
use model::units::parse_share;
use model::{OpUnit, StepRole};
use toml::Spanned;

use super::expression::share_of;
use super::file::{CallMixEntry, StepTable};
use super::names::Names;
use crate::error::PlanError;

/// Keywords of `role`.
const ROLES: [(&str, StepRole); 5] = [
    ("load", StepRole::Load),
    ("read", StepRole::Read),
    ("write", StepRole::Write),
    ("read-write", StepRole::ReadWrite),
    ("maintain", StepRole::Maintain),
];
/// Keywords of `unit`.
const UNITS: [(&str, Unit); 3] =
    [("operation", Unit::Operation), ("row", Unit::Row), ("all rows", Unit::All)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Operation,
    Row,
    All,
}

/// The steps, and the steps each one needs.
pub(super) type Steps = (Vec<TrafficSpec>, BTreeMap<String, Vec<String>>);

impl Names<'_> {
    /// Checks the steps.
    pub(super) fn steps(&self, procedures: &[Procedure]) -> Result<Steps, PlanError> {
        let known: Vec<_> =
            self.file.step.iter().map(|step| step.name.get_ref().as_str()).collect();
        let (mut steps, mut needs) = (Vec::new(), BTreeMap::new());
        for (index, written) in self.file.step.iter().enumerate() {
            let name = written.name.get_ref();
            self.step_name(&written.name)?;
            if known[..index].contains(&name.as_str()) {
                let why = format!("two steps are named `{name}`");
                return Err(self.refuse(written.name.span(), why));
            }
            let mut before = Vec::new();
            for need in &written.needs {
                if !known.contains(&need.get_ref().as_str()) {
                    return Err(self.unknown(need, "step", known.iter().copied()));
                }
                if !known[..index].contains(&need.get_ref().as_str()) {
                    let why = format!("`{}` comes after {name}, which needs it", need.get_ref());
                    return Err(self
                        .refuse(need.span(), why)
                        .remedy("write the steps in the order in which they may run"));
                }
                before.push(need.get_ref().clone());
            }
            steps.push(self.one_step(written, procedures)?);
            needs.insert(name.clone(), before);
        }
        if !steps.iter().any(|step: &TrafficSpec| step.role == StepRole::Load) {
            return Err(self
                .refuse(self.file.name.span(), "no step fills the tables")
                .remedy("add a [[step]] with role = \"load\""));
        }
        Ok((steps, needs))
    }

    /// Checks the default order of the steps.
    pub(super) fn order(&self, steps: &[TrafficSpec]) -> Result<Vec<String>, PlanError> {
        let mut order = BTreeSet::new();
        for name in &self.file.order {
            if !steps.iter().any(|step| step.name == *name.get_ref()) {
                let names = steps.iter().map(|step| step.name.as_str());
                return Err(self.unknown(name, "step", names));
            }
            order.insert(name.get_ref());
        }
        if order.is_empty() {
            return Err(self.refuse(self.file.name.span(), "the order names no step"));
        }
        Ok(self.file.order.iter().map(|name| name.get_ref().clone()).collect())
    }

    fn step_name(&self, name: &Spanned<String>) -> Result<(), PlanError> {
        let text = name.get_ref();
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.chars().all(fits) {
            return Ok(());
        }
        Err(self
            .refuse(name.span(), format!("`{text}` cannot be a step's name"))
            .remedy("use letters, digits, `-`, `_` and `.`, and begin with a letter"))
    }

    fn one_step(
        &self,
        written: &StepTable,
        procedures: &[Procedure],
    ) -> Result<TrafficSpec, PlanError> {
        let role = self.word(&written.role, "role", &ROLES)?;
        let clients = written.clients.as_ref().map(|entry| self.call_mix(entry)).transpose()?;
        let background = match &written.background {
            None => None,
            Some(table) => {
                let call_mix = self.call_mix(&table.get_ref().procedures)?;
                let rate = &table.get_ref().rows_per_s;
                let rows_per_s = self.at_least(rate, 1, "rows_per_s")? as f64;
                self.paced(&call_mix, procedures, table.get_ref().procedures.span())?;
                Some(Background { call_mix, rows_per_s })
            }
        };
        let rows = written.rows.as_ref().map(|text| self.row_count(text)).transpose()?;
        let unit = self.unit(written, rows)?;
        let step = TrafficSpec {
            name: written.name.get_ref().clone(),
            about: written.about.get_ref().clone(),
            role,
            clients,
            background,
            rows,
            unit,
            settles: written.settles,
        };
        self.step_fits(written, &step, procedures)?;
        Ok(step)
    }

    /// Checks that a step's fields are consistent.
    fn step_fits(
        &self,
        written: &StepTable,
        step: &TrafficSpec,
        procedures: &[Procedure],
    ) -> Result<(), PlanError> {
        let refuse = |place: Range<usize>, why: &str, remedy: &str| {
            Err(self.refuse(place, format!("step {}: {why}", step.name)).remedy(remedy))
        };
        let role = written.role.span();
        let Some(call_mix) = &step.clients else {
            if step.role != StepRole::Maintain || !step.settles || step.background.is_some() {
                return refuse(
                    role,
                    "it does nothing",
                    "give `clients`, or role = \"maintain\" and settles = true",
                );
            }
            return Ok(());
        };
        let place = written.clients.as_ref().map_or(0..0, Spanned::span);
        if step.role == StepRole::Maintain {
            return refuse(role, "maintenance has no clients", "leave out `clients`");
        }
        if step.role == StepRole::Load
            && (step.rows.is_none() || matches!(call_mix, CallMix::Once(_)))
        {
            return refuse(
                role,
                "a load ends by rows",
                "give `rows`, such as \"100%\", and a list of procedures that insert",
            );
        }
        let writes = |position: &u16| procedures[usize::from(*position)].kind.is_write();
        if step.role == StepRole::Read
            && (positions(call_mix).iter().any(writes) || step.background.is_some())
        {
            return refuse(
                role,
                "its role is to read, but it writes",
                "write role = \
            \"read-write\"",
            );
        }
        if step.rows.is_some() && !matches!(call_mix, CallMix::Once(_)) {
            self.paced(call_mix, procedures, place)?;
        }
        Ok(())
    }

    /// Checks that the rows per call are known, for ending or pacing by rows.
    fn paced(
        &self,
        call_mix: &CallMix,
        procedures: &[Procedure],
        place: Range<usize>,
    ) -> Result<(), PlanError> {
        if matches!(call_mix, CallMix::Once(_)) {
            return Err(self.refuse(place, "a `once` step has no rate"));
        }
        if positions(call_mix).iter().any(|position| procedures[usize::from(*position)].rows > 0) {
            return Ok(());
        }
        Err(self
            .refuse(place, "the rows that these procedures write are not known")
            .remedy("give `rows` to the procedures: what one call inserts, deletes or changes"))
    }

    fn call_mix(&self, entry: &Spanned<CallMixEntry>) -> Result<CallMix, PlanError> {
        let all = |names: &[Spanned<String>]| -> Result<Vec<u16>, PlanError> {
            if names.is_empty() {
                return Err(self.refuse(entry.span(), "no procedure is named"));
            }
            names.iter().map(|name| self.procedure(name)).collect()
        };
        match entry.get_ref() {
            CallMixEntry::InTurn(names) => Ok(CallMix::InTurn(all(names)?)),
            CallMixEntry::Once(names) => Ok(CallMix::Once(all(names)?)),
            CallMixEntry::Mix(weights) if weights.0.is_empty() => {
                Err(self.refuse(entry.span(), "no procedure is named"))
            }
            CallMixEntry::Mix(weights) => {
                let weighed = |(name, weight): &(Spanned<String>, Spanned<Text>)| {
                    Ok((self.procedure(name)?, self.small(weight, 1, "a weight")?))
                };
                Ok(CallMix::Mix(weights.0.iter().map(weighed).collect::<Result<_, PlanError>>()?))
            }
        }
    }

    /// Reads `100%`, `80% of inserts`, `100% + 100` or a count.
    fn row_count(&self, written: &Spanned<Text>) -> Result<RowCount, PlanError> {
        let refuse = |why: String| self.refuse(written.span(), why);
        let text = written.get_ref().0.trim();
        let Some((share, rest)) = text.split_once('%') else {
            let fixed = self.at_least(written, 1, "rows")?;
            return Ok(RowCount { share: 0.0, fixed });
        };
        let share = parse_share(&format!("{share}%")).map_err(refuse)?;
        let (of, more) = rest.split_once('+').unwrap_or((rest, ""));
        let mut fixed = match more.trim() {
            "" if rest.contains('+') => return Err(refuse(format!("`{text}` ends too early"))),
            "" => 0,
            more => self.variables.at_least(self.source, (more, written.span()), 0, "rows")?,
        };
        let Some(name) = of.trim().strip_prefix("of ") else {
            return match of.trim() {
                "" => Ok(RowCount { share, fixed }),
                _ => Err(refuse(format!("`{text}` is not a number of rows"))
                    .remedy("write 5000, \"100%\", \"100% + 100\" or \"80% of inserts\"")),
            };
        };
        let what = "what a share is taken of";
        let of = self.variables.at_least(self.source, (name, written.span()), 0, what)?;
        fixed += share_of(of, share);
        match fixed {
            0 => Err(refuse(format!("`{text}` is zero rows"))),
            _ => Ok(RowCount { share: 0.0, fixed }),
        }
    }

    fn unit(&self, written: &StepTable, rows: Option<RowCount>) -> Result<OpUnit, PlanError> {
        let Some(word) = &written.unit else { return Ok(OpUnit::Operation) };
        match (self.word(word, "unit", &UNITS)?, rows) {
            (Unit::Operation, _) => Ok(OpUnit::Operation),
            (Unit::Row, _) => Ok(OpUnit::Row),
            (Unit::All, Some(rows)) => Ok(OpUnit::Rows(rows.of(self.variables.loaded))),
            (Unit::All, None) => Err(self
                .refuse(word.span(), "`all rows` needs `rows`")
                .remedy("give `rows`, such as \"100%\"")),
        }
    }
}

/// Returns the procedures of a call mix.
fn positions(call_mix: &CallMix) -> Vec<u16> {
    match call_mix {
        CallMix::Mix(weights) => weights.iter().map(|(position, _)| *position).collect(),
        CallMix::InTurn(list) | CallMix::Once(list) => list.clone(),
    }
}
