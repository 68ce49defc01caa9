//! Limits on the threads of this process and its children.

use std::io::{self, ErrorKind};
use std::path::Path;

use model::{AccountNeed, SystemNeeds};
use rustix::process::{Resource, getrlimit, getuid};

use super::define::raise;
use super::{Limit, Quota, Shortage};
use crate::control_group::own_groups;
use crate::kernel_file::{read_trimmed, value_of};

pub(crate) static LIMIT: Limit = Limit { name: "threads", check };

/// Accounts that the user namespace of this process maps.
const UID_MAP: &str = "/proc/self/uid_map";
/// The limit on an account's threads.
const BY_USER: &str = "ulimit -u";
/// What is counted.
const UNIT: &str = "threads";

fn check(needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    if needs.threads == 0 {
        return Ok(());
    }
    let own = getuid().as_raw();
    // Rights of this process do not lift the limit of the server's account.
    let server = needs.account.filter(|account| account.uid != own);
    let client = (!is_exempt()).then_some(AccountNeed { uid: own, threads: needs.threads });
    for AccountNeed { uid, threads } in client.into_iter().chain(server) {
        let used = threads_of(uid);
        let Err(limit) = raise(Resource::Nproc, used + threads) else { continue };
        let quota = Quota { source: BY_USER.to_owned(), unit: UNIT, limit, used };
        allow(&SystemNeeds { threads, ..*needs }, &quota)?;
    }
    let group = of_groups().into_iter().min_by_key(Quota::free);
    group.map_or(Ok(()), |quota| allow(needs, &quota))
}

/// Checks one limit on threads.
fn allow(needs: &SystemNeeds, quota: &Quota) -> Result<(), Shortage> {
    let SystemNeeds { clients, threads, .. } = *needs;
    if threads <= quota.free() {
        return Ok(());
    }
    let Quota { source, limit, used, .. } = quota;
    let others = threads - u64::from(clients).min(threads);
    let commands = quota.commands(used + threads);
    let remedy = match quota.free().saturating_sub(others) {
        0 => format!("raise the limit ({commands})"),
        most => format!("raise the limit ({commands}), or use at most {most} clients"),
    };
    let reason = format!(
        "{} {} {threads} threads and processes, and {source} allows {} more ({used} of {limit} are \
         in use)",
        model::units::clients(clients),
        if clients == 1 { "needs" } else { "need" },
        quota.free(),
    );
    Err(Shortage { limit: LIMIT.name, reason, remedy })
}

/// Returns an error of a thread or process that was not made, with the limit that refused it.
///
/// Source: pthread_create(3), fork(2): the limits give EAGAIN.
pub fn with_thread_limit(error: io::Error) -> io::Error {
    if error.kind() != ErrorKind::WouldBlock {
        return error;
    }
    let limit = tightest_thread_limit().map_or_else(
        || "the system allows no more threads or processes".to_owned(),
        |limit| limit.to_string(),
    );
    io::Error::new(error.kind(), format!("{error}; {limit}"))
}

/// Returns the tightest limit on the user's threads or those of a control group, if there is one.
///
/// The whole system allows more than the most clients, on all but the smallest machines. Reads
/// every process of the user: for once, not for each second.
pub fn tightest_thread_limit() -> Option<Quota> {
    of_user().into_iter().chain(of_groups()).min_by_key(Quota::free)
}

/// Returns the limit on the user's threads; `None` for an exempt user.
///
/// Source: getrlimit(2), `RLIMIT_NPROC`: not enforced for root, `CAP_SYS_ADMIN`,
/// `CAP_SYS_RESOURCE`.
fn of_user() -> Option<Quota> {
    let limit = getrlimit(Resource::Nproc).current?;
    let used = (!is_exempt()).then(|| threads_of(getuid().as_raw()))?;
    Some(Quota { source: BY_USER.to_owned(), unit: UNIT, limit, used })
}

/// Returns whether this process may have any number of threads.
fn is_exempt() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    has_no_thread_limit(&status, &std::fs::read_to_string(UID_MAP).unwrap_or_default())
}

/// Returns the number of an account's threads.
fn threads_of(uid: u32) -> u64 {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| {
        let is_process =
            entry.file_name().to_string_lossy().starts_with(|c: char| c.is_ascii_digit());
        // A process may end meanwhile: then it has no threads.
        std::fs::read_to_string(entry.path().join("status")).ok().filter(|_| is_process)
    });
    let threads = |text: String| {
        (value_of(&text, "Uid")? == uid.into()).then(|| value_of(&text, "Threads"))?
    };
    texts.filter_map(threads).sum()
}

/// Returns whether a process has no limit on the user's threads, by the texts of its status and of
/// the map of its user namespace.
///
/// Rights in another namespace than the first, as those of root in a rootless container, lift none.
///
/// Source: getrlimit(2), `RLIMIT_NPROC`; user_namespaces(7); linux/capability.h: `CAP_SYS_ADMIN` is
/// 21, `CAP_SYS_RESOURCE` is 24.
pub fn has_no_thread_limit(status: &str, uid_map: &str) -> bool {
    let every_id = u32::MAX.to_string();
    if uid_map.split_ascii_whitespace().nth(2) != Some(&*every_id) {
        return false;
    }
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    value_of(status, "Uid") == Some(0) || bits.is_some_and(|bits| bits & (1 << 21 | 1 << 24) != 0)
}

/// Returns the limits of this process's control group and those that enclose it.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v1/pids.rst; a thread counts as a process.
fn of_groups() -> Vec<Quota> {
    let dirs = own_groups("pids").unwrap_or_default();
    let groups = dirs.iter().take_while(|dir| dir.join("cgroup.procs").exists());
    groups.filter_map(|dir| of_group(dir)).collect()
}

/// Returns the limit of one control group; `None` when it has none.
fn of_group(dir: &Path) -> Option<Quota> {
    let path = dir.join("pids.max");
    // A group without a limit has `max`, which is no number.
    let limit = read_trimmed(&path)?.parse().ok()?;
    let used = read_trimmed(dir.join("pids.current"))?.parse().ok()?;
    Some(Quota { source: path.display().to_string(), unit: UNIT, limit, used })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_without_threads_are_refused_with_the_figures() {
        let quota = Quota { source: "ulimit -u".to_owned(), unit: UNIT, limit: 100, used: 44 };
        let needs = |clients: u32| SystemNeeds {
            clients,
            threads: u64::from(clients) + 32,
            ..SystemNeeds::default()
        };
        assert!(allow(&needs(24), &quota).is_ok());
        let text = allow(&needs(25), &quota).unwrap_err().to_string();
        assert_eq!(
            text,
            "25 clients need 57 threads and processes, and ulimit -u allows 56 more (44 of 100 are \
             in use): raise the limit (needs CAP_SYS_RESOURCE: `sudo prlimit --pid $$ \
             -u=101`), or use at most 24 clients"
        );
        let full = Quota { used: 99, ..quota };
        let text = allow(&needs(1), &full).unwrap_err().to_string();
        assert!(text.ends_with("-u=132`)"), "{text}");
        let of_group = Quota { source: "/g/pids.max".to_owned(), ..full }.to_string();
        assert!(of_group.contains("(`echo 200 | sudo tee /g/pids.max`, or start"), "{of_group}");
    }

    #[test]
    fn capabilities_that_lift_the_limit_are_detected() {
        let all = "         0          0 4294967295\n";
        let is_exempt = |status: &str| has_no_thread_limit(status, all);
        assert!(is_exempt("Name:\ta\nCapEff:\t0000000001000000\n"));
        assert!(is_exempt("CapEff:\t0000000000200000\n"));
        assert!(!is_exempt("CapEff:\t0000000000000400\n"));
        assert!(is_exempt("Name:\ta\nUid:\t0\t0\t0\t0\n"));
        assert!(!is_exempt("Name:\ta\nUid:\t7\t7\t7\t7\n"));
        let rootless = "         0       1000          1\n";
        assert!(!has_no_thread_limit("Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n", rootless));
    }

    #[test]
    fn a_group_without_a_limit_is_none() {
        let group = tempfile::tempdir().unwrap();
        std::fs::write(group.path().join("pids.current"), "12\n").unwrap();
        std::fs::write(group.path().join("pids.max"), "max\n").unwrap();
        assert_eq!(of_group(group.path()), None);
        std::fs::write(group.path().join("pids.max"), "30\n").unwrap();
        assert_eq!(of_group(group.path()).unwrap().free(), 18);
    }

    #[test]
    fn this_machine_allows_some_threads() {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        let is_unlimited = limits.lines().any(|line| {
            line.strip_prefix("Max processes").is_some_and(|line| line.trim().starts_with("unl"))
        });
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let Some(tightest) = tightest_thread_limit() else {
            let uid_map = std::fs::read_to_string(UID_MAP).unwrap();
            assert!(is_unlimited || has_no_thread_limit(&status, &uid_map), "{limits}");
            println!("skipped: no limit applies to this user");
            return;
        };
        assert!(tightest.used >= 1 && tightest.free() > 0, "{tightest:?}");
    }
}
