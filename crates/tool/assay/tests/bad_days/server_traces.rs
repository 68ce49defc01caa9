//! What servers of a sandbox leave: processes and directories.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, note};

/// Makes a sandbox that reads from a build; prints why without it.
pub(crate) fn sandbox_of(build: &str, duration: &str, options: &str) -> Option<Sandbox> {
    if let Err(reason) = supply::testing::build(build) {
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
    let data = match fs::canonicalize(data) {
        Ok(data) => data,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => panic!("{}: {error}", data.display()),
    };
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
    let Ok(data) = fs::canonicalize(sandbox.path("data")) else { return Vec::new() };
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
