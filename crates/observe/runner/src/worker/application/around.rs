//! Statements, row counts and checks of an application around each step of a run.

use std::io::Write;
use std::sync::Arc;

use calls::{Tables, sample_calls};
use engine::{ApplicationSetup, Engine, EngineError, ServerSide};
use load::StepEnd;
use model::{Call, Op};
use sql_run::RowCountCheck;

use crate::message::{Message, Order, StepEnds};
use crate::worker::operations::StepContext;
use crate::worker::parent_link::Worker;

impl<W: Write + Send> Worker<'_, W> {
    /// Executes one step with what belongs around it; returns whether the run goes on.
    ///
    /// An application's statements are read and its rows are counted before and after the step. The
    /// structure of its tables and indexes is archived after the last one.
    pub(crate) fn around_step(
        &self,
        order: &Order,
        context: &StepContext<'_>,
        row_counts: &mut Option<RowCountCheck>,
    ) -> bool {
        let Some(row_counts) = row_counts else {
            return self.end_step(context, self.step(context));
        };
        let before = self.statements(context, row_counts.setup(), false);
        let ends = self.application_step(context, row_counts).unwrap_or_else(|error| {
            let end = StepEnd::Failed { reason: error.to_string() };
            StepEnds::without_clients(context.index, end)
        });
        let is_finished = self.end_step(context, ends);
        self.report_statements(context, row_counts.setup(), is_finished, before);
        let steps = context.index + 1;
        let is_last = steps == order.range.1;
        let is_sound = is_finished && self.audit(context.engine, row_counts, is_last);
        if is_sound
            && steps as usize == order.steps.len()
            && let Some(text) = context.engine.server().and_then(ServerSide::structure_text)
        {
            self.send(&Message::EngineText { name: "structure.txt".to_owned(), text });
        }
        is_sound
    }
}

/// Returns the order's application, if any.
pub(crate) fn application_setup(order: &Order) -> Option<ApplicationSetup> {
    let application = Arc::new(order.server.as_ref()?.application.clone()?);
    let clients = order.steps.iter().map(|step| step.clients).max().unwrap_or(1);
    Some(ApplicationSetup { application, clients })
}

/// Returns the row counts that the order's application needs, if there is one.
pub(crate) fn row_counts(order: &Order) -> Option<RowCountCheck> {
    application_setup(order).map(RowCountCheck::new)
}

/// Calls the order's procedures and checks once.
///
/// # Errors
/// When the server refuses one.
pub(crate) fn check_calls(engine: &dyn Engine, order: &Order) -> Result<(), EngineError> {
    let (Some(own), Some(setup)) = (&order.server, application_setup(order)) else { return Ok(()) };
    if own.checked.is_empty() {
        return Ok(());
    }
    let server = server_of(engine)?;
    for called in &own.checked {
        with_call(server, &setup, *called, |call| server.check_call(call))?;
    }
    let mut checks = (0..).zip(&setup.application.checks);
    checks.try_for_each(|(at, _)| server.check_row(at, 0).map(drop))
}

/// Returns the server that runs an application.
///
/// # Errors
/// When the engine is embedded.
pub(super) fn server_of(engine: &dyn Engine) -> Result<&dyn ServerSide, EngineError> {
    let none = || EngineError::Unsupported("an embedded engine runs no application".to_owned());
    engine.server().ok_or_else(none)
}

/// Does something with a call of a procedure, with values as a client draws them.
pub(super) fn with_call<T: Default>(
    server: &dyn ServerSide,
    setup: &ApplicationSetup,
    procedure: u16,
    act: impl FnOnce(&Call<'_>) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let tables = Tables::query(setup, 0, |table, copy| server.bounds(table, copy))?;
    let calls = sample_calls(&tables, procedure);
    let mut calls = calls.map_err(|error| EngineError::Fatal(error.to_string()))?;
    match calls.next() {
        Some(Op::Call(call)) => act(&call),
        Some(_) | None => Ok(T::default()),
    }
}
