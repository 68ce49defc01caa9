//! Executes one step: its clients or its search, and its settle.

use std::io::Write;

use engine::Engine;
use load::{GroupTally, Reopening, StepEnd, process_readings};
use model::record::OpCounts;
use model::record::SettleSpan;
use model::{Load, Readings, StepRole, StopRule};
use workload::Stage;

use super::operations::StepContext;
use super::parent_link::Worker;
use super::settle::settle;
use super::trial::Trial;
use crate::account::growth;
use crate::message::{Message, StepEnds};

impl<W: Write + Send> Worker<'_, W> {
    /// Executes one step; its failure is part of the result.
    ///
    /// A step with operations and its settle are two spans; the parent takes readings in between.
    pub(crate) fn step(&self, context: &StepContext<'_>) -> StepEnds {
        let stages = context.operations.stages(context.step);
        let mut ends = if context.step.stop == StopRule::Operations(0) {
            self.maintain(context, stages)
        } else {
            let mut ends = self.drive(context);
            self.end_span(&mut ends, context.engine);
            let has_more = !stages.is_empty() || context.writes.is_some();
            if ends.end == StepEnd::Finished && has_more && context.is_first() {
                self.send(&Message::SettleBegins { after: Box::new(ends.after.clone()) });
                self.wait_for_go();
                compare_writes(context, &mut ends);
                if !stages.is_empty() {
                    self.settle_apart(context, stages, &mut ends);
                }
            }
            ends
        };
        if self.stop.is_set() && ends.end == StepEnd::Finished {
            ends.end = StepEnd::Stopped;
        }
        ends
    }

    /// Executes a step that is nothing but a settle: costs and duration are the settle's.
    fn maintain(&self, context: &StepContext<'_>, stages: &[Stage]) -> StepEnds {
        self.begin_measuring(context);
        let mut ends = StepEnds::without_clients(context.index, StepEnd::Finished);
        if !stages.is_empty() {
            ends.growth = self.settle(context, stages, &mut ends);
            ends.duration = ends.settle.as_ref().map(|settle| settle.took_ns).unwrap_or_default();
        }
        self.end_span(&mut ends, context.engine);
        ends
    }

    /// Settles after a step's clients, in a span of its own.
    fn settle_apart(&self, context: &StepContext<'_>, stages: &[Stage], ends: &mut StepEnds) {
        let counters = self.settle(context, stages, ends);
        if let Some(settle) = &mut ends.settle {
            let after = self.final_state(context.engine);
            settle.span = Some(Box::new(SettleSpan { counters, after, ..SettleSpan::default() }));
        }
    }

    /// Notes the state of engine and allocator at the end of the measured span.
    fn end_span(&self, ends: &mut StepEnds, engine: &dyn Engine) {
        ends.after = self.final_state(engine);
        ends.malloc = Some(self.heap.record());
    }

    /// Runs a step's clients, or its search.
    fn drive(&self, context: &StepContext<'_>) -> StepEnds {
        if matches!(context.step.load, Load::FindRate(_) | Load::FindClients) {
            return self.search(context);
        }
        let trial = Trial {
            load: context.step.load.clone(),
            clients: context.step.clients,
            stop: context.step.stop,
            warmup: context.step.warmup,
            seed: context.seed,
            probe: None,
        };
        match self.try_load(context, &trial, &mut |_, _| {}) {
            Ok(mut tried) => {
                let is_load = context.operations.role(context.step) == StepRole::Load;
                if is_load
                    && tried.totals.end == StepEnd::Finished
                    && let Some(reason) = lost_rows(&tried.totals.clients)
                {
                    tried.totals.end = StepEnd::Wrong { reason };
                }
                let reopened = context.reopening.map(Reopening::take_done).unwrap_or_default();
                StepEnds { reopened, ..tried.step_ends(context.index) }
            }
            Err(end) => StepEnds::without_clients(context.index, end),
        }
    }

    /// Settles; returns the growth of the worker's own counters.
    fn settle(&self, context: &StepContext<'_>, stages: &[Stage], ends: &mut StepEnds) -> Readings {
        let before = process_readings();
        let cap = context.step.settle_cap;
        let settled = settle(context.engine, stages, cap, self.clock, &mut |stage| {
            self.report_stage(stage);
            !self.stop.is_set()
        });
        match settled {
            Ok(record) => ends.settle = Some(record),
            Err(error) => ends.end = StepEnd::Failed { reason: error.to_string() },
        }
        growth(&before, &process_readings())
    }

    /// Reports the stage of a settle that begins, or that one goes on.
    pub(super) fn report_stage(&self, stage: Option<&str>) {
        self.send(&match stage {
            Some(name) => Message::Stage { name: name.to_owned(), is_settle: true },
            None => Message::Heartbeat { operations: 0 },
        });
    }
}

/// Compares the rows with the writes of the step, where they were noted.
fn compare_writes(context: &StepContext<'_>, ends: &mut StepEnds) {
    let Some(writes) = context.writes else { return };
    let compare = |engine: &dyn Engine| writes.compare(&mut *engine.session()?);
    match context.reopening.map_or_else(|| compare(context.engine), |it| it.with(compare)) {
        Ok(check) => ends.writes = check,
        Err(error) => {
            let reason = format!("the rows cannot be read after the events: {error}");
            ends.end = StepEnd::Failed { reason };
        }
    }
}

/// Returns what a load lost by failed operations, if anything: the next steps would miss rows.
fn lost_rows(clients: &GroupTally) -> Option<String> {
    let mut counts = OpCounts::default();
    clients.values().for_each(|tally| counts.merge(&tally.counts));
    Some(format!("the load lost rows: {}", counts.failures_phrase()?))
}

#[cfg(test)]
mod tests {
    use load::KindTally;
    use model::OpKind;
    use model::record::FailureClass;

    use super::*;

    #[test]
    fn a_load_loses_rows_by_each_failed_operation() {
        let mut tally = KindTally::default();
        tally.counts.done = 9;
        assert_eq!(lost_rows(&[(OpKind::Insert, tally.clone())].into()), None);
        tally.counts.failed = 1;
        tally.counts.failures.add(FailureClass::LostConnection);
        let reason = "the load lost rows: 1 failed: 1 lost connection";
        assert_eq!(lost_rows(&[(OpKind::Insert, tally)].into()).as_deref(), Some(reason));
    }
}
