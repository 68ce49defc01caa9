//! Workers on client hosts, over the connection of a block to its submitter.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use fleet::Answer;
use runner::{ClientHosts, WorkerInput, WorkerOutput};

/// The client hosts of a block.
#[derive(Clone)]
pub(super) struct StreamClients {
    address: String,
    /// Sends a message to the submitter.
    send: fn(&Answer) -> io::Result<()>,
    workers: Arc<Mutex<Workers>>,
}

/// Takes the lines of a worker for the runner.
type Output = Arc<Mutex<WorkerOutput>>;

/// Workers of a block.
#[derive(Default)]
struct Workers {
    /// Number of the next worker.
    next: u32,
    /// Workers that have not ended: their hosts and outputs.
    open: BTreeMap<u32, (usize, Output)>,
    /// Why the last worker of a host ended.
    reasons: BTreeMap<usize, String>,
}

impl StreamClients {
    /// Returns the hosts, which reach a server of this machine at an address.
    pub(super) fn new(address: String, send: fn(&Answer) -> io::Result<()>) -> Self {
        Self { address, send, workers: Arc::default() }
    }

    fn workers(&self) -> MutexGuard<'_, Workers> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a line of a worker to the runner.
    pub(super) fn pass(&self, worker: u32, line: &str) {
        // Lines of a worker that the runner has ended may still come.
        let output = self.workers().open.get(&worker).map(|(_, output)| Arc::clone(output));
        output.into_iter().for_each(|output| write(&output, Some(line)));
    }

    /// Ends the output of a worker that has ended.
    pub(super) fn end(&self, worker: u32, reason: String) {
        let mut workers = self.workers();
        let Some((host, output)) = workers.open.remove(&worker) else { return };
        workers.reasons.insert(host, reason);
        close(output);
    }

    /// Ends the outputs of all workers.
    pub(super) fn end_all(&self) {
        let open = std::mem::take(&mut self.workers().open);
        open.into_values().for_each(|(_, output)| close(output));
    }
}

impl ClientHosts for StreamClients {
    fn start(&self, host: usize, output: WorkerOutput) -> io::Result<WorkerInput> {
        let mut workers = self.workers();
        let worker = workers.next;
        workers.next += 1;
        workers.reasons.remove(&host);
        workers.open.insert(worker, (host, Arc::new(Mutex::new(output))));
        drop(workers);
        let input = Box::new(Input { worker, clients: self.clone() });
        (self.send)(&Answer::StartClient { host, worker })?;
        Ok(input)
    }

    fn reason(&self, host: usize) -> Option<String> {
        self.workers().reasons.get(&host).cloned()
    }

    fn address(&self) -> &str {
        &self.address
    }
}

/// The input of a worker; the worker ends when this is dropped.
struct Input {
    worker: u32,
    clients: StreamClients,
}

impl io::Write for Input {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let (worker, text) = (self.worker, String::from_utf8_lossy(line).into_owned());
        (self.clients.send)(&Answer::ToClient { worker, line: text })?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        let open = self.clients.workers().open.remove(&self.worker);
        open.into_iter().for_each(|(_, output)| close(output));
        // Without a submitter the worker has ended.
        (self.clients.send)(&Answer::EndClient { worker: self.worker }).ok();
    }
}

fn write(output: &Output, line: Option<&str>) {
    output.lock().unwrap_or_else(PoisonError::into_inner)(line);
}

/// Ends an output after the lines that have arrived.
fn close(output: Output) {
    // On a thread of its own: the runner may not read now, or be the caller.
    thread::Builder::new().name("end".to_owned()).spawn(move || write(&output, None)).ok();
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};

    use super::*;

    static SENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

    fn send(answer: &Answer) -> io::Result<()> {
        SENT.lock().unwrap().push(serde_json::to_string(answer).unwrap());
        Ok(())
    }

    /// Starts a worker; returns its input, and its lines up to their end.
    fn start(clients: &StreamClients, host: usize) -> (WorkerInput, Receiver<Option<String>>) {
        let (sender, lines) = sync_channel(2);
        let output = move |line: Option<&str>| sender.send(line.map(str::to_owned)).unwrap();
        (clients.start(host, Box::new(output)).unwrap(), lines)
    }

    #[test]
    fn each_worker_has_its_lines_and_its_end() {
        let clients = StreamClients::new("db1".to_owned(), send);
        let (mut input, lines) = start(&clients, 1);
        input.write_all(b"{\"number\":0}\n").unwrap();
        clients.pass(0, "one\n");
        clients.pass(7, "of no worker\n");
        clients.end(0, "no luck".to_owned());
        let lines: Vec<_> = lines.iter().collect();
        assert_eq!(lines, [Some("one\n".to_owned()), None]);
        assert_eq!(clients.reason(1).as_deref(), Some("no luck"));
        let (second, lines) = start(&clients, 1);
        assert_eq!((clients.reason(1), clients.address()), (None, "db1"));
        clients.pass(0, "late\n");
        drop(second);
        assert_eq!(lines.iter().collect::<Vec<_>>(), [None]);
        drop(input);
        let expected = [
            r#"{"StartClient":{"host":1,"worker":0}}"#,
            r#"{"ToClient":{"worker":0,"line":"{\"number\":0}\n"}}"#,
            r#"{"StartClient":{"host":1,"worker":1}}"#,
            r#"{"EndClient":{"worker":1}}"#,
            r#"{"EndClient":{"worker":0}}"#,
        ];
        assert_eq!(*SENT.lock().unwrap(), expected);
    }

    /// Goal: the end of a worker waits for no runner. Method: outputs that are full, of which one
    /// belongs to the caller.
    #[test]
    fn workers_end_while_the_runner_reads_nothing() {
        let clients = StreamClients::new(String::new(), |_| Ok(()));
        let workers = [0, 1].map(|host| start(&clients, host));
        (0..2).for_each(|worker| (0..2).for_each(|_| clients.pass(worker, "x\n")));
        let [(first, lines), (_second, others)] = workers;
        drop(first);
        clients.end_all();
        for lines in [lines, others] {
            assert_eq!(lines.iter().filter(Option::is_some).count(), 2);
        }
        let failing = StreamClients::new(String::new(), |_| Err(io::Error::other("gone")));
        assert!(failing.start(0, Box::new(|_| ())).is_err());
    }
}
