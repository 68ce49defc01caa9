//! The statements of a step's procedures, before and after it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use engine::ApplicationSetup;
use model::sql::TrafficSpec;
use model::{Application, Call, StatementRecord, StatementState};

use super::around::with_call;
use crate::message::Message;
use crate::worker::operations::StepContext;
use crate::worker::parent_link::Worker;

/// The statements of each procedure, by its position.
pub(super) type Statements = BTreeMap<u16, Vec<StatementState>>;

impl<W: Write + Send> Worker<'_, W> {
    /// Returns the statements of a step's procedures as the server sees them now.
    ///
    /// Called outside of measured spans. What the server does not report is left out: the run goes
    /// on without it.
    pub(super) fn statements(
        &self,
        context: &StepContext<'_>,
        setup: &ApplicationSetup,
        executes: bool,
    ) -> Statements {
        let called = setup.application.step(&context.step.name).map(TrafficSpec::positions);
        let called = called.zip(context.engine.server());
        let Some((called, server)) = called else { return Statements::new() };
        self.send(&Message::stage("statements"));
        let states = |procedure: u16| {
            let query = |call: &Call<'_>| server.statements(call, executes);
            Some((procedure, with_call(server, setup, procedure, query).ok()?))
        };
        called.collect::<BTreeSet<u16>>().into_iter().filter_map(states).collect()
    }

    /// Reports a step's statements, and archives the texts of their plans, before and after it.
    ///
    /// After a step that did not finish they are not read: its plans are those before it.
    pub(super) fn report_statements(
        &self,
        context: &StepContext<'_>,
        setup: &ApplicationSetup,
        is_finished: bool,
        mut before: Statements,
    ) {
        let (application, index) = (&setup.application, context.index);
        let mut text = plan_texts(application, "before", &before);
        if is_finished {
            let after = self.statements(context, setup, true);
            text.push_str(&plan_texts(application, "after", &after));
            let (mut records, mut entries) = (Vec::new(), Vec::new());
            for (position, states) in after {
                let Some(procedure) = application.procedure(position) else { continue };
                let mut earlier = before.remove(&position).unwrap_or_default().into_iter();
                for state in states {
                    entries.push(state.entries.clone());
                    records.push(StatementRecord::of(&procedure.name, earlier.next(), state));
                }
            }
            mark_shared(&mut records, &entries);
            if !records.is_empty() {
                self.send(&Message::Statements { index, statements: records });
            }
        }
        if !text.is_empty() {
            let step = &context.step.name;
            self.send(&Message::EngineText { name: format!("{index}.{step}.plans.txt"), text });
        }
    }
}

/// Notes in each record the others whose entries of the server's statistics it has too.
fn mark_shared(records: &mut [StatementRecord], entries: &[Vec<String>]) {
    let names: Vec<String> = records.iter().map(StatementRecord::name).collect();
    for ((at, record), own) in (0..).zip(records).zip(entries) {
        let is_shared =
            |other: usize| other != at && entries[other].iter().any(|entry| own.contains(entry));
        let others = (0..names.len()).filter(|other| is_shared(*other));
        record.shared_with = others.map(|other| names[other].clone()).collect();
    }
}

/// Returns the texts of plans at one moment, each after a line that names its statement.
fn plan_texts(application: &Application, moment: &str, statements: &Statements) -> String {
    let mut text = String::new();
    for (position, states) in statements {
        let Some(procedure) = application.procedure(*position) else { continue };
        for state in states {
            let (name, number) = (&procedure.name, state.number);
            text.push_str(&format!("==== {name} {number} {moment}\n{}", state.text));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::tests::toy::application;

    #[test]
    fn statements_with_an_entry_in_common_name_each_other() {
        let of = |procedure: &str, number| {
            let state = StatementState { number, ..StatementState::default() };
            StatementRecord::of(procedure, None, state)
        };
        let mut records = [of("payment", 5), of("payment", 6), of("order_status", 1)];
        let entries = [["x", "y"].map(str::to_owned).into(), vec![], vec!["y".to_owned()]];
        mark_shared(&mut records, &entries);
        let shared = records.map(|record| record.shared_with);
        assert_eq!(
            shared,
            [vec!["order_status 1".to_owned()], vec![], vec!["payment 5".to_owned()]]
        );
    }

    #[test]
    fn a_plan_stands_below_its_statement_and_its_moment() {
        let state = |number, text: &str| StatementState {
            number,
            text: format!("{text}\n"),
            ..StatementState::default()
        };
        let statements = Statements::from([
            (0, vec![state(1, "Insert")]),
            (2, vec![state(1, "Seq Scan"), state(3, "Index Scan")]),
            (9, vec![state(1, "of no procedure")]),
        ]);
        assert_eq!(
            plan_texts(&application(), "before", &statements),
            "==== insert 1 before\nInsert\n==== points 1 before\nSeq Scan\n\
             ==== points 3 before\nIndex Scan\n"
        );
        assert_eq!(plan_texts(&application(), "after", &Statements::new()), "");
    }
}
