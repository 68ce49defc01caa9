//! What servers of a sandbox leave: processes, directories, shared memory.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, note};

/// First id of the accounts made up for servers, see `server::User`; other ids are shared.
const FIRST_OWN_ID: u32 = 1_879_048_192;

/// Makes a sandbox that reads from a build; prints why without it.
pub(crate) fn sandbox_of(build: &str, duration: &str, options: &str) -> Option<Sandbox> {
    if let Err(reason) = supply::testing::server(build) {
        note(&format!("skipped: {reason}"));
        return None;
    }
    let benchmark = format!(
        "steps = [\"fillseq\", \"readrandom\"]\nrows = \"2k\"\nduration = \"{duration}\"\n\
         warmup = \"0s\""
    );
    Some(Sandbox::with_options(&benchmark, &[("pg", build, options.to_owned())]))
}

/// Returns the server processes: their working directory is in the data directory.
pub(crate) fn processes(sandbox: &Sandbox) -> Vec<u32> {
    let workers = sandbox.workers();
    let inside = processes_in(&sandbox.path("data")).into_iter();
    inside.filter(|process| !workers.contains(process)).collect()
}

/// Returns the processes whose working directory is `data` or below.
pub(crate) fn processes_in(data: &Path) -> Vec<u32> {
    let Ok(data) = fs::canonicalize(data) else { return Vec::new() };
    let all = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let is_inside =
        |path: PathBuf| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&data));
    let inside = all.filter(|entry| is_inside(entry.path()));
    inside.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the server's main process, the parent of the others.
pub(crate) fn server(sandbox: &Sandbox) -> u32 {
    let all = processes(sandbox);
    let parent = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let first = all.iter().find(|pid| parent(pid).is_some_and(|parent| !all.contains(&parent)));
    *first.expect("a server runs")
}

/// Returns the private directories of the sandbox's servers.
pub(crate) fn private(sandbox: &Sandbox) -> Vec<PathBuf> {
    let data = fs::canonicalize(sandbox.path("data")).unwrap_or_default();
    let data = data.to_string_lossy().into_owned();
    let all = fs::read_dir("/tmp").expect("there is a /tmp").flatten().map(|entry| entry.path());
    let is_its = |path: &PathBuf| {
        fs::read_to_string(path.join("note.json")).is_ok_and(|note| note.contains(&data))
    };
    all.filter(is_its).collect()
}

/// Checks that no server process or directory is left.
pub(crate) fn assert_clean(sandbox: &Sandbox) {
    assert_eq!(processes(sandbox), Vec::<u32>::new());
    assert_eq!(private(sandbox), Vec::<PathBuf>::new());
    assert_eq!(sandbox.data_left(), Vec::<String>::new());
}

/// The accounts of the servers that a sandbox had, to find what they leave.
#[derive(Default)]
pub(crate) struct Accounts(BTreeSet<u32>);

impl Accounts {
    /// Notes the accounts of the servers that the sandbox has now: the owners of their data.
    pub(crate) fn note(&mut self, sandbox: &Sandbox) {
        let runs = fs::read_dir(sandbox.path("data")).into_iter().flatten().flatten();
        let owners = runs.filter_map(|run| fs::metadata(run.path().join("data")).ok());
        self.0.extend(owners.map(|data| data.uid()).filter(|uid| *uid >= FIRST_OWN_ID));
    }

    /// Returns the processes that run under them, the first one started first.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let all = fs::read_dir("/proc").expect("/proc is mounted").flatten();
        let is_its =
            |path: &Path| fs::metadata(path).is_ok_and(|meta| self.0.contains(&meta.uid()));
        let pids = all.filter(|entry| is_its(&entry.path()));
        let mut pids: Vec<u32> =
            pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        pids.sort_unstable();
        pids
    }

    /// Returns their processes, named shared memory and System V segments.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut left: Vec<_> =
            self.processes().iter().map(|pid| format!("process {pid}")).collect();
        let named = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        let is_its =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| self.0.contains(&meta.uid()));
        let named = named.map(|entry| entry.path()).filter(|path| is_its(path));
        left.extend(named.map(|path| path.display().to_string()));
        let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        // Source: proc(5), `/proc/sysvipc`: the eighth column is the owner.
        let owner = |line: &str| line.split_ascii_whitespace().nth(7)?.parse::<u32>().ok();
        let segments =
            table.lines().filter(|line| owner(line).is_some_and(|id| self.0.contains(&id)));
        left.extend(segments.map(|line| format!("segment {line}")));
        left
    }
}
