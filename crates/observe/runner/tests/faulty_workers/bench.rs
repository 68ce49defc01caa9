//! An experiment whose worker is a shell.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use archive::{ExperimentDir, Results};
use malloc::Libraries;
use model::{Bytes, Manifest, Nanos, RunRecord};
use runner::{DataRoot, Interrupt, Progress, Served, Workbench, WorkerProgram, run_cells};
use tempfile::TempDir;

/// Longest silence of a worker in tests of anything else: it only guards against hanging for ever.
const PATIENT: Nanos = Nanos::from_secs(120);

/// A scratch directory with the fixture's experiment begun anew.
pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    pub(crate) manifest: Manifest,
    pub(crate) experiment: ExperimentDir,
    /// Longest silence of a worker.
    pub(crate) watchdog: Nanos,
    /// Time the parent is blocked after the first interval, as by a slow disk.
    pub(crate) blocked: Duration,
    /// Whether the user stops the run when its first step begins.
    pub(crate) is_stopped: bool,
    /// How variants' servers are provided.
    pub(crate) servers: BTreeMap<String, Served>,
    /// What was noted about runs.
    pub(crate) notes: RefCell<Vec<String>>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../archive/tests/data/schema-1");
        let manifest = Results::at(&fixture).find("quick").and_then(|dir| dir.manifest());
        let mut manifest = manifest.expect("the archive's fixture");
        for step in &mut manifest.plan.experiment.steps {
            // The cap of a settle is added to the watchdog's timeout.
            step.settle_cap = Nanos(0);
        }
        let dir = tempfile::tempdir().expect("a scratch directory");
        let experiment =
            Results::at(dir.path()).create(&mut manifest).expect("a scratch directory");
        Self {
            dir,
            manifest,
            experiment,
            watchdog: PATIENT,
            blocked: Duration::ZERO,
            is_stopped: false,
            servers: BTreeMap::new(),
            notes: RefCell::default(),
        }
    }

    /// Returns a bench whose workers are hung once they are silent for so long.
    pub(crate) fn with_watchdog(watchdog: Nanos) -> Self {
        Self { watchdog, ..Self::new() }
    }

    /// Runs the experiment's one cell with a shell for a worker, which sends these lines.
    pub(crate) fn run(&self, lines: &[String], then: &str) -> RunRecord {
        let file = self.dir.path().join("messages");
        std::fs::write(&file, lines.concat()).expect("a scratch directory");
        // The connection is its standard input.
        let script = format!("read order; cat '{}' >&0; {then}", file.display());
        let data = DataRoot::take(&self.dir.path().join("data"), &mut |_| ())
            .expect("a scratch directory");
        let bench = Workbench {
            program: WorkerProgram {
                path: "/bin/sh".into(),
                arguments: vec!["-c".to_owned(), script],
            },
            data: &data,
            libraries: BTreeMap::new(),
            servers: self.servers.clone(),
            server_user: None,
            allocators: Libraries::default(),
            watchdog: self.watchdog,
            disk_floor: Bytes(0),
            snapshot_limit: None,
            profiler: None,
            drive: None,
            machine: None,
            block: None,
            clients: None,
            confinement: None,
            interrupt: Interrupt::default(),
        };
        let mut blocked = self.blocked;
        let mut progress = |event: Progress<'_>| {
            if matches!(event, Progress::Second(..)) {
                block(mem::take(&mut blocked));
            } else if let Progress::Note(text) = event {
                self.notes.borrow_mut().push(text.to_owned());
            } else if matches!(event, Progress::StepBegins(_)) && self.is_stopped {
                bench.interrupt.raise();
            }
        };
        run_cells(&bench, &self.manifest, &self.experiment, &mut progress).expect("a record");
        let cell = &self.manifest.plan.cells[0].id;
        self.experiment.run(cell).expect("a record").expect("a record")
    }

    /// Returns the directory of the cell's run.
    pub(crate) fn run_dir(&self) -> PathBuf {
        self.experiment.run_dir(&self.manifest.plan.cells[0].id)
    }
}

/// Blocks the parent.
#[expect(clippy::disallowed_methods, reason = "the parent is blocked in real time")]
fn block(time: Duration) {
    thread::sleep(time);
}

/// Returns messages as the lines of a connection.
pub(crate) fn numbered(messages: &[&str]) -> Vec<String> {
    let line = |(number, message): (usize, &&str)| {
        format!("{{\"number\":{number},\"message\":{message}}}\n")
    };
    messages.iter().enumerate().map(line).collect()
}
