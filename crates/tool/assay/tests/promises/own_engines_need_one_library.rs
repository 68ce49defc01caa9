//! Any library that exports `assay_engine.h` is an engine under the name it is given.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use engine::{OpenSpec, Rows};
use model::{DataShape, Op, Settings};
use serde_json::Value;

use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

/// The example in C: a sorted array in one file.
pub(crate) const SORTED: &str = include_str!("../../../../drive/shim/tests/sorted.c");

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// Checks of the conformance battery.
const CHECKS: usize = 15;

/// Compiles C in the workspace to `libsorted.so`; prints why without a compiler.
pub(crate) fn compiled(source: &str) -> Option<Workspace> {
    let workspace = Workspace::new();
    workspace.write("sorted.c", source);
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O2", "-I"]);
    command.arg(Path::new(ROOT).join("crates/drive/shim/include"));
    command.arg(workspace.path("sorted.c")).arg("-o").arg(workspace.path("libsorted.so"));
    has_run(command, "gcc libc6-dev").then_some(workspace)
}

/// Runs a compiler; prints why when it is not installed.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn has_run(mut compiler: Command, package: &str) -> bool {
    let Ok(output) = compiler.output() else {
        println!("skipped: no {compiler:?}: apt install {package}");
        return false;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Adds `libsorted.so` as `sorted@mine`.
pub(crate) fn add(workspace: &Workspace) -> ProgramOutput {
    workspace.assay(&["engine", "add", "sorted@mine", "./libsorted.so"])
}

/// Returns the directories in a directory.
pub(crate) fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory");
    entries.map(|entry| entry.expect("a name").path()).filter(|path| path.is_dir()).collect()
}

/// Returns the records of an experiment's runs.
pub(crate) fn records(workspace: &Workspace, experiment: &str) -> Vec<Value> {
    let experiments = folders(&workspace.path("results").join(experiment));
    let runs = experiments.iter().flat_map(|dir| folders(&dir.join("runs")));
    let texts = runs.map(|run| fs::read_to_string(run.join("record.json")).expect("a record"));
    texts.map(|text| serde_json::from_str(&text).expect("JSON")).collect()
}

/// Returns whether an option was in force with that value.
fn is_set(record: &Value, option: &str, value: &str) -> bool {
    record["effective_options"][option] == value
}

/// Two variants of the engine, one with an option.
pub(crate) fn experiment(options: &str) -> String {
    format!(
        r#"[experiment]
name = "own"
question = "Does room help?"

[benchmark]
steps = ["fillseq", "readrandom"]
rows = 500
duration = "50ms"
warmup = "10ms"
durability = "none"

[factors]
repetitions = 2

[[variant]]
name = "plain"
engine = "sorted@mine"

[[variant]]
name = "room"
engine = "sorted@mine"
[variant.options]
{options}
"#
    )
}

#[test]
fn c_file_is_an_engine_in_every_command() {
    let Some(workspace) = compiled(SORTED) else { return };
    let added = add(&workspace);
    assert_eq!(added.code, 0, "{}", added.err);
    assert!(added.out.starts_with("sorted@mine  "), "{}", added.out);
    let listed = workspace.assay(&["engine", "list"]).out;
    assert!(listed.contains("sorted ") && listed.contains("your own, behind assay_engine.h"));
    let shown = workspace.assay(&["engine", "show", "sorted@mine"]).out;
    assert!(shown.starts_with("sorted 1.0 (added from "), "{shown}");
    assert!(shown.contains("durability: none\n") && shown.contains("  compiler: "), "{shown}");
    let checked = workspace.assay(&["engine", "test", "sorted"]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    assert_eq!(checked.out.matches("  passed  ").count(), CHECKS, "{}", checked.out);
    assert!(checked.out.ends_with(&format!("{CHECKS} of {CHECKS} checks passed\n")));
    workspace.write("own.toml", experiment("room = 4096"));
    workspace.recorded(&["run", "own.toml"]);
    let with_room =
        records(&workspace, "own").iter().filter(|it| is_set(it, "room", "4096")).count();
    assert_eq!(with_room, 2, "the option is in force in the runs of one variant");
    let compared = workspace.recorded(&["compare", "own"]);
    assert!(compared.out.contains("room") && compared.out.contains("plain"), "{}", compared.out);
}

#[test]
fn refused_settings_and_options_are_marked_with_the_librarys_reason() {
    let Some(workspace) = compiled(SORTED) else { return };
    add(&workspace);
    workspace.write("own.toml", experiment("rooms = 4096"));
    let run = workspace.assay(&["run", "own.toml"]);
    let error = unwrapped(&run.err);
    assert_eq!(run.code, 1);
    assert_eq!(error.matches("sorted: not an option; known: room").count(), 1, "{error}");
    assert_eq!(error.matches("known: ").count(), 1, "{error}");
    assert!(error.contains("rooms = 4096") && error.contains("nothing was run"), "{error}");
    let quick = ["run", "readrandom", "--engine", "sorted@mine", "--rows", "1k"];
    let error = unwrapped(&workspace.assay(&quick).err);
    assert!(error.contains("durability `os`: sorted offers none"), "{error}");
    assert!(error.contains("--durability none"), "{error}");
    let jobs = [&quick[..], &["--durability", "none", "--background-jobs", "2"]].concat();
    let error = unwrapped(&workspace.assay(&jobs).err);
    assert!(error.contains("background_jobs: its library does not report"), "{error}");
}

#[test]
fn an_absent_library_is_named_as_such_and_no_name_is_blamed() {
    let workspace = Workspace::new();
    for engine in ["sorted@mine", "rocksdb@mine"] {
        let added = workspace.assay(&["engine", "add", engine, "./libabsent.so"]);
        let error = unwrapped(&added.err);
        assert_eq!(added.code, 1);
        assert!(error.contains("no library: cannot read ./libabsent.so"), "{error}");
        assert!(error.contains("name the file of a shared library"), "{error}");
        assert!(!error.contains("Assay has no engine"), "{error}");
    }
    let run = workspace.assay(&["run", "readrandom", "--engine", "unsorted@1", "--rows", "1k"]);
    let error: Vec<_> = run.err.split_whitespace().collect();
    assert!(error.join(" ").contains("assay engine add unsorted@1 LIBRARY"), "{}", run.err);
}

#[test]
fn missing_functions_are_named() {
    let lacking =
        SORTED.replace("int assay_scan", "int skim").replace("int assay_close", "int shut");
    let Some(workspace) = compiled(&lacking) else { return };
    let added = add(&workspace);
    let error = unwrapped(&added.err);
    assert_eq!(added.code, 1);
    assert!(error.contains("it lacks `assay_scan`, `assay_close`\n"), "{error}");
    assert!(error.contains("Assay has no engine named `sorted`"), "{error}");
    let unknown = workspace.assay(&["engine", "test", "sorted"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("no engine is named `sorted`"), "{}", unknown.err);
}

#[test]
fn wrong_facts_are_refused() {
    let fact = |name: &str, text: &str| {
        SORTED.replace("\"compiler\", __VERSION__", &format!("\"{name}\", \"{text}\""))
    };
    for (name, text, expected) in [
        ("durability", "fsync", "a wrong `durability`: "),
        ("settings", "cache room", "a wrong `settings`: `room` is not one of cache, direct_io"),
        ("key_bytes_max", "long", "a wrong `key_bytes_max`: `long`"),
        ("reverse_scans", "maybe", "a wrong `reverse_scans`: `maybe`"),
    ] {
        let Some(workspace) = compiled(&fact(name, text)) else { return };
        let added = add(&workspace);
        let error = unwrapped(&added.err);
        assert!(added.code == 1 && error.contains(expected), "{error}");
    }
    let Some(workspace) = compiled(&SORTED.replace("\"version\", \"1.0\"", "\"release\", \"1\""))
    else {
        return;
    };
    let error = unwrapped(&add(&workspace).err);
    assert!(error.contains("reports no version of sorted"), "{error}");
}

/// Goal: the battery goes on after a failed check and after one that ends the process.
#[test]
fn failed_checks_are_listed_and_set_the_exit_code() {
    let wrong = SORTED.replace("ASSAY_BAD_OPTION, ", "ASSAY_FATAL, ").replace(
        "    bool is_done = set(s, key,",
        "    if (key_bytes > 1000) abort();\n    bool is_done = set(s, key,",
    );
    let Some(workspace) = compiled(&wrong) else { return };
    assert_eq!(add(&workspace).code, 0);
    let checked = workspace.assay(&["engine", "test", "sorted@mine"]);
    assert_eq!(checked.code, 1, "{}", checked.out);
    assert!(checked.out.contains("FAILED  wrong_requests_are_refused: "), "{}", checked.out);
    let died = "FAILED  boundary_keys_and_values: it died in the check: signal 6";
    assert!(checked.out.contains(died), "{}", checked.out);
    assert!(checked.out.contains("  passed  several_writers"), "{}", checked.out);
}

/// What a library prints in its 1000th read: a forged message, a flood and half a line.
const NOISE: &str = r#"static long reads;
static void make_noise(void) {
    if (__sync_add_and_fetch(&reads, 1) != 1000) return;
    for (int fd = 1; fd <= 2; fd++) {
        dprintf(fd, "{\"number\":4,\"message\":{\"type\":\"violated\",\"reason\":\"forged\"}}\n");
        dprintf(fd, "{\"type\":\"violated\",\"reason\":\"forged\"}\n");
        for (int i = 0; i < 100000; i++) dprintf(fd, "flood\n");
        dprintf(fd, "half a line");
    }
}

int assay_get("#;

/// Goal: whatever a library prints, no second is lost.
/// Method: the operations of the seconds add up to those of the step.
#[test]
fn output_of_a_library_loses_no_measurement() {
    let noisy = SORTED.replace("int assay_get(", NOISE).replace(
        "    bool is_there;\n    pthread_rwlock_rdlock",
        "    bool is_there;\n    make_noise();\n    pthread_rwlock_rdlock",
    );
    assert!(noisy.contains("make_noise();"), "the example has changed");
    let Some(workspace) = compiled(&noisy) else { return };
    assert_eq!(add(&workspace).code, 0);
    let quick = ["run", "readrandom", "--engine", "sorted@mine", "--rows", "1k", "--durability"];
    let more = ["none", "--duration", "2200ms", "--warmup", "0s", "--repetitions", "1"];
    workspace.recorded(&[&quick[..], &more].concat());
    let results = workspace.path("results/quick-readrandom");
    let dir = folders(&results).into_iter().flat_map(|dir| folders(&dir.join("runs"))).next();
    let dir = dir.expect("a run");
    let text = fs::read_to_string(dir.join("intervals.jsonl")).expect("intervals");
    let seconds: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of_step = |it: &&Value| it["step"] == "readrandom";
    let done = |it: &Value| it["clients"]["get"]["counts"]["done"].as_u64().unwrap_or(0);
    let in_seconds: u64 = seconds.iter().filter(of_step).map(done).sum();
    let record = &records(&workspace, "quick-readrandom")[0];
    let steps = record["steps"].as_array().expect("steps");
    let step = steps.iter().find(|it| it["step"]["name"] == "readrandom").expect("the step");
    assert_eq!(in_seconds, done(step), "{text}");
    // On a busy host the flood takes the whole step.
    assert!(in_seconds > 0 && seconds.iter().filter(of_step).count() >= 2, "{text}");
    for name in ["stdout.txt", "stderr.txt"] {
        let output = fs::read_to_string(dir.join("engine").join(name)).expect("it is archived");
        assert!(output.ends_with("flood\nhalf a line"), "{name}");
    }
}

#[test]
fn linked_engines_run_the_battery_and_servers_do_not() {
    let workspace = Workspace::new();
    let checked = workspace.assay(&["engine", "test", "memory"]);
    assert_eq!(checked.code, 0, "{}", checked.out);
    let null = workspace.assay(&["engine", "test", "null"]);
    assert_eq!(null.code, 1, "{}", null.out);
    assert!(null.out.contains("FAILED  random_operations: "), "{}", null.out);
    let server = unwrapped(&workspace.assay(&["engine", "test", "postgres@15.10"]).err);
    assert!(server.contains("postgres is a server"), "{server}");
    let absent = unwrapped(&workspace.assay(&["engine", "test", "rocksdb"]).err);
    assert!(absent.contains("no build of rocksdb is cached"), "{absent}");
}

/// Goal: the example in Rust offers two durability classes, and the requested one is in force.
#[test]
fn rust_file_is_an_engine_with_two_durability_classes() {
    let workspace = Workspace::new();
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-O", "--crate-type", "cdylib", "-o"]);
    rustc.arg(workspace.path("libordered.so"));
    rustc.arg(Path::new(ROOT).join("examples/own-engine/ordered.rs"));
    if !has_run(rustc, "rustc") {
        return;
    }
    let added = workspace.assay(&["engine", "add", "ordered@1", "libordered.so"]);
    assert_eq!(added.code, 0, "{}", added.err);
    let checked = workspace.assay(&["engine", "test", "ordered"]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    for class in ["none", "os"] {
        let quick = ["run", "fillseq", "--engine", "ordered@1", "--rows", "1k", "--durability"];
        workspace.recorded(&[&quick[..], &[class]].concat());
        let records = records(&workspace, "quick-fillseq");
        assert!(records.iter().any(|it| is_set(it, "assay.durability", class)), "{class}");
    }
}

/// Rows whose values go to the log, in small files.
const BADGER: &str = r#"[experiment]
name = "badger"
question = "Is the log collected?"

[benchmark]
steps = ["fillseq", "overwrite", "compact"]
rows = 1000
duration = "2s"
value_bytes = 4000
durability = "os"

[factors]
repetitions = 1

[[variant]]
name = "badger"
engine = "badger@1"
[variant.options]
value_log_file_size = 2097152
"#;

/// Compiles the example of BadgerDB in the workspace to `libbadger.so`; prints why without it.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn compiled_badger() -> Option<Workspace> {
    const SOURCES: &str = "/usr/share/gocode";
    if !Path::new(SOURCES).join("src/github.com/dgraph-io/badger").exists() {
        println!("skipped: no BadgerDB: apt install golang-github-dgraph-io-badger-dev");
        return None;
    }
    let workspace = Workspace::new();
    let mut go = Command::new("go");
    go.env("GO111MODULE", "off").env("GOPATH", SOURCES);
    go.args(["build", "-buildmode=c-shared", "-o"]).arg(workspace.path("libbadger.so"));
    go.arg(Path::new(ROOT).join("examples/badger/badger.go"));
    has_run(go, "golang-go").then_some(workspace)
}

/// Goal: the example of BadgerDB passes the battery, and a full compaction collects its value log.
/// Method: rows are overwritten, in files small enough that some are garbage.
#[test]
fn badger_is_an_engine_and_collects_its_log() {
    let Some(workspace) = compiled_badger() else { return };
    let added = workspace.assay(&["engine", "add", "badger@1", "libbadger.so"]);
    assert_eq!(added.code, 0, "{}", added.err);
    let checked = workspace.assay(&["engine", "test", "badger"]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    workspace.write("badger.toml", BADGER);
    workspace.recorded(&["run", "badger.toml"]);
    let record = &records(&workspace, "badger")[0];
    let bytes = |name: &str| {
        let steps = record["steps"].as_array().expect("steps");
        let step = steps.iter().find(|it| it["step"]["name"] == name).expect("the step");
        step["gauges_end"]["data_dir_bytes"].as_f64().expect("a size")
    };
    let (overwritten, compacted) = (bytes("overwrite"), bytes("compact"));
    assert!(compacted < overwritten, "{compacted} of {overwritten} bytes");
}

/// Environment variable of a child: `write` or `read`, and a durability class.
const PART: &str = "ASSAY_TEST_BADGER";
/// Begins a line with the number of an acknowledged write.
const DONE: &str = "written ";
/// Keys of the writes, few enough that each is written many times before the kill.
const KEYS: u32 = 50;

/// Goal: what BadgerDB acknowledged is there after a kill of its process.
/// Method: a child writes rows and prints the number of each write when it is acknowledged. It is
/// killed in the middle, and another child compares every row.
#[test]
fn badger_loses_no_acknowledged_write_in_a_kill() {
    if let Some(part) = env::var_os(PART) {
        return in_child(part.to_str().expect("this test wrote it"));
    }
    let Some(workspace) = compiled_badger() else { return };
    for class in ["os", "sync"] {
        fs::create_dir(workspace.path(class)).expect("a directory");
        let part = |part: &str| {
            let mut child = Command::new(env::current_exe().expect("a test knows its program"));
            let test = "own_engines_need_one_library::badger_loses_no_acknowledged_write_in_a_kill";
            child.args([test, "--exact", "--nocapture"]).current_dir(workspace.path("."));
            child.env(PART, format!("{part} {class}")).stdout(Stdio::piped()).spawn()
        };
        let mut writer = part("write").expect("the test's program starts");
        let output = writer.stdout.take().expect("it is a pipe");
        let mut numbers = BufReader::new(output).lines().map_while(Result::ok).filter_map(|line| {
            let number: u32 = line.split_once(DONE)?.1.parse().ok()?;
            Some(number)
        });
        let reached = numbers.find(|number| *number == 500);
        writer.kill().expect("own child");
        let last = numbers.last().or(reached).expect("500 writes are acknowledged");
        writer.wait().expect("it has ended");
        fs::write(workspace.path("last"), last.to_string()).expect("a file");
        let reader = part("read").and_then(Child::wait_with_output).expect("it starts");
        let text = String::from_utf8_lossy(&reader.stdout);
        assert!(reader.status.success() && text.contains("1 passed"), "{class}: {text}");
    }
}

/// Returns the key of a write, and the value; `None` for a delete.
fn write(number: u32) -> ([u8; 4], Option<Vec<u8>>) {
    // Short values stay in the LSM, long ones in the log alone.
    let value = number.to_be_bytes().repeat(if number.is_multiple_of(2) { 5 } else { 500 });
    ((number * 7 % KEYS).to_be_bytes(), (!number.is_multiple_of(11)).then_some(value))
}

/// Writes until it is killed, or checks every row.
#[expect(clippy::print_stdout, reason = "the parent reads what is acknowledged")]
fn in_child(part: &str) {
    let (part, class) = part.split_once(' ').expect("a part and a class");
    let driver = shim::open_own(Path::new("libbadger.so"), "badger").expect("it loads");
    let settings = Settings { durability: class.parse().expect("a class"), ..Settings::default() };
    let data = DataShape { rows: 50, key_bytes: 4, value_bytes: 2000, compressible_to: 1.0 };
    let opened = driver.open(&OpenSpec::embedded(class.into(), settings, data));
    let engine = opened.expect("it opens");
    let (mut session, mut rows) = (engine.session().expect("a session"), Rows::new());
    if part == "write" {
        for number in 1.. {
            let (key, value) = write(number);
            let op = match &value {
                Some(value) => Op::Put { key: &key, value },
                None => Op::Delete { key: &key },
            };
            session.execute(&op, &mut rows).expect("it is written");
            println!("{DONE}{number}");
        }
    }
    let last: u32 = fs::read_to_string("last").expect("a file").parse().expect("a number");
    // The write after the last one may have been done too, or not.
    let due = |end: u32, key: [u8; 4]| {
        (1..=end).rev().map(write).find(|it| it.0 == key).and_then(|it| it.1)
    };
    for key in (0..KEYS).map(u32::to_be_bytes) {
        rows.clear(true);
        session.execute(&Op::Get { key: &key }, &mut rows).expect("it is read");
        let found = rows.stored().next().map(|(_, value)| value.to_vec());
        let is_right = found == due(last, key) || found == due(last + 1, key);
        assert!(is_right, "{key:?} after {last} writes: {found:?}");
    }
    drop(session);
    engine.close().expect("it closes");
}
