//! The statements of a step's procedures, before and after it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use engine::{Engine, EngineError};
use model::{Application, Op, StatementRecord, StatementState};
use workload::Tables;

use super::open::application_setup;
use super::parent_link::Worker;
use crate::message::{Message, Order};

/// The statements of each procedure, by its position.
pub(super) type Statements = BTreeMap<u16, Vec<StatementState>>;

impl<W: Write + Send> Worker<'_, W> {
    /// Returns the statements of a step's procedures as the server sees them now.
    ///
    /// Called outside of measured spans. What the server does not report is left out: the run goes
    /// on without it.
    pub(super) fn statements(
        &self,
        engine: &dyn Engine,
        order: &Order,
        index: u32,
        executes: bool,
    ) -> Statements {
        let name = &order.steps[index as usize].name;
        let called = order.application.as_ref().and_then(|own| Some(own.step(name)?.positions()));
        let Some(called) = called else { return Statements::new() };
        self.send(&Message::Stage { name: "statements".to_owned() });
        let called: BTreeSet<u16> = called.collect();
        let mut all = Statements::new();
        for procedure in called {
            let Ok(states) = of_procedure(engine, order, procedure, executes) else { continue };
            all.insert(procedure, states);
        }
        all
    }

    /// Reports a step's statements, and archives the texts of their plans.
    pub(super) fn report_statements(
        &self,
        application: &Application,
        (index, step): (u32, &str),
        before: Statements,
        after: Statements,
    ) {
        let mut before = before;
        let (mut records, mut text) = (Vec::new(), String::new());
        for (position, states) in after {
            let Some(procedure) = application.procedure(position) else { continue };
            let mut earlier = before.remove(&position).unwrap_or_default().into_iter();
            for state in states {
                text.push_str(&format!("==== {} {}\n{}", procedure.name, state.number, state.text));
                let before = earlier.next();
                records.push(StatementRecord::of(&procedure.name, before, state));
            }
        }
        if !records.is_empty() {
            self.send(&Message::Statements { index, statements: records });
            self.send(&Message::EngineText { name: format!("{index}.{step}.plans.txt"), text });
        }
    }
}

/// Returns the statements of a call with values as a client draws them.
fn of_procedure(
    engine: &dyn Engine,
    order: &Order,
    procedure: u16,
    executes: bool,
) -> Result<Vec<StatementState>, EngineError> {
    let Some(setup) = application_setup(order) else { return Ok(Vec::new()) };
    let tables = Tables::query(&setup, 0, |table, copy| engine.bounds(table, copy))?;
    let calls = workload::sample_calls(&tables, procedure);
    let mut calls = calls.map_err(|error| EngineError::Fatal(error.to_string()))?;
    match calls.next() {
        Some(Op::Call(call)) => engine.statements(&call, executes),
        Some(_) | None => Ok(Vec::new()),
    }
}
