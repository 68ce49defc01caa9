//! Child processes with a short, known environment, which end with their parent.
//!
//! A variable may hold a password of a database, and a library or a server reads its whole
//! environment. So a child gets the variables that its role needs, and no other. A child whose
//! parent is killed would go on writing to a disk that others take for free. A child in the
//! group of its parent would end by the Ctrl-C of a terminal, which is a request to Assay
//! alone. This is the only place that makes a `std::process::Command`, which `tidy` checks.

mod build_group;
mod confine;
mod ffi_parent;
mod syscalls;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::{Access, access};

pub use confine::{Confinement, landlock_level};

/// What a child is, which decides the variables it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A server or a helper: search path, home, scratch folder, language, time zone.
    Program,
    /// A process that loads an engine: also what its loader, allocator and sanitizers read.
    Worker,
    /// This program, for another command: all variables, because passwords of data sources may be
    /// among them.
    Assay,
    /// A client of a scheduler or another machine: also its configuration, and its agent of keys.
    Remote,
    /// A compiler or a package manager: also its settings, caches, proxies and certificates.
    BuildTool,
}

/// Variables of every child. Source: environ(7), locale(7).
const COMMON: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "TZ",
    "USER",
];

/// Variables of a worker. Source: ld.so(8); sanitizers' documentation, "run-time flags".
const WORKER: &[&str] = &[
    "ASAN_OPTIONS",
    "GLIBC_TUNABLES",
    "LD_BIND_NOW",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LSAN_OPTIONS",
    "MSAN_OPTIONS",
    "RUST_BACKTRACE",
    "TSAN_OPTIONS",
    "UBSAN_OPTIONS",
];

/// Starts of the names of variables that tune allocators, as `malloc` lists them.
const ALLOCATORS: &[&str] = &["MALLOC_", "MIMALLOC_", "TCMALLOC_"];

/// Variables of a client of other machines. Source: ssh(1), "ENVIRONMENT"; kerberos(7).
const REMOTE: &[&str] = &["KRB5CCNAME", "LD_LIBRARY_PATH", "SSH_AUTH_SOCK"];
/// Starts of the names of variables of a scheduler's clients. Source: sbatch(1), squeue(1).
const REMOTES: &[&str] = &["MUNGE_", "SBATCH_", "SLURM_", "SQUEUE_"];

/// Variables of a build tool. Source: GCC manual, section 3.21; curl(1), "Environment"; the
/// environment variables of cargo, npm, Maven, apt and ccache in their documentation.
const BUILD_TOOL: &[&str] = &[
    "ALL_PROXY",
    "APT_CONFIG",
    "COMPILER_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "CURL_CA_BUNDLE",
    "C_INCLUDE_PATH",
    "FTP_PROXY",
    "GCC_EXEC_PREFIX",
    "GIT_SSL_CAINFO",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "M2_HOME",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NO_PROXY",
    "RUSTC",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Starts of the names of variables that configure package managers and compiler caches.
const BUILD_TOOLS: &[&str] = &["CARGO_", "CCACHE_", "MAVEN_", "NPM_CONFIG_", "RUSTUP_"];

/// Returns a command in a process group of its own, whose environment has the variables of the role
/// only.
///
/// Variables are added with [`Command::env`]. The thread that starts the child must outlive it: the
/// kernel kills the child when that thread ends. What a build tool starts ends with this process.
pub fn command(role: Role, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(inherited(role, std::env::vars_os()));
    ffi_parent::end_with_parent(&mut command);
    match role {
        Role::Program | Role::Worker | Role::Assay | Role::Remote => command.process_group(0),
        Role::BuildTool => build_group::join(&mut command),
    };
    command
}

/// Returns the file that the search path gives for a program; `None` without one that may be
/// executed.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // As execvp(3) does, a file without the right to execute it is passed over.
    let is_program = |file: &PathBuf| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(is_program)
}

/// Returns the text of a file of `/proc/PID`; `None` when the process has ended.
///
/// The kernel writes the name that a process gives itself as it is: bytes that are no UTF-8 hide
/// no process.
pub fn process_file(pid: u32, name: &str) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/{name}")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the variables that a child of the role gets.
fn inherited(
    role: Role,
    all: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    all.filter(move |(name, _)| name.to_str().is_some_and(|name| is_of(role, name)))
}

fn is_of(role: Role, name: &str) -> bool {
    let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    // Proxies and npm's settings are written in either case.
    let upper = name.to_ascii_uppercase();
    COMMON.contains(&name)
        || match role {
            Role::Program => false,
            Role::Assay => true,
            Role::Remote => REMOTE.contains(&name) || starts(REMOTES),
            Role::Worker => WORKER.contains(&name) || starts(ALLOCATORS),
            Role::BuildTool => {
                BUILD_TOOL.contains(&upper.as_str())
                    || BUILD_TOOLS.iter().any(|start| upper.starts_with(start))
            }
        }
}

/// Lets the kernel kill a child, and what it starts, before this process where memory is short.
///
/// Source: proc(5), `oom_score_adj`: a process may raise it, and its children inherit it.
pub fn kill_first(pid: u32) {
    // Without it the kernel may kill the process that records the end of the run.
    std::fs::write(format!("/proc/{pid}/oom_score_adj"), "500").ok();
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Stdio;

    use super::*;

    /// Returns the names that a child of the role gets of these.
    fn names(role: Role, all: &[&str]) -> Vec<String> {
        let all = all.iter().map(|name| (OsString::from(name), OsString::from("1")));
        inherited(role, all).map(|(name, _)| name.into_string().unwrap()).collect()
    }

    #[test]
    fn a_child_gets_the_variables_of_its_role_only() {
        let all = [
            "ASSAY_PASSWORD_PG",
            "DB_PW",
            "PGPASSWORD",
            "LC_PASSWORD",
            "PATH",
            "TZ",
            "LD_PRELOAD",
            "MALLOC_CONF",
            "GLIBC_TUNABLES",
            "https_proxy",
            "npm_config_cache",
            "CARGO_NET_OFFLINE",
        ];
        assert_eq!(names(Role::Program, &all), ["PATH", "TZ"]);
        assert_eq!(
            names(Role::Worker, &all),
            ["PATH", "TZ", "LD_PRELOAD", "MALLOC_CONF", "GLIBC_TUNABLES"]
        );
        assert_eq!(
            names(Role::BuildTool, &all),
            ["PATH", "TZ", "https_proxy", "npm_config_cache", "CARGO_NET_OFFLINE"]
        );
    }

    #[test]
    fn a_variable_that_any_child_gets_is_known() {
        let is_inherited = |name: &str| {
            [Role::Program, Role::Worker, Role::BuildTool].iter().any(|role| is_of(*role, name))
        };
        assert!(is_inherited("MALLOC_CONF") && is_inherited("HOME") && is_inherited("CARGO_PW"));
        assert!(!is_inherited("PG_PW") && !is_inherited("ASSAY_PASSWORD_PG"));
    }

    #[test]
    fn a_program_is_found_where_the_search_path_has_it() {
        let shell = find("sh").expect("every host has one");
        assert!(shell.is_absolute() && shell.ends_with("sh"));
        assert_eq!(find("no-such-program"), None);
        // A directory is no program.
        assert_eq!(find("."), None);
    }

    #[test]
    fn a_child_ends_with_the_thread_that_started_it() {
        let start = || command(Role::Program, "sleep").arg("60").spawn().unwrap();
        let mut child = std::thread::spawn(start).join().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    /// Goal: a compiler that a compiler driver started does not outlive a killed Assay.
    /// Method: this test, started again, starts a shell that starts another process, and is killed.
    #[test]
    fn what_a_build_tool_starts_ends_with_this_process() {
        const ROLE: &str = "ASSAY_TEST_STARTS_A_BUILD";
        if std::env::var_os(ROLE).is_some() {
            let mut tool = command(Role::BuildTool, "sh");
            tool.args(["-c", "sleep 600 & echo \"started $!\"; wait"]);
            drop(tool.status());
            return;
        }
        let test = "tests::what_a_build_tool_starts_ends_with_this_process";
        let mut parent = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(ROLE, "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines().map(Result::unwrap);
        let pid = lines.find_map(|line| Some(line.split_once("started ")?.1.to_owned())).unwrap();
        let is_alive = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.starts_with(" Z"))
        };
        assert!(is_alive());
        parent.kill().unwrap();
        parent.wait().unwrap();
        for _ in 0..1000 {
            if !is_alive() {
                return;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(10));
        }
        panic!("{pid} is still running");
    }

    /// Goal: a process cannot hide by giving itself an odd name.
    #[test]
    fn a_process_is_found_whatever_its_name_is() {
        std::fs::write("/proc/thread-self/comm", b"\xff\xfe)\n").unwrap();
        let id = rustix::thread::gettid().as_raw_pid().cast_unsigned();
        assert!(process_file(id, "status").is_some_and(|text| text.contains("\nPPid:")));
        assert!(process_file(id, "stat").is_some());
        assert_eq!(process_file(id, "no-such-file"), None);
    }

    #[test]
    fn another_command_of_assay_gets_all_variables() {
        assert_eq!(
            names(Role::Assay, &["ASSAY_PASSWORD_PG", "DB_PW"]),
            ["ASSAY_PASSWORD_PG", "DB_PW"]
        );
    }

    /// Goal: the Ctrl-C of a terminal, which goes to the whole foreground group, ends no child.
    #[test]
    fn a_child_is_in_another_process_group_than_its_parent() {
        let own = rustix::process::getpgrp();
        for role in [Role::Program, Role::Worker, Role::Assay, Role::BuildTool] {
            let mut child = command(role, "sleep").arg("60").spawn().unwrap();
            let group = rustix::process::getpgid(Some(rustix::process::Pid::from_child(&child)));
            child.kill().unwrap();
            child.wait().unwrap();
            assert_ne!(group, Ok(own), "{role:?}");
        }
    }

    #[test]
    fn the_environment_of_a_command_is_cleared() {
        // Cargo sets this one for every test.
        let own = "CARGO_PKG_NAME";
        let has = |role| {
            let output = command(role, "env").output().unwrap();
            String::from_utf8(output.stdout).unwrap().contains(own)
        };
        assert!(std::env::var_os(own).is_some());
        assert!(!has(Role::Program) && !has(Role::Worker) && has(Role::BuildTool));
    }
}
