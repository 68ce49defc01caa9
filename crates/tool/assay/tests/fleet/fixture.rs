//! An experiment that runs on other machines, in a scratch directory.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use archive::{ExperimentDir, Results};
use model::{Manifest, RunRecord};
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::programs::within;

/// Name of the experiment.
pub(crate) const NAME: &str = "fleet";
/// Longest wait for something that takes seconds, on a busy host.
pub(crate) const SOON: Duration = Duration::from_secs(120);
/// Longest wait for a block that is run again after its machine was lost: 35 s on an idle host.
pub(crate) const MOVE_MAX: Duration = Duration::from_secs(240);

/// A scratch directory with an experiment of two variants.
///
/// Its name has a space and a dollar: it is an argument of programs on other machines.
pub(crate) struct Fixture {
    _root: TempDir,
    dir: PathBuf,
}

impl Fixture {
    /// Makes an experiment of this number of blocks. Its reading step lasts for `duration`.
    pub(crate) fn new(blocks: u32, duration: &str) -> Self {
        Self::with_second(blocks, duration, "engine = \"memory\"\n")
    }

    /// Makes an experiment with the engine and options of its second variant.
    pub(crate) fn with_second(blocks: u32, duration: &str, second: &str) -> Self {
        let steps = format!(
            "steps = [\"filluniquerandom\", \"readrandom\"]\nduration = \"{duration}\"\n\
             warmup = \"10ms\"\n"
        );
        Self::of(blocks, &steps, second)
    }

    /// Makes an experiment whose steps end by count.
    pub(crate) fn counted(blocks: u32) -> Self {
        let steps = "steps = [\"fillrandom\"]\n";
        Self::of(blocks, steps, "engine = \"memory\"\n")
    }

    fn of(blocks: u32, steps: &str, second: &str) -> Self {
        Self::written(&format!(
            "[benchmark]\ndurability = \"none\"\n{steps}rows = 500\n[factors]\nrepetitions = {blocks}\n\
             [[variant]]\nname = \"one\"\nengine = \"memory\"\n\
             [[variant]]\nname = \"two\"\n{second}"
        ))
    }

    /// Makes an experiment of the tables after its first.
    pub(crate) fn written(tables: &str) -> Self {
        let root = tempfile::tempdir().expect("a scratch directory");
        let dir = root.path().join("a b $HOME 'c'");
        fs::create_dir(&dir).expect("a scratch directory");
        let text = format!(
            "[experiment]\nname = \"{NAME}\"\nquestion = \"Do machines differ?\"\n\
             seed = 7\n{tables}"
        );
        fs::write(dir.join("fleet.toml"), text).expect("a scratch directory");
        Self { _root: root, dir }
    }

    /// Returns a path in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Returns a command of Assay in this directory; clients of Slurm find the cluster.
    ///
    /// It ends with the test, also with one that fails.
    pub(crate) fn assay(&self, cluster: Option<&Cluster>, arguments: &[&str]) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(assert_cmd::cargo::cargo_bin!("assay"));
        command.current_dir(&self.dir).args(arguments);
        command.args(["--data-dir", "data", "--cache-dir", "cache"]);
        if let Some(cluster) = cluster {
            command.env("SLURM_CONF", cluster.config());
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns the command that runs the experiment with these options.
    pub(crate) fn run(&self, cluster: Option<&Cluster>, options: &[&str]) -> Command {
        let mut command = self.assay(cluster, &["run", "fleet.toml", "--disk-floor", "1MiB"]);
        command.args(options);
        command
    }

    /// Returns the command that attaches to the experiment, or completes it.
    pub(crate) fn resume(&self, cluster: Option<&Cluster>) -> Command {
        self.assay(cluster, &["run", "--resume", NAME, "--disk-floor", "1MiB"])
    }

    /// Returns the experiment, if it was begun.
    pub(crate) fn experiment(&self) -> Option<ExperimentDir> {
        Results::at(&self.path("results")).find(NAME).ok()
    }

    /// Returns the manifest and the records in the archive.
    pub(crate) fn records(&self) -> (Manifest, Vec<RunRecord>) {
        let dir = self.experiment().expect("the experiment was begun");
        let manifest = dir.manifest().expect("a manifest is always readable");
        let records = dir.runs(&manifest).expect("a record is always readable");
        (manifest, records)
    }

    /// Returns the names of the runs in `attempts/`.
    pub(crate) fn attempts(&self) -> Vec<String> {
        let dir = self.experiment().expect("the experiment was begun");
        let entries = fs::read_dir(dir.path().join("attempts")).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Returns the machine of the newest attempt at a block, while it is in force.
    pub(crate) fn machine_of(&self, block: u32) -> Option<String> {
        let dir = self.experiment()?;
        let fleet = Results::of(&dir).fleet_dir(&dir.manifest().ok()?.id);
        let attempt = fleet::Fleet::at(fleet).state(block).current?;
        Some(attempt.owner?.machine)
    }

    /// Returns the number of runs that the newest attempt at a block has ended.
    pub(crate) fn runs_of(&self, block: u32) -> usize {
        let state = || {
            let dir = self.experiment()?;
            let fleet = Results::of(&dir).fleet_dir(&dir.manifest().ok()?.id);
            fleet::Fleet::at(fleet).state(block).current
        };
        state().map_or(0, |attempt| attempt.runs().len())
    }

    /// Returns what the newest attempt at a block has logged.
    pub(crate) fn logged(&self, block: u32) -> String {
        let log = || {
            let dir = self.experiment()?;
            let fleet = Results::of(&dir).fleet_dir(&dir.manifest().ok()?.id);
            fs::read_to_string(fleet::Fleet::at(fleet).state(block).current?.log()).ok()
        };
        log().unwrap_or_default()
    }

    /// Returns whether no blocks are left: only the options of the machines stay.
    pub(crate) fn is_clean(&self) -> bool {
        let dir = self.experiment().expect("the experiment was begun");
        let id = dir.manifest().expect("a manifest is always readable").id;
        let place = Results::of(&dir).fleet_dir(&id);
        let names = fs::read_dir(place).into_iter().flatten().flatten();
        names.map(|entry| entry.file_name()).all(|name| name == "options.json")
    }

    /// Checks that every cell has one complete run, that each block has one machine, and that all
    /// files agree with their checksums.
    pub(crate) fn assert_whole(&self) {
        let (manifest, records) = self.records();
        assert_eq!(records.len(), manifest.plan.cells.len());
        for record in &records {
            assert!(record.end.is_complete(), "{}: {:?}", record.cell.id, record.end);
            let machine = |record: &RunRecord| record.machine.as_ref().map(|it| it.name.clone());
            let others = records.iter().filter(|it| it.cell.repetition == record.cell.repetition);
            assert!(machine(record).is_some());
            assert!(others.map(machine).all(|other| other == machine(record)));
        }
        let output = self.assay(None, &["verify", NAME]).output().expect("Assay starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("mismatches: 0"), "{text}");
        assert!(self.is_clean(), "blocks are left");
    }
}

/// Waits for a child; returns its exit code, standard output and standard error.
pub(crate) fn ended(mut child: Child, limit: Duration) -> Ended {
    let status = within(limit, || child.try_wait().expect("a child"));
    if status.is_none() {
        child.kill().expect("a child");
    }
    let output = child.wait_with_output().expect("a child");
    let ended = Ended {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(status.is_some(), "not within {limit:?}: the command ends\n{}", ended.err);
    ended
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Returns the number of a machine of a cluster: n2 is 2.
pub(crate) fn number(machine: &str) -> usize {
    machine.trim_start_matches('n').parse().expect("a machine of the cluster")
}
