//! The end of a worker: how it ended, its files, its record.

use std::path::Path;

use archive::ArchiveError;
use model::{Bytes, RunEnd, WATCHED};

use super::data::DataRoot;
use super::supervise::{Supervised, Supervisor};
use super::workbench::Progress;
use crate::stamp::now_utc;

/// Free space below which a failure names the disk. Our choice: a segment of a log.
const FULL_DISK_BYTES: Bytes = Bytes(16 << 20);
/// Fact of a run: files of the engine that are not archived.
const NOT_STORED: &str = "files_not_stored";

impl Supervisor<'_> {
    /// Ends the server and archives its files; its exit may be the cause of a failed run.
    fn close_host(&mut self, step: &str, is_all_done: bool) {
        let is_failed = matches!(self.end, None | Some(RunEnd::Failed { .. }));
        if is_failed && !is_all_done {
            let death = self.host.end_of_failed(step);
            let death = death.map(|death| self.bench.interrupt.end(death));
            self.end = death.or_else(|| self.end.take());
        }
        let is_stopped = || !is_all_done || self.bench.interrupt.level() > 0;
        for file in self.host.close(&is_stopped) {
            self.keep_file(&file);
        }
    }

    /// Returns what comes before the names of files of a worker that only loads.
    fn prefix(&self) -> &'static str {
        if self.range.1 < self.steps.len() { "load." } else { "" }
    }

    /// Archives one of the engine's files, if it is there.
    fn keep_file(&mut self, file: &Path) {
        let prefix = self.prefix();
        match self.writer.keep_engine_file(&self.data.path, file, prefix) {
            Err(error) if error.is_absence() => {}
            stored => self.note(stored),
        }
    }

    /// Notes a file of the engine that is not stored.
    ///
    /// What was measured is complete without it.
    pub(super) fn note(&mut self, stored: Result<(), ArchiveError>) {
        if let (Err(error), Some(identity)) = (stored, &mut self.record.identity) {
            let note = identity.facts.entry(NOT_STORED.to_owned()).or_default();
            *note = if note.is_empty() { error.to_string() } else { format!("{note}; {error}") };
        }
    }

    /// Decides how the run ended, archives the engine's files and closes the record.
    pub(super) fn finish(
        mut self,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Supervised, ArchiveError> {
        let step = self.step_name();
        // Before its files are read: a hostile engine would replace them meanwhile.
        let (ended, client_hosts) = self.workers.ended();
        self.record.client_hosts = client_hosts;
        if let Some(profiler) = self.profiler.take() {
            progress(Progress::Begins("for the CPU profiles to be folded"));
            profiler.finish(&mut self.record, &self.writer);
        }
        for file in std::mem::take(&mut self.engine_files) {
            // An engine of a trusted experiment may have its log elsewhere.
            if file.starts_with(&self.data.path) {
                self.keep_file(&file);
            }
        }
        for (name, text) in [("stdout.txt", &ended.stdout), ("stderr.txt", &ended.stderr)] {
            if !text.is_empty() {
                let name = format!("{}{name}", self.prefix());
                let stored = self.writer.keep_engine_text(&name, text);
                self.note(stored);
            }
        }
        let has_all_steps = self.next_step() == self.range.1;
        let is_all_done = self.is_closed && !self.is_torn && has_all_steps;
        if let Some(text) = self.host.stop_of(&self.record.variant) {
            progress(Progress::Begins(&text));
        }
        self.close_host(&step, is_all_done);
        self.record.end = match (self.end, ended.failure()) {
            (Some(RunEnd::Hung { step, waited_ns, lock_wait, .. }), _) => {
                let last_line = ended.stderr.lines().last().unwrap_or_default().to_owned();
                RunEnd::Hung { step, waited_ns, last_line, lock_wait }
            }
            (Some(end), _) => end,
            (None, Some(_)) if self.memory.has_killed(ended.status) => {
                RunEnd::OutOfMemory { step, reason: self.memory.evidence() }
            }
            (None, None) if is_all_done => RunEnd::Complete,
            (None, reason) => {
                let early = || "it ended before its work was done".to_owned();
                let reason = reason.unwrap_or_else(early);
                self.bench.interrupt.end(RunEnd::Crashed { step, reason })
            }
        };
        name_full_disk(&mut self.record.end, self.bench.data);
        if self.record.end.is_complete() && self.range.1 < self.steps.len() {
            // It is loaded; the other steps begin from what is saved.
            self.record.end = RunEnd::Running;
        } else {
            self.record.ended_at = Some(now_utc());
            if let Some(drive) = &mut self.record.drive {
                drive.after = self.bench.drive.and_then(|read| read());
            }
            if let Some(identity) =
                self.record.identity.as_mut().filter(|_| self.writer.is_watched())
            {
                identity.facts.insert(WATCHED.to_owned(), true.to_string());
            }
            self.writer.finish(&self.record)?;
            progress(Progress::RunEnds(&self.record));
        }
        let immutable = self.immutable.unwrap_or_default();
        Ok(Supervised { record: self.record, writer: self.writer, immutable })
    }
}

/// Adds the room on the disk, and the remedy, to a failure where there is next to none.
fn name_full_disk(end: &mut RunEnd, data: &DataRoot) {
    let (RunEnd::Failed { reason, .. } | RunEnd::Crashed { reason, .. }) = end else { return };
    if let Some(lack) = sampler::lack_of_inodes(&[data.path()]) {
        *reason += &format!("; {lack}, or name another directory with --data-dir");
    } else if let Ok(free) = data.free()
        && free < FULL_DISK_BYTES
    {
        *reason += &format!(
            "; only {free} are free on the disk of {}: make room, use fewer rows, or name another \
             directory with --data-dir",
            data.path().display()
        );
    }
}
