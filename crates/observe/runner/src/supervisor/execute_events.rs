//! Executes the events of a step between two messages of the worker.

use load::Clock;
use model::RunEnd;

use super::experiment::samplers;
use super::supervise::Supervisor;
use crate::message::Command;

impl Supervisor<'_> {
    /// Executes the events that are due; a server that does not come back ends the run.
    pub(super) fn execute_events(&mut self) {
        let now = self.clock.now();
        let Some(server) = self.host.running().filter(|_| !self.watch.is_over) else { return };
        let was_promoted = server.is_promoted();
        let advanced = self.server_events.advance(server, now);
        if server.is_promoted() != was_promoted {
            self.accumulator.forget_engine();
        }
        if self.server_events.is_away() {
            // It has a limit of its own.
            self.watch.alive(now);
        }
        let lets_go = self.server_events.lets_go(server);
        match advanced {
            Ok(false) => {}
            Ok(true) => {
                let samplers = samplers(self.workers.pid(), &self.memory, self.data, &self.host);
                self.accumulator.sample_with(samplers);
            }
            Err(reason) => {
                return self.end_with(RunEnd::Crashed { step: self.step_name(), reason });
            }
        }
        if lets_go {
            self.workers.send(&Command::Go);
        }
    }
}
