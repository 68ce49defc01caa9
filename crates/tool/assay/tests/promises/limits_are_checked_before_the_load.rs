//! Limits of the host that a run would exceed end it before anything is loaded.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::group::Group;
use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

/// A quick run, without its engine.
const RUN: [&str; 7] = ["fillseq", "readrandom", "--rows", "1k", "--duration", "100ms", "--engine"];

/// A shell that sets limits before it becomes the program.
struct Limited {
    /// The command before the shell, if any.
    prefix: &'static [&'static str],
    script: String,
}

impl Limited {
    fn by(script: &str) -> Self {
        Self { prefix: &[], script: script.to_owned() }
    }

    /// Runs the program on an engine.
    fn assay(&self, workspace: &Workspace, verb: &str, engine: &str) -> ProgramOutput {
        let arguments = [&[verb][..], &RUN, &[engine, "--clients", "16"]].concat();
        let program = match engine.contains('@') {
            true => workspace.program_on_servers(&arguments),
            false => workspace.program(&arguments),
        };
        let script = format!("{} && exec \"$0\" \"$@\"", self.script);
        let shell = [self.prefix, &["sh", "-c", &script]].concat();
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        ProgramOutput::of(command.current_dir(workspace.path("")).output().expect("a shell"))
    }

    /// Checks that a run is refused with these texts, and that a plan warns of the same.
    fn assert_refused(&self, engine: &str, texts: &[&str]) {
        let workspace = Workspace::new();
        let run = self.assay(&workspace, "run", engine);
        let err = unwrapped(&run.err);
        assert_eq!(run.code, 1, "{}{err}", run.out);
        assert!(err.contains("nothing was run"), "{err}");
        let plan = self.assay(&workspace, "plan", engine);
        assert_eq!(plan.code, 0, "{}", plan.err);
        let warning = plan.out.lines().find(|line| line.contains("refuses this plan on this host"));
        for text in texts {
            assert!(err.contains(text), "{text}: {err}");
            assert!(warning.is_some_and(|line| line.contains(text)), "{text}: {}", plan.out);
        }
    }
}

#[test]
fn open_files_are_raised_to_the_need_or_refused() {
    let texts = ["may need 84 open files", "(`ulimit -Hn`) is 64", "-n=84`"];
    Limited::by("ulimit -n 64").assert_refused("sqlite", &texts);
    Limited::by("ulimit -S -n 64").assay(&Workspace::new(), "run", "sqlite").recorded();
}

#[test]
fn threads_of_clients_and_server_are_counted() {
    let files = [("pids.max", "28".to_owned())];
    let group = match Group::make("pids", &files, &files) {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group: {error}"),
    };
    let join = Limited::by(&format!("echo $$ >{}", group.processes().display()));
    let texts = ["16 clients need 28 threads", "pids.max allows", "pids-limit=", "use at most"];
    join.assert_refused("lmdb", &texts);
}

/// Goal: the threads that a setting requests are counted, also in the plan of a library.
#[test]
fn background_threads_of_the_setting_are_counted() {
    let files = [("pids.max", "100".to_owned())];
    let group = match Group::make("pids", &files, &files) {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group: {error}"),
    };
    let script = format!("echo $$ >{} && set -- \"$@\"", group.processes().display());
    for (engine, setting) in [
        ("fjall", "--background-jobs 60"),
        ("fjall", "--option worker_threads=60"),
        ("rocksdb@9.10.0", "--background-jobs 60"),
        ("rocksdb@9.10.0", "--option max_background_jobs=60"),
    ] {
        let join = Limited::by(&format!("{script} {setting}"));
        join.assert_refused(engine, &["16 clients need 108 threads", "pids.max allows"]);
    }
}

/// Goal: no process of a run is killed by a limit of `ulimit`, or fails at one, in its middle.
#[test]
fn sizes_and_cpu_time_of_processes_are_raised_to_the_need_or_refused() {
    for (script, engine, texts) in [
        ("ulimit -f 100", "sqlite", ["a file of ", "(`ulimit -Hf`)", "-f=unlimited`"]),
        ("ulimit -t 60", "redb", ["CPU time of ", "(`ulimit -Ht`)", "-t=unlimited`"]),
        ("ulimit -v 999999", "lmdb", ["an address space of ", "(`ulimit -Hv`)", "fewer clients"]),
        ("ulimit -d 99999", "fjall", ["private memory of ", "(`ulimit -Hd`)", "smaller cache"]),
        ("ulimit -s 256", "lmdb", ["a stack of 2.00 MiB", "(`ulimit -Hs`)", "256 KiB"]),
    ] {
        Limited::by(script).assert_refused(engine, &texts);
    }
    let soft = ["-f 100", "-t 60", "-v 999999", "-d 99999", "-s 1999"];
    let soft = soft.map(|limit| format!("ulimit -S {limit}")).join(" && ");
    Limited::by(&soft).assay(&Workspace::new(), "run", "lmdb").recorded();
}

/// Goal: the account of a server is limited by `ulimit -u`, whatever root may do itself.
#[test]
fn threads_of_the_server_s_account_are_counted() {
    if !rustix::process::geteuid().is_root() {
        return println!("skipped: servers of an ordinary account run as it");
    }
    if let Err(why) = supply::testing::build("postgres@15.10") {
        return println!("skipped: {why}");
    }
    let texts = ["16 clients need 47 threads", "ulimit -u allows 20 more (0 of 20", "-u=47`"];
    let prefix = &["prlimit", "--nproc=20:20", "--"];
    Limited { prefix, script: "true".to_owned() }.assert_refused("postgres@15.10", &texts);
}

/// Goal: an engine whose memtables its container's memory does not suffice is not loaded.
#[test]
fn memory_of_an_engine_is_compared_with_the_group_s_limit() {
    let limit = |file| [(file, (128_u64 << 20).to_string())];
    let made = Group::make("memory", &limit("memory.limit_in_bytes"), &limit("memory.max"));
    let group = match made {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group: {error}"),
    };
    let join = Limited::by(&format!("echo $$ >{}", group.processes().display()));
    let texts = ["may need 176 MiB of memory", "allows 128 MiB", "max_memtable_size"];
    join.assert_refused("fjall", &texts);
}

/// Goal: nothing is loaded where the results, or the data, cannot have their files.
/// Method: a namespace of mounts in which the results have 20 inodes.
#[test]
fn inodes_of_the_results_are_compared_with_the_need() {
    let script = "mkdir -p results && mount -t tmpfs -o nr_inodes=20 tmpfs results".to_owned();
    let small = Limited { prefix: &["unshare", "--mount"], script };
    let workspace = Workspace::new();
    let mut mounted = Command::new("unshare");
    mounted.args(["--mount", "sh", "-c", &small.script]).current_dir(workspace.path(""));
    if !mounted.status().is_ok_and(|status| status.success()) {
        return println!("skipped: this user cannot mount");
    }
    small.assert_refused("lmdb", &["may make 32 files", "19 free inodes", "--results"]);
}

/// Goal: a server that its container's memory does not suffice is not loaded.
#[test]
fn memory_of_a_server_is_compared_with_the_group_s_limit() {
    let limit = |file| [(file, (300_u64 << 20).to_string())];
    let made = Group::make("memory", &limit("memory.limit_in_bytes"), &limit("memory.max"));
    let group = match made {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group: {error}"),
    };
    if let Err(why) = supply::testing::build("mysql@8.0.31") {
        return println!("skipped: {why}");
    }
    let join = Limited::by(&format!("echo $$ >{}", group.processes().display()));
    let texts =
        ["may need 42", "of memory, and the control group", "allows 300 MiB", "--memory=42"];
    join.assert_refused("mysql@8.0.31", &texts);
}

/// Goal: nothing is loaded into a Postgres for which `/dev/shm` is too small.
/// Method: a namespace of mounts in which it has 2 MiB.
#[test]
fn shared_memory_of_a_server_is_compared_with_its_need() {
    let script = "mount -t tmpfs -o size=2m tmpfs /dev/shm".to_owned();
    let small = Limited { prefix: &["unshare", "--mount"], script };
    let mounted = Command::new("unshare").args(["--mount", "sh", "-c", &small.script]).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return println!("skipped: this user cannot mount");
    }
    if let Err(why) = supply::testing::build("postgres@15.10") {
        return println!("skipped: {why}");
    }
    let texts = ["may need 8.00 MiB of shared memory", "/dev/shm has 2.00 MiB free", "\"mmap\""];
    small.assert_refused("postgres@15.10", &texts);
}

/// Returns a shell in a namespace of mounts; `None` if this user cannot mount.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn mounted(script: &str) -> Option<Limited> {
    let prefix = &["unshare", "--mount"];
    let done = Command::new("unshare").args(["--mount", "sh", "-c", script]).status();
    if !done.is_ok_and(|status| status.success()) {
        println!("skipped: this user cannot mount");
        return None;
    }
    Some(Limited { prefix, script: script.to_owned() })
}

#[test]
fn a_host_without_proc_is_refused_by_that_name() {
    if let Some(without) = mounted("mount -t tmpfs tmpfs /proc") {
        without.assert_refused("lmdb", &["/proc is not mounted", "mount -t proc proc /proc"]);
    }
}

#[test]
fn inodes_of_shared_memory_are_compared_with_the_need() {
    let Some(small) = mounted("mount -t tmpfs -o nr_inodes=2 tmpfs /dev/shm") else { return };
    if let Err(why) = supply::testing::build("postgres@15.10") {
        return println!("skipped: {why}");
    }
    let texts = ["shm has 1 free inodes", "-o remount,nr_inodes=0"];
    small.assert_refused("postgres@15.10", &texts);
}

/// Goal: a server is not set up where its directory for sockets has no room, and TMPDIR is named.
/// Method: a namespace of mounts in which `/tmp` has 4 KiB; everything else lies elsewhere.
#[test]
fn room_for_the_sockets_of_a_server_is_checked() {
    let Some(small) = mounted("mount -t tmpfs -o size=4k tmpfs /tmp") else { return };
    if let Err(why) = supply::testing::build("postgres@15.10") {
        return println!("skipped: {why}");
    }
    let place = tempfile::tempdir_in("/var/tmp").expect("a directory");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path(), open).expect("its owner may");
    // The program itself may lie there.
    let program = place.path().join("assay");
    std::fs::copy(Workspace::new().program(&[]).get_program(), &program).expect("a copy");
    let assay = |verb: &str, temporary: &str| {
        let script = format!("{} && exec \"$0\" \"$@\"", small.script);
        let shell = [small.prefix, &["sh", "-c", &script]].concat();
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg(&program).arg(verb).args(RUN);
        command.args(["postgres@15.10", "--data-dir", "data"]).current_dir(place.path());
        ProgramOutput::of(command.env("TMPDIR", temporary).output().expect("a shell"))
    };
    let run = assay("run", "/tmp");
    let err = unwrapped(&run.err);
    assert!(err.contains("No space left on device") && err.contains("nothing was run"), "{err}");
    assert!(err.contains("set TMPDIR to one that") && err.contains("with 32.0 KiB"), "{err}");
    let plan = assay("plan", "/tmp").out;
    assert!(plan.contains("refuses this plan on this host"), "{plan}");
    assay("run", "/var/tmp").recorded();
}
