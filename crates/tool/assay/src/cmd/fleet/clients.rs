//! Workers on client hosts, over the connection of a block to its submitter.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use fleet::Answer;
use runner::ClientHosts;

/// Longest wait for the runner to read a line: it reads at once, unless its run has ended.
const PASS_MAX: Duration = Duration::from_secs(10);

/// The client hosts of a block.
#[derive(Clone)]
pub(super) struct StreamClients {
    address: String,
    /// Sends a message to the submitter.
    send: fn(&Answer) -> io::Result<()>,
    workers: Arc<Mutex<Workers>>,
}

/// Workers of a block.
#[derive(Default)]
struct Workers {
    /// Number of the next worker.
    next: u32,
    /// Workers that have not ended: their hosts, and this side of the runner's connections.
    open: BTreeMap<u32, (usize, Arc<UnixStream>)>,
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
        let connection = self.workers().open.get(&worker).map(|(_, it)| Arc::clone(it));
        let Some(connection) = connection else { return };
        if (&*connection).write_all(line.as_bytes()).is_err() {
            close(&connection);
        }
    }

    /// Ends the runner's connection to a worker that has ended.
    pub(super) fn end(&self, worker: u32, reason: String) {
        let mut workers = self.workers();
        let Some((host, connection)) = workers.open.remove(&worker) else { return };
        workers.reasons.insert(host, reason);
        close(&connection);
    }

    /// Ends the runner's connections to all workers.
    pub(super) fn end_all(&self) {
        self.workers().open.values().for_each(|(_, connection)| close(connection));
    }

    /// Sends the runner's lines to a worker until the runner ends the connection.
    fn pump(&self, worker: u32, connection: &UnixStream) {
        for line in BufReader::new(connection).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned() + "\n";
            if (self.send)(&Answer::ToClient { worker, line }).is_err() {
                break;
            }
        }
        self.workers().open.remove(&worker);
        close(connection);
        // Without a submitter the worker has ended.
        (self.send)(&Answer::EndClient { worker }).ok();
    }
}

impl ClientHosts for StreamClients {
    fn start(&self, host: usize) -> io::Result<UnixStream> {
        let (theirs, ours) = UnixStream::pair()?;
        ours.set_write_timeout(Some(PASS_MAX))?;
        let connection = Arc::new(ours);
        let mut workers = self.workers();
        let worker = workers.next;
        workers.next += 1;
        workers.reasons.remove(&host);
        workers.open.insert(worker, (host, Arc::clone(&connection)));
        drop(workers);
        (self.send)(&Answer::StartClient { host, worker })?;
        let clients = self.clone();
        let pump = move || clients.pump(worker, &connection);
        thread::Builder::new().name("client".to_owned()).spawn(pump)?;
        Ok(theirs)
    }

    fn reason(&self, host: usize) -> Option<String> {
        self.workers().reasons.get(&host).cloned()
    }

    fn address(&self) -> &str {
        &self.address
    }
}

/// Ends a connection. The runner still reads the lines that have arrived.
fn close(connection: &UnixStream) {
    // It fails only when the connection has ended.
    connection.shutdown(Shutdown::Both).ok();
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    static SENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

    fn send(answer: &Answer) -> io::Result<()> {
        SENT.lock().unwrap().push(serde_json::to_string(answer).unwrap());
        Ok(())
    }

    /// Returns the messages that were sent, once there is this number of them.
    fn sent(count: usize) -> Vec<String> {
        loop {
            let sent = SENT.lock().unwrap().clone();
            if sent.len() >= count {
                return sent;
            }
            thread::yield_now();
        }
    }

    #[test]
    fn each_worker_has_its_lines_and_its_end() {
        let clients = StreamClients::new("db1".to_owned(), send);
        let mut first = clients.start(1).unwrap();
        first.write_all(b"{\"number\":0}\nhalf").unwrap();
        clients.pass(0, "one\n");
        clients.pass(7, "of no worker\n");
        clients.end(0, "no luck".to_owned());
        let mut text = String::new();
        first.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), clients.reason(1).as_deref()), ("one\n", Some("no luck")));
        let second = clients.start(1).unwrap();
        assert_eq!((clients.reason(1), clients.address()), (None, "db1"));
        clients.pass(0, "late\n");
        drop(second);
        let mut sent = sent(6);
        sent.sort();
        let expected = [
            r#"{"EndClient":{"worker":0}}"#,
            r#"{"EndClient":{"worker":1}}"#,
            r#"{"StartClient":{"host":1,"worker":0}}"#,
            r#"{"StartClient":{"host":1,"worker":1}}"#,
            r#"{"ToClient":{"worker":0,"line":"half\n"}}"#,
            r#"{"ToClient":{"worker":0,"line":"{\"number\":0}\n"}}"#,
        ];
        assert_eq!(sent, expected);
    }

    #[test]
    fn runner_learns_that_the_submitter_is_gone() {
        let clients = StreamClients::new(String::new(), |_| Ok(()));
        let mut connections = [0, 1].map(|host| clients.start(host).unwrap());
        clients.end_all();
        for connection in &mut connections {
            assert_eq!(connection.read(&mut [0]).unwrap(), 0);
        }
        let failing = StreamClients::new(String::new(), |_| Err(io::Error::other("gone")));
        assert!(failing.start(0).is_err());
    }
}
