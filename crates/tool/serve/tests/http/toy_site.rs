//! A site with an answer of each kind, and a feed whose events a test scripts.

use std::mem;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serve::{Access, Answer, Event, Feed, File, Options, Request, Server, Site};

/// What the feeds of a site do, and what was done with them.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is set by one test")]
pub(crate) struct Script {
    pub(crate) pending: Vec<Event>,
    pub(crate) is_over: bool,
    /// Whether the next poll panics.
    pub(crate) is_broken: bool,
    /// Whether the slow page is being made.
    pub(crate) is_slow: bool,
    pub(crate) polls: usize,
    pub(crate) snapshots: usize,
    pub(crate) opened: usize,
    pub(crate) dropped: usize,
}

type Shared = Arc<Mutex<Script>>;

struct ToyFeed(Shared);

fn lock(script: &Shared) -> MutexGuard<'_, Script> {
    script.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Feed for ToyFeed {
    fn snapshot(&mut self) -> Event {
        lock(&self.0).snapshots += 1;
        event("snapshot", "{}")
    }

    fn poll(&mut self) -> Vec<Event> {
        let mut script = lock(&self.0);
        script.polls += 1;
        assert!(!mem::take(&mut script.is_broken), "the feed is broken");
        mem::take(&mut script.pending)
    }

    fn is_over(&self) -> bool {
        lock(&self.0).is_over
    }
}

impl Drop for ToyFeed {
    fn drop(&mut self) {
        lock(&self.0).dropped += 1;
    }
}

/// Returns an event.
pub(crate) fn event(kind: &'static str, data: &str) -> Event {
    Event { kind, data: data.to_owned() }
}

struct ToySite(Shared);

impl Site for ToySite {
    fn answer(&self, request: &Request) -> Answer {
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        match path[..] {
            [] => Answer::Page("the root".to_owned()),
            ["file"] => Answer::File(File {
                media_type: "text/csv; charset=utf-8",
                bytes: b"a,b\n".to_vec(),
                download_name: Some("a \"\r\n\u{e9}.csv".to_owned()),
            }),
            ["moved", ..] => Answer::Redirect(request.root()),
            ["badly-moved"] => Answer::Redirect("a\nb".to_owned()),
            ["invalid"] => Answer::Invalid("invalid".to_owned()),
            ["panic"] => panic!("a secret of the page"),
            ["slow"] => {
                lock(&self.0).is_slow = true;
                wait(Duration::from_secs(1));
                Answer::Page("slow".to_owned())
            }
            ["value"] => Answer::Page(request.value("a").unwrap_or_default().to_owned()),
            _ => Answer::NotFound(format!("nothing at {}", path.join("/"))),
        }
    }

    fn act(&self, request: &Request, body: &str) -> Answer {
        assert!(request.is_open_for_runs);
        Answer::Page(format!("done: {body}"))
    }

    fn feed(&self, request: &Request) -> Option<Box<dyn Feed>> {
        let is_known = request.path[0] == "run";
        lock(&self.0).opened += usize::from(is_known);
        is_known.then(|| Box::new(ToyFeed(Arc::clone(&self.0))) as _)
    }
}

/// Waits in a thread of the site or of a test.
#[expect(clippy::disallowed_methods, reason = "a test waits for a server in real time")]
pub(crate) fn wait(time: Duration) {
    thread::sleep(time);
}

/// A server of a toy site that runs in a thread.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    script: Shared,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Returns the options of a server on loopback that shows the archive only.
pub(crate) fn options() -> Options {
    Options {
        listen: ([127, 0, 0, 1], 0).into(),
        public_names: vec!["bench.example.org".to_owned()],
        access: Access::Loopback,
        may_run: false,
        log: None,
    }
}

impl Running {
    /// Starts a server on loopback that shows the archive only.
    pub(crate) fn start() -> Self {
        Self::with(options())
    }

    /// Starts a server with these options.
    pub(crate) fn with(options: Options) -> Self {
        let script = Shared::default();
        let server = Server::bind(options, Arc::new(ToySite(Arc::clone(&script)))).unwrap();
        let address = server.address();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_stopped);
        let run = move || server.run(&|| stop.load(Ordering::Relaxed)).unwrap();
        Self { address, script, is_stopped, thread: Some(thread::spawn(run)) }
    }

    /// Changes the script of the feeds, or reads what was done.
    pub(crate) fn script(&self) -> MutexGuard<'_, Script> {
        lock(&self.script)
    }

    /// Waits until the script has a state; returns whether it does within a minute.
    pub(crate) fn waits_for(&self, holds: impl Fn(&Script) -> bool) -> bool {
        (0..1200).any(|_| {
            let is_so = holds(&self.script());
            if !is_so {
                wait(Duration::from_millis(50));
            }
            is_so
        })
    }

    /// Requests the server to stop, without waiting.
    pub(crate) fn begin_stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Stops the server; returns how long that took.
    #[expect(clippy::disallowed_methods, reason = "the test limits the time of a stop")]
    pub(crate) fn stop(mut self) -> Duration {
        let begun = Instant::now();
        self.begin_stop();
        self.thread.take().unwrap().join().unwrap();
        begun.elapsed()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.begin_stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}
