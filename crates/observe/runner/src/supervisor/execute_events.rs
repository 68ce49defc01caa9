//! Executes the events of a step between two messages of the worker.

use crashfs::Mounted;
use load::Clock;
use model::RunEnd;
use server::Running;

use super::experiment::samplers;
use super::supervise::Supervisor;
use crate::message::Command;

impl Supervisor<'_> {
    /// Executes the events that are due; a server that does not come back ends the run.
    pub(super) fn execute_events(&mut self) {
        if self.watch.is_over {
            return;
        }
        let now = self.clock.now();
        let is_promoted = |server: Option<&mut Running>| server.is_some_and(|it| it.is_promoted());
        let was_promoted = is_promoted(self.host.running());
        let disk = self.data.disk.as_ref().map(Mounted::disk);
        let advanced = self.server_events.advance(self.host.running(), disk, now);
        if is_promoted(self.host.running()) != was_promoted {
            self.accumulator.forget_engine();
        }
        if self.server_events.is_away() {
            // It has a limit of its own.
            self.watch.alive(now);
        }
        if let Some(reason) = self.server_events.unsynced() {
            return self.end_with(RunEnd::Failed { step: self.step_name(), reason });
        }
        let lets_go = self.server_events.lets_go(self.host.running(), disk);
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
