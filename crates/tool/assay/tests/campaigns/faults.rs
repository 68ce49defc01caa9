//! Faults at single system calls of the parent process.
//!
//! A first pass counts the calls that change a file of the archive or of the data directory; then a
//! fault is injected at each of them. The worker, which has no file there of its own, is spared.
//! `ASSAY_FAULT="io 37"` repeats one of them alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Output};
use std::time::Duration;
use std::{fs, io};

use archive::read_record;
use assert_cmd::assert::OutputAssertExt;
use model::RunEnd;

use crate::attempts::AttemptHistory;
use crate::fault_library::{Call, Fault, FaultLibrary};
use crate::sandbox::{Sandbox, note, output_text, wait_until};
use crate::scale::{is_long, variable};
use crate::server_traces::{assert_clean, sandbox_of};

/// Removals in a row from which they are a tree.
const TREE: usize = 16;

/// The server of a scenario.
const SERVER: &str = "postgres@15.10";
/// Start of the private directories of servers.
const PRIVATE: &str = "/tmp/assay-";
/// Every kind of fault.
const FAULTS: [Fault; 4] = [Fault::Short, Fault::Full, Fault::Io, Fault::Kill];
/// Faults of a scenario without `ASSAY_CAMPAIGN=long`.
const SAMPLE: usize = 4;
/// Longest time until a worker ends after its parent.
const LONG: Duration = Duration::from_secs(300);
/// A precision that no machine reaches with four repetitions.
const UNTIL: [&str; 4] = ["--until", "0.01%", "--max-repetitions", "4"];

/// A command at whose calls faults are injected.
struct Scenario<'a> {
    name: &'a str,
    /// Makes the sandbox, with what the command finds there.
    sandbox: &'a dyn Fn() -> Sandbox,
    /// The command.
    command: fn(&Sandbox) -> Command,
    /// The command that completes the experiment.
    complete: fn(&Sandbox) -> Command,
    /// Runs of the complete experiment.
    cells: usize,
    /// What is injected.
    faults: &'a [Fault],
}

/// Runs an experiment that ends by an open loop, and writes the page.
#[test]
fn a_fault_at_any_call_of_a_run_loses_no_record() {
    let sandbox = || {
        let rate = "{ step = \"readrandom\", load = { rate = \"100/s\" } }";
        Sandbox::of(&benchmark(&format!("\"fillseq\", {rate}"), 2), &[("only", "memory", "")])
    };
    Scenario {
        name: "run",
        sandbox: &sandbox,
        command: |sandbox| sandbox.run(&["--report"]),
        complete: Sandbox::resume,
        cells: 2,
        faults: &FAULTS,
    }
    .try_all();
}

/// Repeats a killed run of a pilot, extends the plan and runs the rest.
#[test]
fn a_fault_at_any_call_of_a_resumed_run_loses_no_record() {
    let variants = [("a", "memory", ""), ("b", "memory", "")];
    let sandbox = || Sandbox::of(&benchmark("\"fillseq\"", 3), &variants);
    let pilot = sandbox();
    pilot.run(&[]).assert().code(&[0, 3][..]);
    unfinish(&pilot, "b.c1.r3");
    let command = |sandbox: &Sandbox| {
        let mut command = sandbox.resume();
        command.args(UNTIL);
        command
    };
    Scenario {
        name: "resume",
        sandbox: &|| with_results_of(&pilot, sandbox()),
        command,
        complete: command,
        cells: 8,
        faults: &FAULTS,
    }
    .try_all();
}

/// Reads a complete experiment, whose caches are not there yet.
#[test]
fn a_fault_at_any_call_of_a_reader_changes_no_record() {
    let sandbox = || Sandbox::of(&benchmark("\"fillseq\"", 1), &[("only", "memory", "")]);
    let complete = sandbox();
    complete.run(&[]).assert().code(&[0, 3][..]);
    Scenario {
        name: "list",
        sandbox: &|| with_results_of(&complete, sandbox()),
        command: |sandbox| sandbox.assay(&["list"]),
        complete: Sandbox::resume,
        cells: 1,
        faults: &FAULTS,
    }
    .try_all();
}

/// Runs an experiment with a server, whose directories and notes are made by the parent too.
#[test]
fn a_fault_at_any_call_of_a_server_s_run_leaves_nothing() {
    if !is_long() {
        return note("skipped: each fault takes seconds; `make campaign` tries them");
    }
    let sandbox = || sandbox_of(SERVER, "60ms", "");
    if sandbox().is_none() {
        return;
    }
    Scenario {
        name: "server",
        sandbox: &|| sandbox().expect("it was there"),
        command: |sandbox| sandbox.run(&[]),
        complete: Sandbox::resume,
        cells: 1,
        faults: &[Fault::Kill, Fault::Io],
    }
    .try_all();
}

/// Returns a benchmark of these steps, each as short as possible.
fn benchmark(steps: &str, repetitions: u32) -> String {
    format!(
        "steps = [{steps}]\nrows = 200\nduration = \"60ms\"\nwarmup = \"0s\"\n[factors]\n\
         repetitions = {repetitions}"
    )
}

/// Makes a complete run one that was killed with its parent.
fn unfinish(sandbox: &Sandbox, cell: &str) {
    let run = sandbox.experiment().expect("it was run").run_dir(cell);
    let mut record = read_record(&run).expect("it is complete");
    record.end = RunEnd::Running;
    let text = serde_json::to_string(&record).expect("a record is always valid JSON");
    fs::write(run.join("record.json"), text).expect("the sandbox");
    fs::remove_file(run.join("checksums")).expect("the sandbox");
}

/// Copies the results of a sandbox to another.
fn with_results_of(from: &Sandbox, to: Sandbox) -> Sandbox {
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(from.path("results")).arg(to.path("results")).assert().success();
    to
}

impl Scenario<'_> {
    /// Counts the calls, tries faults at them, and fails with every fault that does harm.
    fn try_all(&self) {
        let Some(library) = FaultLibrary::compile() else { return };
        let calls = self.calls(&library);
        let (tried, mut harmful) = (self.chosen(&calls), Vec::new());
        if tried.is_empty() {
            return note(&format!("skipped: ASSAY_FAULT is at no call of `{}`", self.name));
        }
        let mut reached = 0;
        for (fault, call) in &tried {
            match catch_unwind(AssertUnwindSafe(|| self.try_one(&library, *fault, call.number))) {
                Ok(is_reached) => reached += usize::from(is_reached),
                Err(cause) => {
                    let cause = cause.downcast_ref::<String>().map_or("see above", String::as_str);
                    let at = library.calls().into_iter().find(|at| at.number == call.number);
                    let Call { number, name, path } = at.unwrap_or_else(|| call.clone());
                    let (fault, path) = (fault.name(), path.display());
                    let line = format!("{}: {fault} {number} ({name} {path})", self.name);
                    note(&format!("{line}\n{cause}"));
                    harmful.push(line);
                }
            }
        }
        note(&format!(
            "faults in `{}`: {} calls, {} faults tried, {reached} reached, {} harmful",
            self.name,
            calls.len(),
            tried.len(),
            harmful.len()
        ));
        assert!(reached * 2 >= tried.len(), "faults are not reached");
        assert!(harmful.is_empty(), "repeat one with ASSAY_FAULT:\n{}", harmful.join("\n"));
    }

    /// Returns the calls of an undisturbed command.
    fn calls(&self, library: &FaultLibrary) -> Vec<Call> {
        let sandbox = (self.sandbox)();
        let mut command = (self.command)(&sandbox);
        library.inject(&mut command, &below(&sandbox), None);
        command.assert().code(&[0, 3][..]);
        let calls = library.calls();
        assert!(!calls.is_empty(), "the library is not loaded");
        calls
    }

    /// Returns the faults to try: all, an evenly spread sample, or the requested one.
    ///
    /// Of a tree that is removed, a thousand files of a server, three calls stand for all.
    fn chosen(&self, calls: &[Call]) -> Vec<(Fault, Call)> {
        let is_removal = |call: &Call| matches!(&*call.name, "unlink" | "rmdir");
        let trees = calls.chunk_by(|one, next| is_removal(one) && is_removal(next));
        let calls: Vec<Call> = trees
            .flat_map(|tree| match tree {
                [first, .., last] if tree.len() > TREE => {
                    vec![first.clone(), tree[tree.len() / 2].clone(), last.clone()]
                }
                _ => tree.to_vec(),
            })
            .collect();
        let at = |fault: Fault| {
            let fitting = calls.iter().filter(move |call| fault.fits(call));
            fitting.map(move |call| (fault, call.clone()))
        };
        let mut all: Vec<_> = self.faults.iter().copied().flat_map(at).collect();
        if let Some(only) = variable("ASSAY_FAULT") {
            all.retain(|(fault, call)| format!("{} {}", fault.name(), call.number) == only);
        } else if !is_long() {
            let step = all.len() / SAMPLE;
            all = all.into_iter().skip(step / 2).step_by(step).take(SAMPLE).collect();
        }
        all
    }

    /// Injects a fault and checks what it leaves; returns whether the call was reached.
    ///
    /// The number of calls may vary by some: a slow run has more intervals.
    fn try_one(&self, library: &FaultLibrary, fault: Fault, number: usize) -> bool {
        let sandbox = (self.sandbox)();
        let mut history = AttemptHistory::default();
        history.read(&sandbox);
        let mut command = (self.command)(&sandbox);
        library.inject(&mut command, &below(&sandbox), Some((number, fault)));
        let output = command.output().expect("it runs");
        let calls = library.calls();
        let is_reached = calls.len() >= number;
        assert!(wait_until(LONG, || sandbox.workers().is_empty()), "a worker outlives Assay");
        self.check_exit(&sandbox, &output, is_reached.then_some(fault));
        history.check(&sandbox);
        let mut complete = match sandbox.experiment() {
            Some(_) => (self.complete)(&sandbox),
            None => (self.command)(&sandbox),
        };
        complete.assert().code(&[0, 3][..]);
        history.check_complete(&sandbox, self.cells);
        assert_clean(&sandbox);
        // One without a note is known by the calls alone.
        let is_left = |call: &&Call| {
            call.path.display().to_string().starts_with(PRIVATE) && call.path.exists()
        };
        assert_eq!(calls.iter().filter(is_left).collect::<Vec<_>>(), Vec::<&Call>::new());
        is_reached
    }

    /// Checks that a success is complete, and a failure has a reason.
    fn check_exit(&self, sandbox: &Sandbox, output: &Output, fault: Option<Fault>) {
        let text = output_text(output);
        assert!(!text.contains("panicked"), "{text}");
        match output.status.code() {
            None => assert_eq!(fault, Some(Fault::Kill), "{:?}: {text}", output.status),
            // 3: a busy host leaves no result.
            Some(0 | 3) => {
                AttemptHistory::default().check_complete(sandbox, self.cells);
                let page = sandbox.experiment().expect("it was run").path().join("report.html");
                match fs::read_to_string(page) {
                    Ok(page) => assert!(page.trim_end().ends_with("</html>"), "half a page"),
                    Err(error) => assert!(
                        error.kind() == io::ErrorKind::NotFound && self.name != "run",
                        "no page: {error}"
                    ),
                }
            }
            Some(1) => {
                assert!(!matches!(fault, None | Some(Fault::Short)), "{text}");
                let has_reason = ["cannot", "(os error"].iter().any(|it| text.contains(it));
                assert!(has_reason, "no reason: {text}");
            }
            Some(code) => panic!("exit code {code}: {text}"),
        }
    }
}

/// Returns the starts of the paths at whose calls faults are injected.
fn below(sandbox: &Sandbox) -> String {
    let root = fs::canonicalize(sandbox.path("")).expect("the sandbox");
    format!("{}/:{PRIVATE}", root.display())
}
