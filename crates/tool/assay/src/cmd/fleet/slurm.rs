//! Blocks as elements of Slurm's job arrays.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use fleet::{Element, Outcome, Queue, Slurm, Submission};
use miette::Result;

use super::board::Board;
use crate::diagnostic::IntoReport as _;

/// File with the submitted jobs, in the directory of the blocks.
const JOBS: &str = "jobs.json";
/// Time between two readings of the queue.
const POLL: Duration = Duration::from_secs(1);
/// Readings in a row without a block, after which it counts as ended.
///
/// A shared file system shows the last files of a block some seconds late.
const ABSENT_MAX: u32 = 3;
/// States of elements that wait, run or will run again. Source: squeue(1), "JOB STATE CODES".
const LIVE: [&str; 12] = [
    "CONFIGURING",
    "COMPLETING",
    "PENDING",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "RESIZING",
    "RUNNING",
    "SIGNALING",
    "SPECIAL_EXIT",
    "STAGE_OUT",
    "SUSPENDED",
];
/// State of an element that a user cancelled.
const CANCELLED: &str = "CANCELLED";

/// Runs the open blocks until each is complete or given up, or a stop is requested.
pub(super) fn run(board: &mut Board<'_>, constraint: Option<&str>) -> Result<()> {
    let slurm = Slurm::find().into_report()?;
    let mut jobs: Vec<u32> = board.fleet.read(JOBS).unwrap_or_default();
    let mut absent = BTreeMap::<u32, u32>::new();
    loop {
        // Before the files: an element leaves the queue after its last file is there.
        let queue = match jobs.is_empty() {
            true => Queue::Elements(Vec::new()),
            false => slurm.queue(&jobs).into_report()?,
        };
        board.update()?;
        let open = board.open_blocks()?;
        if open.is_empty() {
            return Ok(());
        }
        if board.run.interrupt.level() > 0 {
            detach(board, &jobs);
            return Ok(());
        }
        match queue {
            Queue::Silent(message) => {
                board.head(open.len(), 0, &format!("; Slurm's controller does not answer: {message}"));
            }
            Queue::Elements(elements) => {
                let ended = ended(board, &open, &elements, &mut absent, jobs.is_empty());
                let blocks: Vec<_> =
                    ended.into_iter().filter(|block| is_submitted(board, *block, &elements)).collect();
                let blocks: Vec<_> =
                    board.open_blocks()?.into_iter().filter(|it| blocks.contains(it)).collect();
                if !blocks.is_empty() {
                    jobs.push(submit(board, slurm, constraint, &blocks)?);
                    board.fleet.write(JOBS, &jobs).into_report()?;
                }
                let of = |state: &str| elements.iter().filter(|it| it.state == state).count();
                board.head(of("PENDING"), of("RUNNING"), &waits(&elements));
            }
        }
        thread::sleep(POLL);
    }
}

/// Returns the open blocks that neither wait nor run, for several readings.
fn ended(
    board: &Board<'_>,
    open: &[u32],
    elements: &[Element],
    absent: &mut BTreeMap<u32, u32>,
    is_first: bool,
) -> Vec<u32> {
    let is_live = |block: u32| {
        elements.iter().any(|it| it.block == block && LIVE.contains(&it.state.as_str()))
    };
    let mut ended = Vec::new();
    for block in open.iter().copied() {
        let times = absent.entry(block).or_default();
        *times = if is_live(block) { 0 } else { *times + 1 };
        let has_outcome = board.outcome(block).is_some();
        if is_first || *times >= ABSENT_MAX || (*times > 0 && has_outcome) {
            *times = 0;
            ended.push(block);
        }
    }
    ended
}

/// Names why a block ended; returns whether it is to be submitted.
fn is_submitted(board: &mut Board<'_>, block: u32, elements: &[Element]) -> bool {
    let element = elements.iter().filter(|element| element.block == block).max_by_key(|it| it.job);
    let state = board.state(block);
    let Some(element) = element else {
        // It was never submitted, or the queue has forgotten it.
        return true;
    };
    let machine = state.current.as_ref().and_then(|it| it.owner.clone()).map(|it| it.machine);
    let machine = machine.unwrap_or_else(|| element.machine.clone());
    if element.state == CANCELLED {
        board.cancel(block, "was cancelled");
        return false;
    }
    let reason = match state.current.and_then(|attempt| attempt.outcome) {
        Some(Outcome::Stopped) => format!("was stopped ({})", element.state),
        Some(outcome) => outcome.phrase(),
        None => format!(
            "its job ended ({}) without an outcome in {}: does the machine share this directory? \
             --stream needs none",
            element.state,
            board.fleet.path().display()
        ),
    };
    board.fail(block, &machine, &reason);
    true
}

/// Submits blocks; returns the job.
fn submit(
    board: &Board<'_>,
    slurm: Slurm,
    constraint: Option<&str>,
    blocks: &[u32],
) -> Result<u32> {
    let machines = board.run.options.machines.map_or(blocks.len(), |most| most as usize);
    let script = script(board, constraint)?;
    let excluded = board.excluded();
    let submission = Submission { script: &script, blocks, machines, excluded: &excluded };
    let job = slurm.submit(&submission).into_report()?;
    let count = blocks.len();
    board.run.process.ui.status(format_args!(
        "job {job}  {count} {} submitted to Slurm",
        if count == 1 { "block" } else { "blocks" }
    ));
    Ok(job)
}

/// Returns why blocks wait, for the line about all machines.
fn waits(elements: &[Element]) -> String {
    let waiting = elements.iter().find(|it| it.state == "PENDING" && !it.reason.is_empty());
    waiting.map(|it| format!(" (the first waits for: {})", it.reason)).unwrap_or_default()
}

/// Prints how to attach to the blocks that go on.
fn detach(board: &Board<'_>, jobs: &[u32]) {
    let jobs: Vec<_> = jobs.iter().map(u32::to_string).collect();
    board.run.process.ui.status(format_args!(
        "detached  the blocks go on; `scancel {}` ends them",
        jobs.join(" ")
    ));
}

/// Returns the batch script of a block.
fn script(board: &Board<'_>, constraint: Option<&str>) -> Result<String> {
    let fleet = std::path::absolute(board.fleet.path()).into_report()?;
    let quoted = |path: &std::path::Path| {
        format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
    };
    let constraint =
        constraint.map_or_else(String::new, |class| format!("#SBATCH --constraint={class}\n"));
    Ok(format!(
        "#!/bin/sh\n#SBATCH --job-name=assay\n#SBATCH --nodes=1\n#SBATCH --exclusive\n\
         #SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output=/dev/null\n{constraint}\
         exec {} block {} \"$SLURM_ARRAY_TASK_ID\"\n",
        quoted(&fleet.join("assay")),
        quoted(&fleet)
    ))
}
