//! Blocks over the pipes of `ssh` or `srun`: one lane for each machine.

use std::collections::{BTreeSet, VecDeque};
use std::process::ChildStdin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use fleet::{FleetError, Outcome, RemoteBlock, Transport, sha256_of};
use miette::Result;

use super::board::Board;
use crate::diagnostic::IntoReport as _;

/// Time between two readings of the logs.
const POLL: Duration = Duration::from_millis(200);

/// A lane that is free again, with how its block ended.
struct Ended {
    lane: usize,
    block: u32,
    outcome: std::result::Result<Outcome, FleetError>,
}

/// A block for a lane.
struct Assigned {
    block: u32,
    /// Machines that Slurm is not to choose.
    excluded: Vec<String>,
}

/// Connections of the lanes, by lane.
struct Connections {
    inputs: Vec<Mutex<Option<ChildStdin>>>,
    is_stopped: AtomicBool,
}

/// Runs the open blocks until each is complete or given up, or a stop is requested.
pub(super) fn run(board: &mut Board<'_>, transports: Vec<Transport>) -> Result<()> {
    let sha256 = sha256_of(&board.fleet.program()).into_report()?;
    let inputs = transports.iter().map(|_| Mutex::new(None)).collect();
    let connections = Connections { inputs, is_stopped: AtomicBool::new(false) };
    let fleet = board.fleet.clone();
    thread::scope(|scope| {
        let (sender, ended) = sync_channel(transports.len());
        let mut orders = Vec::new();
        for (lane, transport) in transports.iter().enumerate() {
            let (order, blocks) = sync_channel(1);
            orders.push(order);
            let (sender, connection) = (sender.clone(), &connections.inputs[lane]);
            let (fleet, sha256, is_stopped) = (&fleet, sha256.as_str(), &connections.is_stopped);
            let passwords = &board.run.passwords;
            // A thread a lane: a client of a connection ends with the thread that started it.
            scope.spawn(move || {
                for Assigned { block, excluded } in blocks {
                    let remote = RemoteBlock {
                        fleet,
                        block,
                        program_sha256: sha256,
                        excluded: &excluded,
                        now: runner::now_utc,
                        passwords,
                        connection,
                        is_stopped,
                    };
                    let outcome = transport.run(remote);
                    if sender.send(Ended { lane, block, outcome }).is_err() {
                        return;
                    }
                }
            });
        }
        let mut dispatcher = Dispatcher {
            transports: &transports,
            orders,
            free: (0..transports.len()).collect(),
            waiting: board.open_blocks().into(),
            running: 0,
            failed: BTreeSet::new(),
        };
        let outcome = dispatcher.serve(board, &ended, &connections);
        // Lanes end when no order can come, and connections when nothing can be sent.
        drop(dispatcher);
        close(&connections);
        outcome
    })
}

/// Gives blocks to free lanes.
struct Dispatcher<'a> {
    transports: &'a [Transport],
    orders: Vec<SyncSender<Assigned>>,
    free: VecDeque<usize>,
    waiting: VecDeque<u32>,
    running: usize,
    /// Blocks that failed on a lane: another one is tried first.
    failed: BTreeSet<(usize, u32)>,
}

impl Dispatcher<'_> {
    fn serve(
        &mut self,
        board: &mut Board<'_>,
        ended: &Receiver<Ended>,
        connections: &Connections,
    ) -> Result<()> {
        let (mut is_stopped, mut failure) = (false, None);
        loop {
            if (board.run.interrupt.level() > 0 || failure.is_some()) && !is_stopped {
                is_stopped = true;
                self.waiting.clear();
                close(connections);
            }
            self.dispatch(board);
            if self.running == 0 {
                if !self.waiting.is_empty() {
                    board.stay_open(self.waiting.len());
                }
                board.update()?;
                return failure.map_or(Ok(()), Err).into_report();
            }
            board.head(self.waiting.len(), self.running, "");
            if let Ok(Ended { lane, block, outcome }) = ended.recv_timeout(POLL) {
                self.running -= 1;
                self.free.push_back(lane);
                match outcome {
                    Ok(Outcome::Complete) => {}
                    Ok(outcome) if !is_stopped => self.fail(board, lane, block, &outcome),
                    Ok(_) => {}
                    // Files cannot be written here: what runs is stopped, and stored.
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            board.update()?;
        }
    }

    /// Notes a failure; the block is run again unless it failed too often.
    fn fail(&mut self, board: &mut Board<'_>, lane: usize, block: u32, outcome: &Outcome) {
        let cause = match (&self.transports[lane], outcome) {
            (Transport::Srun { .. }, Outcome::Stopped) => ": preempted, cancelled or requeued",
            _ => "",
        };
        let reason = format!("{}{cause}", outcome.phrase());
        let (machine, owner) = (self.machine(board, lane, block), owner(board, block));
        match &self.transports[lane] {
            Transport::Ssh { .. } if owner != machine => {
                board.fail_machine(block, &machine, &reason);
            }
            Transport::Ssh { .. } | Transport::Srun { .. } => board.fail(block, &machine, &reason),
        }
        self.failed.insert((lane, block));
        self.waiting.extend(board.open_blocks().contains(&block).then_some(block));
    }

    /// Returns the machine of a lane: Slurm's choice is known once a block has begun.
    fn machine(&self, board: &Board<'_>, lane: usize, block: u32) -> String {
        match &self.transports[lane] {
            Transport::Ssh { host, .. } => host.name.clone(),
            Transport::Srun { .. } => owner(board, block),
        }
    }

    /// Gives each free lane a block that has not failed on it, or any if every lane is free.
    fn dispatch(&mut self, board: &Board<'_>) {
        let excluded = |lane: &usize| board.is_excluded(self.transports[*lane].name());
        self.free.retain(|lane| !excluded(lane));
        for _ in 0..self.free.len() {
            let Some(lane) = self.free.pop_front() else { return };
            let fits = |block: &u32| self.running == 0 || !self.failed.contains(&(lane, *block));
            let fresh = self.waiting.iter().position(|it| !self.failed.contains(&(lane, *it)));
            let Some(at) = fresh.or_else(|| self.waiting.iter().position(fits)) else {
                self.free.push_back(lane);
                continue;
            };
            let Some(block) = self.waiting.remove(at) else { return };
            let assigned = Assigned { block, excluded: board.excluded() };
            if self.orders[lane].send(assigned).is_ok() {
                self.running += 1;
            }
        }
    }
}

/// Returns the machine of the newest attempt at a block; empty without one.
fn owner(board: &Board<'_>, block: u32) -> String {
    let owner = board.state(block).current.and_then(|attempt| attempt.owner);
    owner.map(|owner| owner.machine).unwrap_or_default()
}

/// Ends every connection: each machine then stops its run.
fn close(connections: &Connections) {
    connections.is_stopped.store(true, Ordering::Relaxed);
    for connection in &connections.inputs {
        // A lane that sends a file at this moment ends before it sends anything else.
        if let Ok(mut input) = connection.try_lock() {
            drop(input.take());
        }
    }
}
