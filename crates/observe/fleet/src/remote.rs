//! One block on a machine without a shared directory: stores the runs that the machine sends.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{ChildStdout, ExitStatus};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;

use archive::ArchiveError;

use crate::block::{Claim, Claimed, Outcome, Owner};
use crate::clients::{ClientSessions, Clients};
use crate::connection::{PATIENCE, ends_within, stop, with_code};
use crate::error::FleetError;
use crate::stream::{Answer, HELLO, Request, read_message};
use crate::transport::{
    RemoteBlock, SILENCE_MAX_S, TimedReader, Transport, explained, file_length,
};

impl Transport {
    /// Runs a block, and stores what the machine sends; returns how the block ended.
    ///
    /// # Errors
    /// When the directory of the blocks cannot be written.
    pub fn run(&self, block: RemoteBlock<'_>) -> Result<Outcome, FleetError> {
        let RemoteBlock { fleet, connection, is_stopped, .. } = block;
        let log = fleet.path().join(format!("connection-{}.log", block.block));
        let errors = File::create(&log).map_err(FleetError::file(&log))?;
        let mut child = self.spawn(block, "block --stream", errors)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        *connection.lock().unwrap_or_else(PoisonError::into_inner) = stdin;
        let mut session = Session { transport: self, block, log, pid: None, claim: None };
        let outcome = match stdout {
            Some(input) => {
                let silence_max_s = self.greeting_max_s();
                let output = TimedReader {
                    input,
                    is_stopped,
                    silence_max_s,
                    patience_s: PATIENCE.as_secs(),
                };
                session.talk(&mut BufReader::new(output))
            }
            None => Err(self.broken("no output")),
        };
        block.end_input();
        if !ends_within(&mut child, PATIENCE) {
            stop(&mut child).ok();
            session.pid.into_iter().for_each(|pid| self.kill_there(pid));
        }
        session.close(outcome, &child.wait())
    }
}

/// Output of the program on the machine.
type Output<'a> = BufReader<TimedReader<'a, ChildStdout>>;

/// One connection.
struct Session<'a> {
    transport: &'a Transport,
    block: RemoteBlock<'a>,
    /// Standard error of the connection.
    log: PathBuf,
    /// The process on the machine, once it has begun.
    pid: Option<u32>,
    /// The right to store runs, once the machine has begun.
    claim: Option<Claim>,
}

impl Session<'_> {
    /// Sends the block, and stores the runs that come back.
    fn talk(&mut self, from: &mut Output<'_>) -> Result<Outcome, FleetError> {
        let (block, transport) = (self.block, self.transport);
        self.pid = transport.enter(block, HELLO, from, |path| block.send_file(path))?;
        from.get_mut().silence_max_s = Some(SILENCE_MAX_S);
        let mut order = Box::new(block.fleet.order()?);
        if let Transport::Ssh { host, .. } = transport {
            order.data_dir = host.data_dir.clone().or(order.data_dir);
        }
        let clients = Clients::new(order.manifest.plan.experiment.hosts.as_ref(), block);
        let machine = transport.machine();
        let passwords = block.passwords.clone();
        self.sent(block.send(&Request::Run { order, block: block.block, machine, passwords }))?;
        thread::scope(|scope| self.serve(from, ClientSessions::new(&clients, scope)))
    }

    /// Serves the messages of the machine until the block ends.
    fn serve(
        &mut self,
        from: &mut impl BufRead,
        mut clients: ClientSessions<'_, '_>,
    ) -> Result<Outcome, FleetError> {
        loop {
            let answer = read_message(from);
            if self.block.is_stopped.load(Ordering::Relaxed) {
                // The end of all connections passes over one that is in use.
                self.block.end_input();
            }
            match answer.map_err(|error| self.transport.broken(error.to_string()))? {
                Some(Answer::NeedsBuilds) => {
                    let builds = self.block.fleet.builds();
                    let bytes = file_length(&builds)?;
                    self.sent(self.block.send(&Request::Builds { bytes }))?;
                    self.sent(self.block.send_file(&builds))?;
                }
                Some(Answer::Begins { machine, fingerprint }) => {
                    if self.begin(machine, fingerprint)? {
                        return Ok(Outcome::Complete);
                    }
                    clients.show_life();
                }
                Some(Answer::Run { cell, bytes }) => self.store(&cell, &mut from.take(bytes))?,
                Some(Answer::Lives) => {}
                Some(Answer::StartClient { host, worker }) => clients.start(host, worker),
                Some(Answer::ToClient { worker, line }) => clients.pass(worker, line),
                Some(Answer::EndClient { worker }) => clients.end(worker),
                Some(Answer::Ends(outcome)) => return Ok(outcome),
                None => return Err(self.transport.broken("it ended before the block did")),
            }
        }
    }

    /// Claims the block; returns whether it is complete already.
    fn begin(&mut self, machine: String, fingerprint: String) -> Result<bool, FleetError> {
        let RemoteBlock { fleet, block, now, .. } = self.block;
        let (process, started_at) = (std::process::id(), now());
        let owner = Owner { machine, fingerprint, job: None, process, started_at };
        let Claimed::Owned(owned) = fleet.claim(block, &owner)? else { return Ok(true) };
        let log = owned.log_path();
        if std::fs::rename(&self.log, &log).is_ok() {
            self.log = log;
        }
        self.claim = Some(owned);
        Ok(false)
    }

    /// Stores the files of a run.
    fn store(&self, cell: &str, files: &mut impl Read) -> Result<(), FleetError> {
        let Some(claim) = &self.claim else {
            return Err(self.transport.broken("a run before the block began"));
        };
        match claim.add_run(cell, &mut *files) {
            // The connection may break in the middle of the files.
            Err(FleetError::Archive(ArchiveError::Damaged(_, reason))) => {
                return Err(self.transport.broken(reason));
            }
            added => added?,
        }
        // A stream of tar ends before its padding.
        self.sent(io::copy(files, &mut io::sink()))
    }

    /// Reports a broken connection.
    fn sent<T>(&self, result: io::Result<T>) -> Result<(), FleetError> {
        result.map(drop).map_err(|error| self.transport.broken(error.to_string()))
    }

    /// Records how the block ended: a broken stream is a failure of the machine.
    fn close(
        mut self,
        outcome: Result<Outcome, FleetError>,
        status: &io::Result<ExitStatus>,
    ) -> Result<Outcome, FleetError> {
        let outcome = match outcome {
            Err(FleetError::Stream { reason, .. }) => {
                Outcome::Failed { reason: self.explained(&with_code(&reason, status)) }
            }
            outcome => outcome?,
        };
        match (self.claim.take(), &outcome) {
            (Some(claim), Outcome::Complete) => claim.complete()?,
            (Some(claim), outcome) => claim.end(outcome)?,
            (None, _) => {}
        }
        Ok(outcome)
    }

    /// Adds the last line of the connection's standard error to a reason.
    fn explained(&self, reason: &str) -> String {
        // After the block has begun, the log has the progress of the program there.
        match self.claim {
            Some(_) => reason.to_owned(),
            None => explained(reason, &std::fs::read_to_string(&self.log).unwrap_or_default()),
        }
    }
}
