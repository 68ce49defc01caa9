//! Every check on a made-up machine: clean, with one fault, and with nothing to read.
//!
//! The machine is a folder with `/proc`, `/sys` and `/etc`, and prepared outputs of programs.

#![expect(clippy::unwrap_used, reason = "a test")]

mod faults;
mod machine;

use std::collections::BTreeSet;

use doctor::{checks, snapshot};
use model::record::Severity;
use model::{CheckResult, CheckState, Privilege};

use crate::faults::{FAULTS, REPORTED};
use crate::machine::Made;

/// Returns the findings as `check: evidence`.
fn found(made: Made) -> Vec<String> {
    let results = made.results();
    let findings = results.iter().filter(|one| one.state == CheckState::Finding);
    findings.map(|one| format!("{}: {}", one.check, one.evidence)).collect()
}

#[test]
fn nothing_is_found_on_a_clean_machine() {
    assert_eq!(found(Made::clean()), Vec::<String>::new());
    let unknown = Made::clean().results();
    let unknown: Vec<_> = unknown.iter().filter(|one| one.state == CheckState::Unknown).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn each_fault_is_the_only_finding() {
    for (path, text, expected) in FAULTS {
        let made = Made::clean();
        made.write(path, text);
        assert_eq!(found(made), [*expected], "{path}");
    }
    for (program, (old, new), expected) in REPORTED {
        let mut made = Made::clean();
        let output = made.outputs.get_mut(program).unwrap().as_mut().unwrap();
        *output = output.replace(old, new);
        assert_eq!(found(made), [*expected], "{program}");
    }
}

/// Makes a fault.
type Change = fn(&mut Made);
/// Faults of more than a file: how they are made, and all that is found.
const CHANGES: [(Change, &[&str]); 15] = [
    (
        |made| {
            let header = "Filename Type Size Used Priority";
            made.write("/proc/swaps", &format!("{header}\n/dev/sda2 partition 1048576 0 -2\n"));
        },
        &["swap: swap is on: /dev/sda2, 1.00 GiB", "swappiness: swappiness is 60, and swap is on"],
    ),
    (
        |made| made.write("DISK/queue/rotational", "1"),
        &["rotational: the kernel treats the drive as a rotating disk"],
    ),
    (
        |made| made.write("DISK/queue/physical_block_size", "4096"),
        &[
            "xfs_geometry: sectors of 512, blocks of 4096 bytes, on physical blocks of 4096 bytes",
            "block_sizes: the drive accepts 512-byte writes to 4096-byte blocks",
        ],
    ),
    (
        |made| made.clock_read_ns = 1_400.0,
        &["clock_read: one read of the kernel's clock takes 1400 ns"],
    ),
    (
        |made| made.context_switch_ns = Some(25_000.0),
        &["context_switch: a switch between two threads through a pipe takes 25000 ns"],
    ),
    (
        |made| {
            let mount = "27 1 259:1 / / rw,noatime - ext4 /dev/x rw";
            made.write("/proc/self/mountinfo", mount);
            made.write("/sys/fs/ext4/x/journal_task", "<none>\n");
        },
        &["file_system: ext4 without a journal: an fsync is cheaper than with a journal"],
    ),
    (
        |made| made.mount("/dev/shm rw - tmpfs shm rw,size=65536k"),
        &["shared_memory: the size of /dev/shm is 64.0 MiB"],
    ),
    (
        |made| made.mount("/dev/shm ro,nosuid - tmpfs shm rw"),
        &["shared_memory: /dev/shm is mounted read-only"],
    ),
    (
        |made| made.mount("/tmp ro,nosuid - tmpfs tmpfs rw"),
        &["temporary_dir: /tmp is mounted read-only, and TMPDIR does not name another directory"],
    ),
    (
        |made| made.mount("/tmp rw,noexec - tmpfs tmpfs rw"),
        &["noexec: /tmp is on a mount with noexec"],
    ),
    (|made| made.outputs.remove("perf").map_or((), drop), &["perf: perf is not installed"]),
    (
        |made| {
            let refused = "perf failed (WARNING: perf not found for kernel 6.1.0-18)".to_owned();
            made.outputs.insert("perf", Err(refused));
        },
        &["perf: perf failed (WARNING: perf not found for kernel 6.1.0-18)"],
    ),
    (|made| made.takes_direct_io = Some(false), &["direct_io: xfs refuses direct I/O"]),
    (|made| made.space.free = 10 << 30, &["free_space: 90 % used of 100 GiB"]),
    (
        |made| {
            let busy = "7 (indexer (x)) S 0 1 1 0 -1 4 1 1 0 0 80 60 0 0 20 0 1 0 1 1 1\n";
            made.later = Some((made.path("/proc/7/stat"), busy));
        },
        &["busy_processes: processes that used a tenth of a CPU or more: indexer (x) (7)"],
    ),
];

#[test]
fn faults_of_more_than_a_file_are_found() {
    for (change, expected) in CHANGES {
        let mut made = Made::clean();
        change(&mut made);
        assert_eq!(found(made), expected);
    }
}

/// Goal: each check is among the findings that the two tests above require.
#[test]
fn every_check_is_provoked_by_some_fault() {
    let of_files = FAULTS.iter().map(|(_, _, finding)| *finding);
    let of_programs = REPORTED.iter().map(|(_, _, finding)| *finding);
    let of_changes = CHANGES.iter().flat_map(|(_, findings)| findings.iter().copied());
    let findings = of_files.chain(of_programs).chain(of_changes);
    let provoked: BTreeSet<&str> =
        findings.filter_map(|finding| Some(finding.split_once(": ")?.0)).collect();
    let all: BTreeSet<&str> = checks().iter().map(|check| check.code).collect();
    assert_eq!(provoked, all);
}

#[test]
fn what_cannot_be_read_is_never_fine() {
    let results = Made::empty().results();
    // A missing program may be a finding.
    let is_fine = |one: &&CheckResult| {
        one.state != CheckState::Finding && (one.state == CheckState::Fine || one.value.is_some())
    };
    let fine: Vec<&str> = results.iter().filter(is_fine).map(|one| one.check).collect();
    // Measured, not read.
    assert_eq!(fine, ["clock_read"]);
    assert!(results.iter().filter(|one| !is_fine(one)).all(|one| !one.evidence.is_empty()));
}

/// Goal: limits of a control group that are not mounted are not reported as absent limits.
#[test]
fn limits_that_are_not_mounted_are_unknown() {
    let made = Made::clean();
    let mounts = std::fs::read_to_string(made.path("/proc/self/mountinfo")).unwrap();
    made.write("/proc/self/mountinfo", &mounts.replace("cgroup2", "other"));
    let results = made.results();
    for name in ["memory_limit", "cpu_limit", "thread_limit"] {
        let one = results.iter().find(|one| one.check == name).unwrap();
        assert_eq!(one.state, CheckState::Unknown, "{name}");
        assert!(one.evidence.contains("group /user.slice/one are unknown"), "{}", one.evidence);
    }
}

#[test]
fn missing_programs_are_unknown_with_the_reason() {
    let mut made = Made::clean();
    made.outputs.clear();
    made.outputs.insert("dmesg", Err("dmesg failed (Operation not permitted)".to_owned()));
    let results = made.results();
    let reason = |name: &str| {
        let one = results.iter().find(|one| one.check == name).unwrap();
        assert_eq!(one.state, CheckState::Unknown, "{name}");
        one.evidence.clone()
    };
    let refused = format!("dmesg failed (Operation not permitted): it {}", Privilege::KERNEL_LOG);
    assert_eq!(reason("kernel_log"), refused);
    assert_eq!(reason("wear"), "smartctl is not installed; nvme is not installed");
    assert_eq!(reason("timers"), "systemctl is not installed");
}

#[test]
fn nvme_stands_in_for_smartctl() {
    let mut made = Made::clean();
    made.outputs.remove("smartctl");
    let log = r#"{"critical_warning": 0, "avail_spare": 100, "spare_thresh": 10, "percent_used": 100,
        "media_errors": 0, "warning_temp_time": 0}"#;
    made.outputs.insert("nvme", Ok(log.to_owned()));
    let results = made.results();
    let wear = results.iter().find(|one| one.check == "wear").unwrap();
    assert_eq!((wear.state, wear.severity), (CheckState::Finding, Severity::Blocking));
}

#[test]
fn every_finding_has_a_remedy_and_writes_are_undone() {
    for (path, text, expected) in FAULTS {
        let made = Made::clean();
        made.write(path, text);
        let results = made.results();
        let one = results.iter().find(|one| one.state == CheckState::Finding).unwrap();
        let (fix, undo) = (&one.remedy.fix, &one.remedy.undo);
        assert!(!fix.is_empty(), "{expected}");
        assert!(fix.iter().all(|line| line.starts_with('#')) || !undo.is_empty(), "{expected}");
    }
}

#[test]
fn undo_restores_what_the_machine_had() {
    let undo = |check: &str, files: &[(&str, &str)]| {
        let made = Made::clean();
        files.iter().for_each(|(path, text)| made.write(path, text));
        let results = made.results();
        results.iter().find(|one| one.check == check).unwrap().remedy.undo.join("\n")
    };
    let ratio = ("/proc/sys/vm/dirty_ratio", "40");
    let ratios = "sysctl -w vm.dirty_background_ratio=10 vm.dirty_ratio=40";
    assert_eq!(undo("dirty_pages", &[ratio]), ratios);
    let limits = [
        ("/proc/sys/vm/dirty_bytes", "8589934592"),
        ("/proc/sys/vm/dirty_background_bytes", "1048576"),
    ];
    let bytes = "sysctl -w vm.dirty_background_bytes=1048576 vm.dirty_bytes=8589934592";
    assert_eq!(undo("dirty_pages", &limits), bytes);
    let areas = "Filename Type Size Used Priority\n/dev/zram0 partition 9 0 100\n\
                 /swap\\040file file 9 0 -2\n";
    let on = "swapon -p 100 /dev/zram0; swapon '/swap file'";
    assert_eq!(undo("swap", &[("/proc/swaps", areas)]), on);
}

#[test]
fn snapshot_runs_no_program_and_has_the_settings() {
    let mut made = Made::clean();
    made.outputs.clear();
    made.clock_read_ns = f64::NAN;
    let all = snapshot(&made.source());
    assert!(all.iter().all(|one| one.state == CheckState::Fine || one.value.is_none()), "{all:#?}");
    let value = |name: &str| all.iter().find(|one| one.check == name)?.value.clone();
    assert_eq!(value("governor").as_deref(), Some("performance"));
    assert_eq!(value("mount_options").as_deref(), Some("inode64,noatime,rw"));
    let queue = value("queue_settings");
    assert_eq!(queue.as_deref(), Some("read_ahead_kb 128, max_sectors_kb 1280"));
    assert_eq!(value("dirty_pages").as_deref(), Some("20 %, in the background 10 %"));
    assert_eq!(value("free_space").as_deref(), Some("40 % used of 100 GiB"));
    assert_eq!((value("temperature"), value("clock_read")), (None, None));
    let made = Made::clean();
    let discard = "27 1 259:1 / / rw,noatime - ext4 /dev/x rw,discard";
    made.write("/proc/self/mountinfo", discard);
    made.write("/sys/fs/ext4/x/journal_task", "<none>\n");
    let all = snapshot(&made.source());
    let value = |name: &str| all.iter().find(|one| one.check == name)?.value.clone();
    assert_eq!(value("file_system").as_deref(), Some("ext4 without a journal"));
    assert_eq!(value("mount_options").as_deref(), Some("discard,noatime,rw"));
}
