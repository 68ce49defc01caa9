//! Blocks as elements of Slurm's job arrays.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use fleet::{Element, Outcome, Queue, Slurm, Submission, job};
use miette::Result;

use super::board::Board;
use crate::diagnostic::IntoReport as _;

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
#[expect(clippy::disallowed_methods, reason = "nothing is measured on this host")]
pub(super) fn run(board: &mut Board<'_>, constraint: Option<&str>) -> Result<()> {
    let slurm = Slurm::find().into_report()?;
    let name = board.run.job_name();
    let mut absent = BTreeMap::<u32, u32>::new();
    loop {
        // Before the files: an element leaves the queue after its last file is there.
        let queue = slurm.queue(&name).into_report()?;
        board.update()?;
        if board.open_blocks().is_empty() {
            // Elements of blocks that others have completed; those that run end by themselves.
            slurm.cancel_waiting(&name).unwrap_or_else(|error| board.run.process.ui.status(error));
            return Ok(());
        }
        if board.run.interrupt.level() > 0 {
            detach(board, &name);
            return Ok(());
        }
        match queue {
            Queue::Silent(message) => {
                board.head(0, 0, &format!(": Slurm's controller does not answer ({message})"));
            }
            Queue::Elements(elements) => {
                note_held(board, slurm, &elements);
                note_ended(board, &elements, &mut absent);
                let is_live = |block: &u32| live(&elements, *block).is_some();
                let is_absent = |block: &u32| absent.get(block).is_none_or(|times| *times == 0);
                let mut blocks = board.open_blocks();
                blocks.retain(|block| !is_live(block) && is_absent(block));
                if !blocks.is_empty() {
                    submit(board, slurm, constraint, &blocks)?;
                    absent.extend(blocks.into_iter().map(|block| (block, 0)));
                }
                let of = |state: &str| elements.iter().filter(|it| it.state == state).count();
                board.head(of("PENDING"), of("RUNNING"), &waits(&elements));
            }
        }
        thread::sleep(POLL);
    }
}

/// Returns the element of a block that waits or runs.
fn live(elements: &[Element], block: u32) -> Option<&Element> {
    elements.iter().find(|it| it.block == block && LIVE.contains(&it.state.as_str()))
}

/// Names open blocks that a machine could not launch, and lets them run again.
///
/// Slurm holds such a job until a user releases it.
fn note_held(board: &mut Board<'_>, slurm: Slurm, elements: &[Element]) {
    for element in elements.iter().filter(|element| element.is_held_after_launch()) {
        if board.open_blocks().contains(&element.block) {
            let reason = format!("Slurm could not launch its job ({})", element.reason);
            board.fail(element.block, &element.machine, &reason);
            // One that Slurm holds on is named again; one that was cancelled is held no more.
            slurm.release(element).unwrap_or_else(|error| board.run.process.ui.status(error));
        }
    }
}

/// Names why open blocks have ended that neither wait nor run, for several readings.
///
/// `absent` has the readings so far of each block that this process submitted or found in the
/// queue; 0 after the end of the block was named.
fn note_ended(board: &mut Board<'_>, elements: &[Element], absent: &mut BTreeMap<u32, u32>) {
    for block in board.open_blocks() {
        if live(elements, block).is_some() {
            absent.insert(block, 0);
            continue;
        }
        let Some(times) = absent.get_mut(&block) else { continue };
        *times += 1;
        if *times >= ABSENT_MAX || board.outcome(block).is_some() {
            *times = 0;
            note_end(board, block, elements);
        }
    }
}

/// Names why a block ended without being complete.
fn note_end(board: &mut Board<'_>, block: u32, elements: &[Element]) {
    let element = elements.iter().filter(|element| element.block == block).max_by_key(|it| it.job);
    let state = element.map_or("unknown", |element| element.state.as_str());
    if state == CANCELLED {
        return board.cancel(block, "was cancelled");
    }
    let current = board.state(block).current;
    let owner = current.as_ref().and_then(|attempt| attempt.owner.as_ref());
    let machine = owner.map(|owner| owner.machine.clone());
    let machine = machine.or_else(|| element.map(|element| element.machine.clone()));
    let reason = match current.and_then(|attempt| attempt.outcome) {
        Some(Outcome::Stopped) => format!("was stopped by a signal (Slurm's state: {state})"),
        Some(outcome) => outcome.phrase(),
        None => format!(
            "its job ended (Slurm's state: {state}) without an outcome in {}: a machine that does \
             not share this directory needs --stream",
            board.fleet.path().display()
        ),
    };
    board.fail(block, &machine.unwrap_or_default(), &reason);
}

/// Submits blocks.
fn submit(board: &Board<'_>, slurm: Slurm, constraint: Option<&str>, blocks: &[u32]) -> Result<()> {
    let machines = board.run.options.machines.map_or(blocks.len(), |most| most as usize);
    let script = job::slurm(&board.run.job(constraint)?);
    let excluded = board.excluded();
    let name = board.run.job_name();
    let submission =
        Submission { name: &name, script: &script, blocks, machines, excluded: &excluded };
    let job = slurm.submit(&submission).into_report()?;
    let count = blocks.len();
    board.run.process.ui.status(format_args!(
        "job {job}  {count} {} submitted to Slurm",
        if count == 1 { "block" } else { "blocks" }
    ));
    Ok(())
}

/// Returns why blocks wait, for the line about all machines.
fn waits(elements: &[Element]) -> String {
    let waiting = elements.iter().find(|it| it.state == "PENDING" && !it.reason.is_empty());
    waiting.map(|it| format!(" (the first waits for: {})", it.reason)).unwrap_or_default()
}

/// Prints how to end the blocks that go on.
fn detach(board: &Board<'_>, name: &str) {
    let ui = board.run.process.ui;
    ui.status(format_args!("detached  the blocks go on; `scancel --name {name}` ends them"));
}
