//! A daemon with all its processes in a PID namespace: a machine that can be lost or frozen.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getuid, kill_process};

use crate::programs::{namespace_options, path_of, wait_for};

/// Longest time to start `unshare`, on a busy machine.
const START_MAX: Duration = Duration::from_secs(120);

/// A daemon and its descendants in a PID namespace.
///
/// They end when this value is dropped. As root they also end with the thread that started them, so
/// a test that is killed leaves nothing; do not share a machine between tests.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The process `unshare`, which waits for the daemon.
    unshare: Child,
    /// Identity of the namespace, as `/proc/PID/ns/pid` links to it.
    namespace: PathBuf,
    log: PathBuf,
    /// It was killed: the kernel may give the number of its namespace to another machine.
    is_killed: bool,
}

impl Machine {
    /// Starts a daemon of the system, which stays in the foreground and writes to the file `log`.
    pub(crate) fn start(daemon: &str, args: &[String], log: &Path) -> Self {
        let output = File::options().create(true).append(true).open(log).expect("a log");
        let mut command = Command::new("setpriv");
        // The kernel forgets the signal in a user namespace.
        command.args(["--pdeathsig", "KILL", "unshare"]);
        if !getuid().is_root() {
            command = Command::new("unshare");
        }
        command.args(namespace_options()).arg(path_of(daemon).expect("a program that is here"));
        command.args(args).stdin(Stdio::null()).stderr(output.try_clone().expect("a log"));
        let mut unshare = command.stdout(output).spawn().expect("unshare is here");
        let own = fs::read_link("/proc/self/ns/pid").expect("/proc is mounted");
        let link = format!("/proc/{}/ns/pid_for_children", unshare.id());
        // Before the namespace exists, the link is the namespace of every process of the host.
        let namespace = wait_for("a PID namespace", START_MAX, || {
            let ended = unshare.try_wait().expect("a child of this process");
            let text = || fs::read_to_string(log).unwrap_or_default();
            assert!(ended.is_none(), "{daemon} ended at once: {ended:?}\n{}", text());
            fs::read_link(&link).ok().filter(|namespace| *namespace != own)
        });
        Self { unshare, namespace, log: log.to_owned(), is_killed: false }
    }

    /// Returns the processes of the machine: identifiers outside of its namespace.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        if self.is_killed {
            return Vec::new();
        }
        processes().into_iter().filter(|pid| self.has(*pid)).collect()
    }

    /// Kills all processes at once, as a loss of power does.
    pub(crate) fn kill(&mut self) {
        let ended = self.unshare.try_wait().expect("a child of this process");
        if ended.is_none() {
            // The kernel kills a namespace with its first process.
            self.signal_daemon(Signal::KILL);
        }
        let status = self.unshare.wait().expect("a child of this process");
        self.is_killed = true;
        assert!(status.code().is_some() || status.signal().is_some(), "{status}");
    }

    /// Stops all processes until [`Self::thaw`], as a machine without a network or a CPU.
    pub(crate) fn freeze(&self) {
        // A process may start another one until it is stopped.
        wait_for("a frozen machine", START_MAX, || {
            let running: Vec<_> =
                self.processes().into_iter().filter(|pid| state(*pid) != Some('T')).collect();
            running.iter().for_each(|pid| signal(*pid, Signal::STOP));
            running.is_empty().then_some(())
        });
    }

    /// Lets all processes go on.
    pub(crate) fn thaw(&self) {
        self.processes().into_iter().for_each(|pid| signal(pid, Signal::CONT));
    }

    /// Stops the daemon alone until [`Self::continue_daemon`]: the programs it started go on.
    pub(crate) fn stop_daemon(&self) {
        self.signal_daemon(Signal::STOP);
    }

    /// Lets the daemon go on.
    pub(crate) fn continue_daemon(&self) {
        self.signal_daemon(Signal::CONT);
    }

    /// Returns what the daemon wrote.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    fn signal_daemon(&self, number: Signal) {
        let daemon = self.processes().into_iter().find(|pid| is_first(*pid));
        daemon.into_iter().for_each(|pid| signal(pid, number));
    }

    fn has(&self, pid: Pid) -> bool {
        let link = format!("/proc/{pid}/ns/pid");
        fs::read_link(link).is_ok_and(|namespace| namespace == self.namespace)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the processes of the host.
fn processes() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(Pid::from_raw).collect()
}

/// Returns whether a process is the first of its namespace.
fn is_first(pid: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    ids.is_some_and(|ids| ids.split_whitespace().next_back() == Some("1"))
}

/// Returns the state of a process: `T` if it is stopped, `Z` if it has ended.
fn state(pid: Pid) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

fn signal(pid: Pid, number: Signal) {
    let sent = kill_process(pid, number);
    assert!(matches!(sent, Ok(()) | Err(Errno::SRCH)), "{pid}: {sent:?}");
}
