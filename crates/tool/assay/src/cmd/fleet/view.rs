//! Progress of all machines in one view: their log lines, each with its machine.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};

use fleet::{Attempt, BlockState};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};
use model::Manifest;

use crate::phase;
use crate::ui::{self, Ui, clean};

/// An attempt at a block, as a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    block: u32,
    machine: String,
    started_at: String,
}

/// The log of an attempt, as far as it was printed.
struct Tail {
    reader: BufReader<File>,
    /// The line that is not complete yet.
    begun: String,
}

/// Log lines of all machines.
pub(super) struct View {
    ui: Ui,
    name: String,
    tails: BTreeMap<Source, Tail>,
    /// Last line, on a terminal.
    head: Option<ProgressBar>,
}

impl View {
    /// Begins a view.
    pub(super) fn new(ui: &Ui, manifest: &Manifest) -> Self {
        let lines = ui.is_live.then(|| {
            let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            let head = all.add(ProgressBar::new_spinner());
            ui::set_live(Some(all));
            head
        });
        let name = manifest.plan.experiment.name.clone();
        Self { ui: ui.clone(), name, tails: BTreeMap::new(), head: lines }
    }

    /// Prints new lines of the logs of a block.
    pub(super) fn logs(&mut self, block: u32, state: &BlockState) {
        let attempts = state.done.iter().chain(&state.current).chain(&state.lost);
        for attempt in attempts {
            self.log(block, attempt);
        }
    }

    fn log(&mut self, block: u32, attempt: &Attempt) {
        let Some(owner) = &attempt.owner else { return };
        let (machine, started_at) = (owner.machine.clone(), owner.started_at.clone());
        let source = Source { block, machine, started_at };
        if !self.tails.contains_key(&source) {
            // It stays open when its directory is renamed.
            let Ok(file) = File::open(attempt.log()) else { return };
            let tail = Tail { reader: BufReader::new(file), begun: String::new() };
            self.tails.insert(source.clone(), tail);
        }
        let Some(tail) = self.tails.get_mut(&source) else { return };
        while let Ok(1..) = tail.reader.read_line(&mut tail.begun) {
            if !tail.begun.ends_with('\n') {
                return;
            }
            let line = std::mem::take(&mut tail.begun);
            if !line.trim().is_empty() {
                self.ui.status(format_args!("{}  {}", owner.machine, line.trim_end()));
            }
        }
    }

    /// Shows a line about all machines.
    pub(super) fn head(&self, text: &str) {
        phase::enter_known(format!("for other machines ({text})"));
        if let Some(head) = &self.head {
            head.set_message(clean(&format!("Assay {}   {text}", self.name)));
        }
    }
}

impl Drop for View {
    /// Clears the last line.
    fn drop(&mut self) {
        if let Some(head) = &self.head {
            head.finish_and_clear();
        }
        ui::set_live(None);
        phase::leave();
    }
}
