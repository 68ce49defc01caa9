//! The steps of an application: call mixes and stop rules.

use std::collections::BTreeMap;

use model::limits::{NAME_BYTES_MAX, is_name};
use model::sql::{Background, CallMix, Procedure, RowCount, TrafficSpec};
use model::units::parse_share;
use model::{OpUnit, StepRole};
use reader::error::{PlanError, refuse};
use reader::syntax::{Fields, Node, Word, list, plain, switch, text, word, wrong_type};

use crate::expression::share_of;
use crate::names::{Names, position};

/// Keywords of `role`.
const ROLES: [(&str, StepRole); 5] = [
    ("load", StepRole::Load),
    ("read", StepRole::Read),
    ("write", StepRole::Write),
    ("read-write", StepRole::ReadWrite),
    ("maintain", StepRole::Maintain),
];
/// Keywords of `unit`; the number of `all rows` is the step's.
const UNITS: [(&str, OpUnit); 3] =
    [("operation", OpUnit::Operation), ("row", OpUnit::Row), ("all rows", OpUnit::Rows(0))];
/// Keys of a step.
#[rustfmt::skip]
const KEYS: [&str; 11] = [
    "name", "about", "role", "clients", "connections", "background", "hold", "rows", "unit",
    "settles", "needs",
];

/// The steps of an application.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) specs: Vec<TrafficSpec>,
    /// The steps that each one needs.
    pub(super) needs: BTreeMap<String, Vec<String>>,
    /// Steps of which the parameters leave no call.
    left_out: Vec<String>,
}

impl<'a> Names<'a> {
    /// Checks the steps.
    pub(super) fn steps(
        &self,
        written: &'a [Node<'a>],
        procedures: &[Procedure],
    ) -> Result<Steps, PlanError> {
        let fields = written.iter().map(|node| Fields::of(node, "[[step]]", &KEYS));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let names =
            fields.iter().map(|fields| fields.text("name")).collect::<Result<Vec<_>, _>>()?;
        let known = || names.iter().map(|name| *name.get_ref());
        let mut steps = Steps::default();
        for (index, (name, fields)) in names.iter().zip(&fields).enumerate() {
            self.step_name(name)?;
            if known().take(index).any(|other| other == *name.get_ref()) {
                return Err(PlanError::here(name.span(), format!("two steps are named `{name}`")));
            }
            let mut before = Vec::new();
            for need in fields.list("needs")? {
                let need = text(need)?;
                if usize::from(position(&need, "step", known())?) >= index {
                    let why =
                        format!("step {name} needs `{need}`, but `{need}` comes after {name}");
                    let remedy = "write the steps in the order in which they may run";
                    return refuse(need.span(), why, remedy);
                }
                before.push((*need.get_ref()).to_owned());
            }
            let owned = (*name.get_ref()).to_owned();
            match self.one_step(name, fields, procedures)? {
                Some(step) => {
                    steps.specs.push(step);
                    before.retain(|need| !steps.left_out.contains(need));
                    steps.needs.insert(owned, before);
                }
                None => steps.left_out.push(owned),
            }
        }
        if !steps.specs.iter().any(|step: &TrafficSpec| step.role == StepRole::Load) {
            let why = "no step fills the tables";
            return refuse(self.name.span(), why, "add a [[step]] with role = \"load\"");
        }
        Ok(steps)
    }

    /// Checks the default order of the steps, without those left out.
    pub(super) fn order(
        &self,
        order: &'a [Node<'a>],
        steps: &Steps,
    ) -> Result<Vec<String>, PlanError> {
        if order.is_empty() {
            return Err(PlanError::here(self.name.span(), "the order names no step"));
        }
        let known = |name: Word<'_>| {
            let names = steps.specs.iter().map(|step| &step.name).chain(&steps.left_out);
            position(&name, "step", names.map(String::as_str))?;
            Ok((*name.get_ref()).to_owned())
        };
        let order = order.iter().map(|name| known(text(name)?));
        let mut order = order.collect::<Result<Vec<_>, PlanError>>()?;
        order.retain(|name| !steps.left_out.contains(name));
        Ok(order)
    }

    fn step_name(&self, name: &Word<'_>) -> Result<(), PlanError> {
        let text = *name.get_ref();
        let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic());
        if is_word && is_name(text, NAME_BYTES_MAX) {
            return Ok(());
        }
        let why = format!("`{text}` cannot be a step's name");
        let remedy = format!(
            "use at most {NAME_BYTES_MAX} letters, digits, `-`, `_` and `.`, and begin with a \
             letter"
        );
        refuse(name.span(), why, remedy)
    }

    /// Returns one step; `None` when the parameters leave no call of it.
    fn one_step(
        &self,
        name: &Word<'_>,
        fields: &Fields<'a>,
        procedures: &[Procedure],
    ) -> Result<Option<TrafficSpec>, PlanError> {
        let clients = fields.get("clients").map(|node| self.call_mix(node)).transpose()?;
        if clients.as_ref().is_some_and(|mix| mix.positions().next().is_none()) {
            return Ok(None);
        }
        let background = fields.get("background").map(|node| self.background(node, procedures));
        let rows = fields.get("rows").map(|node| self.row_count(node)).transpose()?;
        let step = TrafficSpec {
            name: (*name.get_ref()).to_owned(),
            about: (*fields.text("about")?.get_ref()).to_owned(),
            role: self.keyword(fields.required("role")?, "role", &ROLES)?,
            connections: self.connections(fields.get("connections"), clients.as_ref())?,
            clients,
            background: background.transpose()?,
            hold: self.hold(fields.get("hold"), procedures)?,
            rows,
            unit: self.unit(fields.get("unit"), rows)?,
            settles: switch(fields.get("settles"))?,
        };
        self.step_fits(fields, &step, procedures)?;
        Ok(Some(step))
    }

    fn background(
        &self,
        node: &'a Node<'a>,
        procedures: &[Procedure],
    ) -> Result<Background, PlanError> {
        let keys = ["procedures", "rows_per_s", "connections"];
        let fields = Fields::of(node, "a background", &keys)?;
        let called = fields.required("procedures")?;
        let call_mix = self.call_mix(called)?;
        let rate: u32 = self.number(fields.required("rows_per_s")?, 1, "rows_per_s")?;
        self.paced(&call_mix, procedures, called)?;
        let connections = self.connections(fields.get("connections"), Some(&call_mix))?;
        Ok(Background { call_mix, rows_per_s: f64::from(rate), connections })
    }

    /// Checks that a step's fields are consistent.
    fn step_fits(
        &self,
        fields: &Fields<'a>,
        step: &TrafficSpec,
        procedures: &[Procedure],
    ) -> Result<(), PlanError> {
        let role = fields.required("role")?.span();
        let refuse = |why: &str, remedy: &str| {
            let error = PlanError::here(role.clone(), format!("step {}: {why}", step.name));
            Err(error.remedy(remedy))
        };
        let (Some(call_mix), Some(called)) = (&step.clients, fields.get("clients")) else {
            let is_busy = step.background.is_some() || step.hold.is_some();
            if step.role != StepRole::Maintain || !step.settles || is_busy {
                let remedy = "give `clients`, or role = \"maintain\" and settles = true";
                return refuse("the step does nothing", remedy);
            }
            return Ok(());
        };
        if step.role == StepRole::Maintain {
            return refuse("maintenance has no clients", "leave out `clients`");
        }
        let has_calls = |position: u16| procedures[usize::from(position)].policy.calls > 0;
        let is_counted = call_mix.is_once() && call_mix.positions().all(has_calls);
        let ends_by_rows = step.rows.is_some() && !call_mix.is_once();
        if step.role == StepRole::Load && !is_counted && !ends_by_rows {
            let remedy = "give `rows`, such as \"100%\", and a list of procedures that insert";
            return refuse("a step with the role `load` ends after a number of rows", remedy);
        }
        let writes = |position: u16| procedures[usize::from(position)].kind.is_write();
        if step.role == StepRole::Read
            && (call_mix.positions().any(writes) || step.background.is_some())
        {
            let remedy = "write role = \"read-write\"";
            return refuse("the role of the step is `read`, but the step writes", remedy);
        }
        if step.rows.is_some() && !call_mix.is_once() {
            self.paced(call_mix, procedures, called)?;
        }
        Ok(())
    }

    /// Checks that the rows per call are known, for ending or pacing by rows.
    fn paced(
        &self,
        call_mix: &CallMix,
        procedures: &[Procedure],
        called: &Node<'_>,
    ) -> Result<(), PlanError> {
        if call_mix.is_once() {
            return Err(PlanError::here(
                called.span(),
                "a step that calls its procedures once has no rate",
            ));
        }
        if call_mix.positions().any(|position| procedures[usize::from(position)].rows > 0) {
            return Ok(());
        }
        let why = "the rows that these procedures write are not known";
        let remedy = "give `rows` to the procedures: what one call inserts, deletes or changes";
        refuse(called.span(), why, remedy)
    }

    fn call_mix(&self, node: &'a Node<'a>) -> Result<CallMix, PlanError> {
        let all = |names: &'a [Node<'a>]| {
            let positions = names.iter().map(|name| self.procedure(&text(name)?));
            positions.collect::<Result<Vec<_>, PlanError>>()
        };
        let table = node.get_ref().as_table();
        let call_mix = match (node.get_ref().as_array(), table) {
            (Some(names), _) => CallMix::InTurn(all(names)?),
            (None, Some(table)) if table.contains_key("once") => {
                Fields::of(node, "what is called once", &["once"])?;
                CallMix::Once(all(list(&table["once"])?)?)
            }
            (None, Some(table)) => {
                let weighed = |(name, weight): (_, &'a Node<'a>)| {
                    // An expression may leave a procedure out.
                    let least = i64::from(!weight.get_ref().is_str());
                    Ok((self.procedure(&word(name))?, self.number(weight, least, "a weight")?))
                };
                let weights = table.iter().map(weighed);
                let mut weights = weights.collect::<Result<Vec<(u16, u32)>, PlanError>>()?;
                weights.retain(|(_, weight)| *weight > 0);
                if !table.is_empty() {
                    return Ok(CallMix::Mix(weights));
                }
                CallMix::Mix(weights)
            }
            (None, None) => {
                let expected = "a list of procedures, their weights such as { read = 9, write = 1 \
                                }, or { once = [\"index\"] }";
                return Err(wrong_type(expected, node));
            }
        };
        match call_mix.positions().next() {
            Some(_) => Ok(call_mix),
            None => Err(PlanError::here(node.span(), "no procedure is named")),
        }
    }

    /// Reads `100%`, `80% of inserts`, `100% + 100` or a count.
    fn row_count(&self, node: &'a Node<'a>) -> Result<RowCount, PlanError> {
        let refuse = |why: String| PlanError::here(node.span(), why);
        let count = |text: &str| self.variables.evaluate(text).map_err(refuse);
        let text = plain(node.get_ref());
        let Some((share, rest)) = text.split_once('%') else {
            let fixed: i64 = self.number(node, 1, "rows")?;
            return Ok(RowCount { share: 0.0, fixed: fixed.unsigned_abs() });
        };
        let share = parse_share(&format!("{share}%")).map_err(refuse)?;
        let (of, more) = rest.split_once('+').unwrap_or((rest, "0"));
        let mut rows = RowCount { share, fixed: u64::try_from(count(more)?).unwrap_or(0) };
        if let Some(name) = of.trim().strip_prefix("of ") {
            let of = u64::try_from(count(name)?).unwrap_or(0);
            rows = RowCount { share: 0.0, fixed: rows.fixed + share_of(of, share) };
            if rows.fixed == 0 {
                return Err(refuse(format!("`{text}` is zero rows")));
            }
        } else if !of.trim().is_empty() {
            return Err(refuse(format!("`{text}` is not a number of rows"))
                .remedy("write 5000, \"100%\", \"100% + 100\" or \"80% of inserts\""));
        }
        Ok(rows)
    }

    fn unit(
        &self,
        node: Option<&'a Node<'a>>,
        rows: Option<RowCount>,
    ) -> Result<OpUnit, PlanError> {
        let Some(node) = node else { return Ok(OpUnit::Operation) };
        match (self.keyword(node, "unit", &UNITS)?, rows) {
            (OpUnit::Rows(_), Some(rows)) => Ok(OpUnit::Rows(rows.of(self.variables.loaded()))),
            (OpUnit::Rows(_), None) => Err(PlanError::here(node.span(), "`all rows` needs `rows`")
                .remedy("give `rows`, such as \"100%\"")),
            (unit, _) => Ok(unit),
        }
    }
}
