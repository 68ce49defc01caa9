//! Workers on the client hosts of a block: relays between their pipes and the server's machine.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Scope;
use std::time::Duration;

use model::Hosts;

use crate::connection::{STOP_MAX, end, ends_within, phrase_of, stop, with_code};
use crate::error::FleetError;
use crate::stream::{CLIENT_HELLO, LINE_BYTES_MAX, Request};
use crate::transport::{RemoteBlock, TimedReader, Transport, copy_file, explained};

/// Time between two signs of life: the server's machine waits for several.
const LIFE_EVERY: Duration = Duration::from_secs(5);
/// Time that a worker has to end with its input, in seconds; then it is killed, and its block ends.
///
/// Our choice: it kills itself at once. One that hangs delays the outcome by a second more.
const END_MAX_S: u64 = 1;
/// Lines that may wait for a worker: one that begins has its order and a few commands.
const LINES_MAX: usize = 64;

/// The client hosts of a block.
pub(crate) struct Clients<'a> {
    hosts: Vec<Transport>,
    block: RemoteBlock<'a>,
}

/// The sessions of a block's workers; they end when this is dropped.
pub(crate) struct ClientSessions<'scope, 'env> {
    clients: &'scope Clients<'scope>,
    scope: &'scope Scope<'scope, 'env>,
    /// Inputs of the workers, by number.
    inputs: BTreeMap<u32, WorkerInput>,
    /// Its end stops the signs of life.
    life: Option<SyncSender<()>>,
}

/// The input of a worker; the worker ends with it.
struct WorkerInput {
    lines: SyncSender<String>,
    /// Set when the input has ended.
    has_ended: Arc<AtomicBool>,
}

impl Drop for WorkerInput {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }
}

impl<'scope, 'env> ClientSessions<'scope, 'env> {
    /// Returns the sessions of a block that begins.
    pub(crate) const fn new(
        clients: &'scope Clients<'scope>,
        scope: &'scope Scope<'scope, 'env>,
    ) -> Self {
        Self { clients, scope, inputs: BTreeMap::new(), life: None }
    }

    /// Sends signs of life to the server's machine, if the block has client hosts.
    pub(crate) fn show_life(&mut self) {
        let Clients { hosts, block } = self.clients;
        if hosts.is_empty() {
            return;
        }
        let (life, ended) = sync_channel(0);
        self.life = Some(life);
        self.scope.spawn(move || {
            let goes_on = || ended.recv_timeout(LIFE_EVERY) == Err(RecvTimeoutError::Timeout);
            while block.send(&Request::Lives).is_ok() && goes_on() {}
        });
    }

    /// Starts a worker.
    pub(crate) fn start(&mut self, host: usize, worker: u32) {
        let (input, lines) = sync_channel(LINES_MAX);
        let has_ended = Arc::new(AtomicBool::new(false));
        let input = WorkerInput { lines: input, has_ended: Arc::clone(&has_ended) };
        self.inputs.insert(worker, input);
        let (clients, scope) = (self.clients, self.scope);
        // The client of its connection ends with the thread that starts it.
        scope.spawn(move || {
            let write = move |stdin| drop(scope.spawn(move || write_lines(&lines, stdin)));
            let session = Session { clients, host, worker, has_ended: &has_ended };
            let reason = session.serve(write);
            // Without a connection to the server's machine the block has ended.
            clients.block.send(&Request::ClientEnded { worker, reason }).ok();
        });
    }

    /// Passes a line to a worker.
    pub(crate) fn pass(&self, worker: u32, line: String) {
        // The end of a worker is reported by its session.
        if let Some(input) = self.inputs.get(&worker) {
            input.lines.send(line).ok();
        }
    }

    /// Ends a worker.
    pub(crate) fn end(&mut self, worker: u32) {
        self.inputs.remove(&worker);
    }
}

impl<'a> Clients<'a> {
    /// Returns the client hosts of an experiment.
    pub(crate) fn new(hosts: Option<&Hosts>, block: RemoteBlock<'a>) -> Self {
        let of = |hosts: &Hosts| {
            let config = hosts.ssh_config.as_deref();
            hosts.clients.iter().map(|host| Transport::of(host, config)).collect()
        };
        Self { hosts: hosts.map(of).unwrap_or_default(), block }
    }
}

/// The session of one worker.
struct Session<'a> {
    clients: &'a Clients<'a>,
    host: usize,
    worker: u32,
    /// Set when the input of the worker has ended.
    has_ended: &'a AtomicBool,
}

impl Session<'_> {
    /// Runs the worker to its end; returns why it ended.
    ///
    /// `write` gets the input of the worker once the worker has begun.
    fn serve(&self, write: impl FnOnce(ChildStdin)) -> String {
        let log = self.clients.block.fleet.path().join(format!("client-{}.log", self.worker));
        let reason = match self.run(&log, write) {
            Ok(status) => status,
            Err(FleetError::Stream { reason, .. }) => reason,
            Err(error) => error.to_string(),
        };
        let errors = fs::read(&log).unwrap_or_default();
        fs::remove_file(&log).ok();
        explained(&reason, &String::from_utf8_lossy(&errors))
    }

    /// Runs the worker, whose standard error goes to a file; returns how it ended.
    fn run(&self, log: &Path, write: impl FnOnce(ChildStdin)) -> Result<String, FleetError> {
        let Some(transport) = self.clients.hosts.get(self.host) else {
            return Ok(format!("the experiment has no client host {}", self.host));
        };
        let errors = File::create(log).map_err(FleetError::file(log))?;
        let mut child = transport.spawn(self.clients.block, "worker --stream", errors)?;
        let mut pid = None;
        let relayed = self.relay(transport, &mut child, &mut pid, write);
        if relayed.is_err() {
            // A shell that ended has its exit code in a moment.
            if pid.is_some() || !ends_within(&mut child, STOP_MAX) {
                stop(&mut child).ok();
            }
            pid.into_iter().for_each(|pid| transport.kill_there(pid));
        }
        let status = end(&mut child);
        if let Err(FleetError::Stream { reason, .. }) = &relayed {
            return Err(transport.broken(with_code(reason, &status)));
        }
        relayed?;
        let status = status.map_err(|error| transport.broken(error.to_string()))?;
        Ok(phrase_of(status))
    }

    /// Sends the lines of the worker to the server's machine until they end.
    fn relay(
        &self,
        transport: &Transport,
        child: &mut Child,
        pid: &mut Option<u32>,
        write: impl FnOnce(ChildStdin),
    ) -> Result<(), FleetError> {
        let block = self.clients.block;
        let (Some(mut stdin), Some(input)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(transport.broken("no pipes"));
        };
        let (is_stopped, silence_max_s) = (self.has_ended, transport.greeting_max_s());
        let patience_s = END_MAX_S;
        let timed = TimedReader { input, is_stopped, silence_max_s, patience_s };
        let mut output = BufReader::new(timed);
        let send = |path: &Path| copy_file(path, &mut stdin);
        *pid = transport.enter(block, CLIENT_HELLO, &mut output, send)?;
        let broken = |error: io::Error| transport.broken(error.to_string());
        // Between two steps it has nothing to report. The client ends if the network does.
        output.get_mut().silence_max_s = None;
        write(stdin);
        let worker = self.worker;
        send_lines(&mut output, &|line| block.send(&Request::FromClient { worker, line }))
            .map_err(broken)
    }
}

/// Writes the lines for a worker, whose input then ends.
fn write_lines(lines: &Receiver<String>, mut stdin: ChildStdin) {
    lines.iter().take_while(|line| stdin.write_all(line.as_bytes()).is_ok()).for_each(drop);
}

/// Sends the lines of a worker until they end.
fn send_lines(
    output: &mut impl BufRead,
    send: &dyn Fn(String) -> io::Result<()>,
) -> io::Result<()> {
    loop {
        let mut line = Vec::new();
        output.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        send(String::from_utf8_lossy(&line).into_owned())?;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn sent(output: &[u8]) -> Vec<String> {
        let lines = RefCell::new(Vec::new());
        send_lines(&mut &*output, &|line| {
            lines.borrow_mut().push(line);
            Ok(())
        })
        .unwrap();
        lines.into_inner()
    }

    #[test]
    fn output_of_a_worker_is_sent_by_line() {
        assert_eq!(sent(b"one\n\ntwo\nhalf"), ["one\n", "\n", "two\n", "half"]);
        let long = vec![b'x'; usize::try_from(LINE_BYTES_MAX).unwrap() + 1];
        let lengths: Vec<_> = sent(&long).iter().map(String::len).collect();
        assert_eq!(lengths, [long.len() - 1, 1]);
        assert!(send_lines(&mut &b"one\n"[..], &|_| Err(io::Error::other("gone"))).is_err());
    }
}
