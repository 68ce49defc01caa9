//! Slurm: submits the blocks of an experiment as one job array, and reads the queue.
//!
//! Source: Slurm 22.05, sbatch(1), squeue(1), scancel(1), scontrol(1).

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use child::Role;

use crate::error::FleetError;

/// Variables that a job gets of the submitter's environment.
///
/// All of it would carry passwords, and paths of the submitter, to every machine.
pub(crate) const EXPORTED: &str =
    "HOME,LANG,LOGNAME,PATH,TMPDIR,USER,XDG_CACHE_HOME,ASSAY_SERVER_USER,CC";
/// Longest wait for an answer of the controller, in seconds.
const ANSWER_MAX_S: &str = "15";
/// Fields of a line of the queue: job of the array, index, state, machine, reason.
const FORMAT: &str = "%F|%K|%T|%N|%r";

/// The clients of Slurm on this host.
#[derive(Debug, Clone, Copy)]
pub struct Slurm(());

/// Blocks to submit.
#[derive(Debug)]
pub struct Submission<'a> {
    /// Name of the job, by which its elements are found.
    pub name: &'a str,
    /// Batch script. The fields below add options to its own.
    pub script: &'a str,
    /// The blocks, from 1.
    pub blocks: &'a [u32],
    /// Largest number of machines at the same time.
    pub machines: usize,
    /// Machines that are not used.
    pub excluded: &'a [String],
}

/// A block in Slurm's queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// The job of its array.
    pub job: u32,
    /// The block.
    pub block: u32,
    /// Its state, such as `RUNNING`.
    pub state: String,
    /// Its machine; empty while it waits.
    pub machine: String,
    /// Why it waits, such as `Resources`.
    pub reason: String,
}

impl Element {
    /// Returns whether Slurm holds it because a machine could not launch it.
    ///
    /// Source: squeue(1), "JOB REASON CODES"; Slurm 22.05, src/slurmctld/job_mgr.c, which writes
    /// this reason.
    pub fn is_held_after_launch(&self) -> bool {
        self.state == "PENDING" && self.reason.starts_with("launch failed")
    }
}

/// Answer of Slurm's controller.
#[derive(Debug)]
pub enum Queue {
    /// The blocks that wait, run or have ended.
    Elements(Vec<Element>),
    /// The controller does not answer, with its client's message: blocks go on.
    Silent(String),
}

impl Slurm {
    /// Finds the clients of Slurm.
    ///
    /// # Errors
    /// When one is not installed.
    pub fn find() -> Result<Self, FleetError> {
        for program in ["sbatch", "squeue", "sinfo", "scancel"] {
            child::find(program).ok_or(FleetError::Missing(program, "Slurm"))?;
        }
        Ok(Self(()))
    }

    /// Checks that the controller answers, and that its machines have the features of a class.
    ///
    /// # Errors
    /// When it does not, with the message of its client, or no machine has a feature.
    pub fn check(self, class: Option<&str>) -> Result<(), FleetError> {
        let mut command = client("sinfo");
        command.args(["--noheader", "--format", "%f"]);
        let lines = output(command, "")?;
        let known = lines.split([',', '\n']).map(str::trim);
        let known: BTreeSet<&str> = known.filter(|it| !it.is_empty()).collect();
        match features(class.unwrap_or_default()).find(|it| !known.contains(it)) {
            None => Ok(()),
            Some(feature) => Err(FleetError::NoFeature {
                feature: feature.to_owned(),
                known: Vec::from_iter(known).join(", "),
            }),
        }
    }

    /// Submits blocks as one job array; returns the job.
    ///
    /// # Errors
    /// When Slurm refuses them, with its message.
    pub fn submit(self, submission: &Submission<'_>) -> Result<u32, FleetError> {
        let mut command = client("sbatch");
        let blocks: Vec<_> = submission.blocks.iter().map(u32::to_string).collect();
        command.args(["--parsable", "--export", EXPORTED, "--array"]).arg(format!(
            "{}%{}",
            blocks.join(","),
            submission.machines
        ));
        if !submission.excluded.is_empty() {
            command.arg("--exclude").arg(submission.excluded.join(","));
        }
        let output = output(command, submission.script)?;
        // Source: sbatch(1), "--parsable": job, or job;cluster.
        let job = output.split(';').next().and_then(|job| job.trim().parse().ok());
        job.ok_or_else(|| failed("sbatch", &format!("it printed {output:?} in place of a job")))
    }

    /// Reads the elements of jobs of a name that wait, run or have ended.
    ///
    /// Jobs that have ended stay known for some minutes (slurm.conf(5), "MinJobAge").
    ///
    /// # Errors
    /// When `squeue` cannot be started.
    pub fn queue(self, name: &str) -> Result<Queue, FleetError> {
        let mut command = client("squeue");
        command.args(["--me", "--noheader", "--array", "--states=all", "--format", FORMAT]);
        command.args(["--name", name]);
        match output(command, "") {
            Ok(text) => Ok(Queue::Elements(text.lines().filter_map(element).collect())),
            Err(FleetError::Program { message, .. }) => Ok(Queue::Silent(message)),
            Err(error) => Err(error),
        }
    }

    /// Lets an element run that Slurm holds.
    ///
    /// # Errors
    /// When Slurm refuses.
    pub fn release(self, element: &Element) -> Result<(), FleetError> {
        let mut command = client("scontrol");
        command.args(["release", &format!("{}_{}", element.job, element.block)]);
        output(command, "").map(drop)
    }

    /// Cancels the elements of jobs of a name that still wait.
    ///
    /// # Errors
    /// When Slurm refuses.
    pub fn cancel_waiting(self, name: &str) -> Result<(), FleetError> {
        let mut command = client("scancel");
        command.args(["--me", "--state=PENDING", "--name", name]);
        output(command, "").map(drop)
    }
}

/// Returns the features that a constraint names.
///
/// Source: sbatch(1), "--constraint"; `*N` is a number of machines.
fn features(constraint: &str) -> impl Iterator<Item = &str> {
    let parts = constraint.split(['&', '|', '[', ']', '(', ')', ',']);
    let names = parts.map(|part| part.split('*').next().unwrap_or_default().trim());
    names.filter(|name| !name.is_empty())
}

fn element(line: &str) -> Option<Element> {
    let mut fields = line.split('|').map(str::trim);
    let mut next = || fields.next();
    Some(Element {
        job: next()?.parse().ok()?,
        block: next()?.parse().ok()?,
        state: next()?.to_owned(),
        machine: next()?.to_owned(),
        reason: next()?.to_owned(),
    })
}

/// Returns the command of a client of Slurm, which waits for its controller for a limited time.
///
/// Without a limit it tries again for a minute or more.
fn client(program: &str) -> Command {
    let mut command = child::command(Role::Remote, "timeout");
    command.args([ANSWER_MAX_S, program]);
    command
}

/// Runs a client with a text on its standard input; returns what it prints.
fn output(mut command: Command, input: &str) -> Result<String, FleetError> {
    let program = command.get_args().nth(1).unwrap_or_default().to_string_lossy().into_owned();
    let mut run = || {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        child.wait_with_output()
    };
    let output = run().map_err(|error| failed(&program, &error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    // Source: timeout(1), "exit status".
    if output.status.code() == Some(124) {
        return Err(failed(&program, &format!("no answer within {ANSWER_MAX_S} s")));
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(failed(&program, error.trim().lines().last().unwrap_or("it printed no reason")))
}

fn failed(program: &str, message: &str) -> FleetError {
    FleetError::Program { program: program.to_owned(), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constraint_names_features() {
        let named: Vec<_> = features("[rack1*2&rack2*4]|(bench,nvme)").collect();
        assert_eq!(named, ["rack1", "rack2", "bench", "nvme"]);
        assert_eq!(features("").count(), 0);
    }

    #[test]
    fn a_line_of_the_queue_is_an_element() {
        let found = element("12|3|RUNNING|n2|None").unwrap();
        assert_eq!((found.job, found.block), (12, 3));
        assert_eq!((found.state.as_str(), found.machine.as_str()), ("RUNNING", "n2"));
        let waits = element("12|4|PENDING||Resources").unwrap();
        assert_eq!((waits.machine.as_str(), waits.reason.as_str()), ("", "Resources"));
        assert!(!waits.is_held_after_launch());
        let held = element("12|4|PENDING||launch failed requeued held").unwrap();
        assert!(held.is_held_after_launch());
        assert_eq!(element("garbage"), None);
    }
}
