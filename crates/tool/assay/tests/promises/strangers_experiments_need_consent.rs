//! An experiment of a stranger runs with consent where it reaches beyond its data, and is confined.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use archive::Results;
use model::{BuildRef, Manifest, Options};

use crate::own_engines_need_one_library::{SORTED, add, compiled, experiment, folders, records};
use crate::rejection::unwrapped;
use crate::stored::PAIR;
use crate::workspace::{ProgramOutput, Workspace};

/// C that tries, when it is loaded, what a hostile library would: it writes a file, reads one,
/// connects; changes the mode, the times and an attribute of a file, makes a file of shared
/// memory, and limits its parent's open files. It prints the error of each, 0 for none. Where it is
/// confined, it leaves a process.
const PROBE: &str = r#"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
/* Leaves the process group for good, where the library is confined, by a name that is no UTF-8. */
static void leave(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (int fd = 0; fd < 3; fd++) close(fd);
            execl("/bin/sh", "sh", "-c", "n=$TMPDIR/$(printf '\\377\\376'); cp /bin/sh \"$n\"; "
                  "exec \"$n\" -c 'sleep 60; : OUTSIDE'", (char *)0);
        }
        _exit(0);
    }
}
static int error_of(long result) { return result < 0 ? errno : 0; }
__attribute__((constructor)) static void probe(void) {
    int written = error_of(open("OUTSIDE/written", O_CREAT | O_WRONLY, 0600));
    int read = error_of(open("OUTSIDE/secret", O_RDONLY));
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int connected = error_of(fd < 0 ? fd : connect(fd, (struct sockaddr *)&to, sizeof to));
    int mode = error_of(chmod("OUTSIDE/secret", 0644));
    int times = error_of(utimensat(AT_FDCWD, "OUTSIDE/secret", 0, 0));
    int attribute = error_of(setxattr("OUTSIDE/secret", "user.probe", "x", 1, 0));
    // Some file systems have none.
    attribute = attribute == ENOTSUP ? 0 : attribute;
    char shared[64];
    snprintf(shared, sizeof shared, "/dev/shm/assay-probe-%d", getpid());
    int memory = error_of(open(shared, O_CREAT | O_WRONLY, 0600));
    unlink(shared);
    struct rlimit limit;
    int limited = error_of(syscall(SYS_prlimit64, getppid(), RLIMIT_NOFILE, 0, &limit));
    fprintf(stderr, "probe %d %d %d, %d %d %d, %d %d\n", written, read, connected, mode, times,
            attribute, memory, limited);
    if (mode == EPERM) leave();
}
"#;

/// Errors of Linux: operation not permitted, permission denied, and connection refused.
const DENIED: &str = "probe 13 13 1, 1 1 1, 13 1";
const FREE: &str = "probe 0 0 111, 0 0 0, 0 0";

/// Returns a file with the experiment of two SQLite variants, changed, as a stranger makes it.
fn strange(change: impl FnOnce(&mut Manifest)) -> Workspace {
    let author = Workspace::new();
    author.import(PAIR);
    let dir = Results::at(&author.path("results")).find("pair").expect("imported");
    let mut manifest = dir.manifest().expect("a manifest");
    change(&mut manifest);
    dir.extend(&manifest).expect("writable");
    assert_eq!(author.assay(&["export", "pair", "-o", "strange.assay"]).code, 0);
    let workspace = Workspace::new();
    let bytes = fs::read(author.path("strange.assay")).expect("exported");
    workspace.write("strange.assay", bytes);
    workspace
}

/// Gives every variant a build and an option.
fn with_option(build: &str, name: &str, value: &str) -> impl FnOnce(&mut Manifest) {
    let (build, options): (BuildRef, Options) =
        (build.parse().expect("a build"), [(name, value)].into_iter().collect());
    move |manifest| {
        for variant in &mut manifest.plan.experiment.variants {
            variant.build = build.clone();
            variant.options = options.clone();
        }
    }
}

/// Checks that an output refuses for want of consent, and that nothing was begun.
fn assert_refused(output: &ProgramOutput, reached: &str) {
    let err = unwrapped(&output.err);
    assert_eq!(output.code, 1, "{err}");
    assert!(err.contains("--trust") && err.contains("is a stranger's"), "{err}");
    assert!(err.contains(reached), "{reached}: {err}");
}

/// Goal: whatever an option of a stranger's file reaches is printed, and refused without consent.
#[test]
fn options_that_reach_beyond_the_data_need_consent() {
    for (build, name, value, what) in [
        ("rocksdb@0.0.1", "wal_dir", "/tmp/elsewhere", "names a path"),
        ("rocksdb@0.0.1", "db_log_dir", "../x", "names a path"),
        ("rocksdb@0.0.1", "env", "posix://", "loads code"),
        ("rocksdb@0.0.1", "option_of_tomorrow", "1", "is not known to be harmless"),
        (
            "rocksdb@0.0.1",
            "write_buffer_size",
            "{};wal_dir=/x",
            "has characters in its value that may set other options",
        ),
        ("wiredtiger@0.0.1", "log.path", "/tmp", "names a path"),
        ("postgres@99", "Archive_Command", "touch x", "runs a command"),
        ("postgres@99", "session_preload_libraries", "x", "loads code"),
        ("postgres@99", "primary_conninfo", "host=x", "names a host"),
        ("mysql@99", "loose-plugin-load-add", "x.so", "loads code"),
        ("mariadb@99", "general-log-file", "/x", "names a path"),
    ] {
        let workspace = strange(with_option(build, name, value));
        let reached = format!("{what}: one: {name} = {value}");
        assert_refused(&workspace.assay(&["rerun", "strange.assay"]), &reached);
        let printed = workspace.assay(&["rerun", "strange.assay"]).err;
        assert!(printed.contains(&format!("options   two: {name} = {value}")), "{printed}");
        assert!(!workspace.path("assay-data").exists() && !workspace.path("results").exists());
        assert_eq!(workspace.assay(&["import", "strange.assay"]).code, 0);
        assert_refused(&workspace.assay(&["run", "--resume", "pair"]), &reached);
        assert_refused(&workspace.assay(&["rerun", "pair"]), &reached);
        assert!(!workspace.path("assay-data").exists());
        let trusted = workspace.assay(&["rerun", "pair", "--trust"]);
        assert!(
            trusted.err.contains("the build of the base variant cannot be obtained"),
            "{}",
            trusted.err
        );
        assert!(trusted.err.contains(what), "{}", trusted.err);
    }
    let plain = strange(with_option("rocksdb@0.0.1", "write_buffer_size", "64MB"));
    let plain = plain.assay(&["rerun", "strange.assay"]);
    assert!(
        plain.err.contains("the build of the base variant cannot be obtained"),
        "{}",
        plain.err
    );
    assert!(!plain.err.contains("stranger"), "no consent is needed: {}", plain.err);
}

/// Goal: a yes comes from a terminal; through a pipe it is none.
/// Method: `script` gives the program a terminal, and types.
#[test]
fn only_a_terminal_gives_consent() {
    let workspace = strange(with_option("rocksdb@0.0.1", "wal_dir", "/tmp/elsewhere"));
    let mut piped = workspace.program(&["rerun", "strange.assay"]);
    let piped = piped.write_stdin("y\n").output().expect("the program starts");
    assert_refused(&ProgramOutput::of(piped), "names a path");
    let answered = |answer: &str| {
        let mut script = Command::new("script");
        let rerun = format!("{} rerun strange.assay", env!("CARGO_BIN_EXE_assay"));
        script.args(["-qec", &rerun, "/dev/null"]).current_dir(workspace.path(""));
        script.env("XDG_CACHE_HOME", workspace.path("cache")).env("NO_COLOR", "1");
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut input = child.stdin.take().expect("a pipe");
        writeln!(input, "{answer}").expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(yes) = answered("y") else {
        return println!("skipped in part: script(1) is not installed");
    };
    assert!(
        yes.contains("Run it? [y/N]")
            && yes.contains("the build of the base variant cannot be obtained"),
        "{yes}"
    );
    let no = answered("").expect("it was there");
    assert!(no.contains("is a stranger's") && !no.contains("cannot be obtained"), "{no}");
}

/// Goal: a library that came with the results is not loaded, with consent neither.
/// Method: the extension would write a file when it is loaded; Landlock denies it.
#[test]
fn a_library_in_the_archive_is_not_loaded() {
    let outside = Workspace::new();
    let source = PROBE.replace("OUTSIDE", &outside.path("").display().to_string());
    let Some(library) = compiled(&format!("#include <stdio.h>\n{source}")) else { return };
    let path = outside.path("x.so");
    fs::copy(library.path("libsorted.so"), &path).expect("compiled");
    let extension = format!("[{}]", path.display());
    let workspace = strange(with_option("wiredtiger@system", "extensions", &extension));
    let reached = format!("loads code: one: extensions = {extension}");
    assert_refused(&workspace.assay(&["rerun", "strange.assay"]), &reached);
    let trusted = workspace.assay(&["rerun", "strange.assay", "--trust"]);
    if trusted.err.contains("the build of the base variant cannot be obtained") {
        return println!("skipped in part: no WiredTiger is installed: {}", trusted.err);
    }
    if child::landlock_level().is_none() {
        return println!("skipped in part: the kernel offers no Landlock");
    }
    assert_eq!(trusted.code, 1, "{}", trusted.err);
    assert!(trusted.err.contains("Permission denied"), "{}", trusted.err);
    assert!(!outside.path("written").exists(), "it was loaded");
}

/// Returns what the probe printed in the last run of an experiment's newest directory.
fn probed(workspace: &Workspace) -> String {
    let newest = folders(&workspace.path("results/own")).into_iter().max().expect("it was run");
    let run = newest.join("runs/plain.c1.r1/engine/stderr.txt");
    let text = fs::read_to_string(run).expect("the probe prints");
    text.lines().find(|line| line.starts_with("probe")).expect("a line").to_owned()
}

/// Goal: an engine of one's own experiment is free; in a stranger's it reaches its data alone.
/// Method: the same library, which reports what it could do.
#[test]
fn an_engine_of_a_stranger_writes_nothing_outside_of_its_data() {
    let outside = Workspace::new();
    outside.write("secret", "s");
    let probe = PROBE.replace("OUTSIDE", &outside.path("").display().to_string());
    let Some(workspace) = compiled(&format!("{SORTED}{probe}")) else { return };
    assert_eq!(add(&workspace).code, 0);
    workspace.write("own.toml", experiment("room = 100"));
    workspace.assay(&["run", "own.toml"]).recorded();
    assert_eq!(probed(&workspace), FREE);
    fs::remove_file(outside.path("written")).expect("the probe writes");
    let facts = |workspace: &Workspace| {
        let all = records(workspace, "own").into_iter();
        all.map(|it| it["identity"]["facts"]["confinement"].clone()).collect::<Vec<_>>()
    };
    assert!(facts(&workspace).iter().all(serde_json::Value::is_null));

    assert_eq!(workspace.assay(&["export", "own", "-o", "own.assay"]).code, 0);
    let reached = "is not known to be harmless: room: room = 100";
    assert_refused(&workspace.assay(&["rerun", "own.assay"]), reached);
    let rerun = workspace.assay(&["rerun", "own.assay", "--trust"]);
    assert!(rerun.out.contains("rerun here"), "{}{}", rerun.out, rerun.err);
    // What was made of a stranger's experiment is a stranger's.
    assert_refused(&workspace.assay(&["run", "--resume", "own"]), reached);
    let Some(level) = child::landlock_level() else {
        assert!(rerun.err.contains("offers no Landlock"), "{}", rerun.err);
        return println!("skipped in part: the kernel offers no Landlock");
    };
    let fact = format!("Landlock {level}: build, data and system files");
    assert_eq!(facts(&workspace).iter().filter(|it| **it == *fact).count(), 4);
    assert!(!outside.path("written").exists());
    assert_eq!(probed(&workspace), DENIED);
    assert!(!runs(&outside.path("").display().to_string()), "it left a process");
}

/// Returns whether a process has this text among its arguments.
fn runs(text: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("Linux has it").flatten();
    let mut args = processes.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    args.any(|args| String::from_utf8_lossy(&args).contains(text))
}

/// Goal: one's own experiment is resumed without a question, and nothing else is.
#[test]
fn what_was_imported_copied_or_changed_is_a_strangers() {
    let Some(workspace) = compiled(SORTED) else { return };
    assert_eq!(add(&workspace).code, 0);
    workspace.write("own.toml", experiment("room = 100"));
    workspace.assay(&["run", "own.toml"]).recorded();
    let resume = |workspace: &Workspace| workspace.assay(&["run", "--resume", "own"]);
    resume(&workspace).recorded();
    let reached = "is not known to be harmless: room: room = 100";

    let copied = Workspace::new();
    let mut copy = Command::new("cp");
    copy.arg("-a").arg(workspace.path("results")).arg(copied.path(""));
    assert!(copy.status().expect("cp").success());
    assert_refused(&resume(&copied), reached);

    assert_eq!(workspace.assay(&["export", "own", "-o", "own.assay"]).code, 0);
    assert_eq!(workspace.assay(&["import", "own.assay"]).code, 0);
    // It was there: nothing was imported.
    resume(&workspace).recorded();
    let [dir] = &folders(&workspace.path("results/own"))[..] else { panic!("one experiment") };
    let path = dir.join("manifest.json");
    let manifest = fs::read_to_string(&path).expect("a manifest");
    fs::write(&path, manifest.replace("Does room help?", "Does room help us?")).expect("ours");
    assert_refused(&resume(&workspace), reached);
    fs::remove_dir_all(dir).expect("ours");
    assert_eq!(workspace.assay(&["import", "own.assay"]).code, 0);
    assert_refused(&resume(&workspace), reached);
}

/// Goal: a command of a server runs with consent alone, and then as confined as the server.
/// Method: Postgres archives its log each second by a command that writes a file elsewhere.
#[test]
fn a_command_of_a_server_needs_consent_and_is_confined() {
    let server = "postgres@15.10";
    if let Err(reason) = supply::testing::build(server) {
        return println!("skipped: {reason}");
    }
    // Every account can write there.
    let outside = tempfile::Builder::new().prefix("strange").tempdir_in("/var/tmp").expect("open");
    fs::set_permissions(outside.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .expect("ours");
    let marker = outside.path().join("written");
    let command = format!("touch {}", marker.display());
    let workspace = strange(|manifest| {
        with_option(server, "archive_command", &command)(manifest);
        let experiment = &mut manifest.plan.experiment;
        for variant in &mut experiment.variants {
            variant.options.set("archive_mode", "on");
            variant.options.set("archive_timeout", "1");
        }
        experiment.repetitions = 1;
        for step in &mut experiment.steps {
            step.stop = model::StopRule::Duration(model::Nanos::from_secs(3));
        }
    });
    let reached = format!("runs a command: one: archive_command = {command}");
    assert_refused(&workspace.assay_on_servers(&["rerun", "strange.assay"]), &reached);
    let output = workspace.assay_on_servers(&["rerun", "strange.assay", "--trust"]);
    assert!(output.out.contains("rerun here"), "{}{}", output.out, output.err);
    if child::landlock_level().is_none() {
        return println!("skipped in part: the kernel offers no Landlock");
    }
    let [dir] = &folders(&workspace.path("results/pair"))[..] else { panic!("one experiment") };
    let log = dir.join("runs/one.c1.r1/engine/server.log");
    let log = fs::read_to_string(log).expect("a server has a log");
    assert!(log.contains("archive command failed"), "{log}");
    assert!(log.contains("Permission denied") && !Path::new(&marker).exists(), "{log}");
}
