//! Executes one step: its clients or its search, and its settle.

use std::io::Write;

use engine::Engine;
use load::{StepEnd, process_readings};
use model::record::SettleRecord;
use model::{Load, Step, StopRule};

use super::context::StepContext;
use super::parent_link::Worker;
use super::settle::settle;
use super::trial::Trial;
use crate::account::growth;
use crate::message::{Message, StepEnds};
use crate::tally;

impl<W: Write + Send> Worker<'_, W> {
    /// Executes one step; its failure is part of the result.
    pub(crate) fn step(&self, context: &StepContext<'_>) -> Result<StepEnds, String> {
        let mut ends = if context.step.stop == StopRule::Operations(0) {
            self.begin_measuring(context)?;
            StepEnds::without_clients(context.index, StepEnd::Finished)
        } else {
            self.drive(context)?
        };
        let stages = workload::stages(&context.step.name, context.application());
        if ends.end == StepEnd::Finished && !stages.is_empty() {
            let before = process_readings();
            match self.settle(context.engine, stages, context.step) {
                Ok(record) => ends.settle = Some(record),
                Err(reason) => ends.end = StepEnd::Failed { reason },
            }
            // The wait belongs to the step that caused the work, so its costs do too.
            for (name, grown) in growth(&before, &process_readings()) {
                *ends.growth.entry(name).or_insert(0.0) += grown;
            }
        }
        if let (true, Some(settle)) = (ends.clients.is_empty(), &ends.settle) {
            ends.duration = settle.took_ns;
        }
        if self.stop.is_set() && ends.end == StepEnd::Finished {
            ends.end = StepEnd::Stopped;
        }
        ends.after = self.final_state(context.engine);
        ends.malloc = Some(self.heap.record());
        Ok(ends)
    }

    /// Runs a step's clients, or its search.
    fn drive(&self, context: &StepContext<'_>) -> Result<StepEnds, String> {
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
        Ok(match self.try_load(context, &trial, &mut |_, _| {})? {
            Ok(totals) => tally::step_ends(context.index, &totals),
            Err(end) => StepEnds::without_clients(context.index, end),
        })
    }

    fn settle(
        &self,
        engine: &dyn Engine,
        stages: &[workload::Stage],
        step: &Step,
    ) -> Result<SettleRecord, String> {
        settle(engine, stages, step.settle_cap, self.clock, &mut |stage| {
            let message = match stage {
                Some(name) => Message::Stage { name: name.to_owned() },
                None => Message::Heartbeat { operations: 0 },
            };
            self.send(&message).is_ok() && !self.stop.is_set()
        })
        .map_err(|error| error.to_string())
    }
}
