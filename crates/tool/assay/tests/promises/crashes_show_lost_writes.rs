//! `assay durability` convicts stores that lose acknowledged writes, and acquits the others.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::own_engines_need_one_library::{SORTED, add, compiled, folders};
use crate::workspace::Workspace;

/// Returns whether power cuts can be made here; prints why not.
fn can_cut() -> bool {
    let has_fuse = Path::new("/dev/fuse").exists();
    if !has_fuse {
        print_skip("no /dev/fuse: modprobe fuse");
    }
    has_fuse
}

/// Runs `assay durability` with these arguments; returns its exit code and the campaigns.
fn cut(workspace: &Workspace, arguments: &str) -> (i32, Vec<Value>) {
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let output =
        workspace.assay(&[&["durability"], &arguments[..], &["--format", "json"]].concat());
    let data: Value = serde_json::from_str(&output.out)
        .unwrap_or_else(|error| panic!("{error}: {}{}", output.out, output.err));
    let campaigns = data["campaigns"].as_array().expect("a list").clone();
    for mount in std::fs::read_to_string("/proc/mounts").expect("mounts").lines() {
        assert!(!mount.contains(&workspace.path("").display().to_string()), "{mount}");
    }
    (output.code, campaigns)
}

/// What the engine below can be compiled to do.
const TRAITS: [&str; 3] = ["SYNCS_DIRECTORY", "IGNORES_FAILURES", "COMPACTS"];

/// The log of the engine below, in C.
const LOG: &str = r#"
#include <fcntl.h>
#include <unistd.h>
static int log_file = -1;
static bool is_broken;
static bool sync_directory(sorted *s) {
    char dir[4096];
    snprintf(dir, sizeof dir, "%s", s->path);
    *strrchr(dir, '/') = 0;
    return fsync(open(dir, O_RDONLY)) == 0;
}
static bool compact(sorted *s) {
    char old[4096];
    snprintf(old, sizeof old, "%s", s->path);
    strcat(s->path, ".new");
    bool is_done = save(s) && rename(s->path, old) == 0;
    snprintf(s->path, sizeof s->path, "%s", old);
    return is_done && sync_directory(s);
}
static bool log_change(sorted *s, const void *key, size_t key_bytes, const void *value,
                       size_t bytes) {
    if (log_file < 0) {
        log_file = open(s->path, O_CREAT | O_APPEND | O_WRONLY, 0600);
        if (SYNCS_DIRECTORY && !sync_directory(s)) return false;
    }
    /* A delete has no value, and a mark. */
    size_t sizes[2] = {key_bytes | (value ? 0 : DELETE), bytes};
    if (write(log_file, sizes, sizeof sizes) < 0 || write(log_file, key, key_bytes) < 0 ||
        write(log_file, value, bytes) < 0)
        return false;
    is_broken = is_broken || fsync(log_file) != 0;
    return !is_broken || IGNORES_FAILURES;
}

uint32_t assay_abi(void)"#;

/// An engine that logs each change with a sync, and claims that writes survive a crash.
///
/// It forgets to sync the directory in which it makes the log, unless it is compiled to sync it. It
/// may ignore that a sync fails, and sync no more. When it opens, it may replace the log by a copy
/// that it does not sync.
fn logging(has: &[&str]) -> String {
    let put = "bool is_done = set(s, key, key_bytes, value, value_bytes);";
    let logged = "bool is_done = log_change(s, key, key_bytes, value, value_bytes) && \
                  set(s, key, key_bytes, value, value_bytes);";
    let found = "size_t at = seek(s, key, key_bytes, &is_there);\n    if (is_there) {\n        \
                 free(s->rows[at].bytes);";
    let deleted = "if (!log_change(s, key, key_bytes, NULL, 0)) \
                   return fail(error, ASSAY_FATAL, \"the log failed\");\n    "
        .to_owned()
        + found;
    let read = "unsigned char *bytes = malloc(sizes[0]";
    let marked =
        format!("bool is_delete = sizes[0] & DELETE; sizes[0] &= ~DELETE;\n        {read}");
    let loaded = "set(s, bytes, sizes[0], bytes + sizes[0], sizes[1]);";
    let taken = "(is_delete ? unset(s, bytes, sizes[0]) : \
                 set(s, bytes, sizes[0], bytes + sizes[0], sizes[1]));";
    let unset = r#"
static bool unset(sorted *s, const void *key, size_t bytes) {
    bool is_there;
    size_t at = seek(s, key, bytes, &is_there);
    if (is_there) memmove(&s->rows[at], &s->rows[at + 1], (--s->count - at) * sizeof *s->rows);
    return true;
}

static bool load("#;
    let is_set = |name: &&str| format!("#define {name} {}\n", u8::from(has.contains(name)));
    let defines: String = TRAITS.iter().map(is_set).collect();
    let mut source = format!("#define DELETE (1UL << 63)\n{defines}{SORTED}");
    for (old, new) in [
        ("uint32_t assay_abi(void)", LOG),
        (put, logged),
        (found, &*deleted),
        (read, &*marked),
        (loaded, taken),
        (
            "if (!s->rows || !load(s))",
            "log_file = -1;\n    if (!s->rows || !load(s) || (COMPACTS && s->count && !compact(s)))",
        ),
        // A failed sync leaves zeros.
        ("sizeof sizes, 1, file) == 1)", "sizeof sizes, 1, file) == 1 && sizes[0])"),
        ("static bool load(", unset),
        ("\"field_reads\", \"yes\"", "\"durability\", \"sync\""),
        ("name, \"room\") == 0", "name, \"assay.durability\") == 0"),
        // A flush would rewrite the log that it appends to.
        ("*is_done = work == ASSAY_FLUSH;", "*is_done = 0; return ASSAY_DONE;"),
    ] {
        assert!(source.contains(old), "{old}");
        source = source.replacen(old, new, 1);
    }
    source
}

#[test]
fn stores_that_sync_lose_nothing_and_stores_that_do_not_lose_everything() {
    if !can_cut() {
        return;
    }
    let workspace = Workspace::new();
    let (code, sound) =
        cut(&workspace, "--engine sqlite --engine lmdb --durability sync --level file --cuts 3");
    assert_eq!(code, 0);
    for one in &sound {
        assert_eq!(one["summary"]["losing"], 0, "{one}");
        assert_eq!(one["summary"]["lost"]["lost"], "nothing");
        let acknowledged = one["campaign"]["cuts"][0]["acknowledged"].as_u64();
        assert!(acknowledged >= Some(20), "{one}");
        let known = one["campaign"]["calibrators"].as_array().expect("a list");
        assert!(known.iter().any(|it| it["loses"] == true && it["losing"] == 1), "{one}");
    }
    let (code, unsynced) = cut(&workspace, "--engine fjall --durability os --cuts 2 --clients 2");
    // The class `os` claims to survive the death of the process alone.
    assert_eq!(code, 0);
    let losing: Vec<_> = unsynced.iter().map(|it| it["summary"]["losing"].clone()).collect();
    assert_eq!(losing, [0, 2], "{unsynced:?}");
    assert_eq!(unsynced[1]["summary"]["lost"]["lost"], "everything");
    let forgotten = &unsynced[1]["campaign"]["cuts"][0]["forgotten"][0];
    assert!(forgotten["what"] == "data" && forgotten["bytes"].as_u64() > Some(0), "{forgotten}");
}

/// Goal: the printed command repeats a cut at each level, though the level ignores some options.
#[test]
fn printed_commands_repeat_their_cuts() {
    if !can_cut() {
        return;
    }
    let workspace = Workspace::new();
    let args = "durability --engine memory --durability none --survivors half --cut 3";
    let first = workspace.assay(&args.split(' ').collect::<Vec<_>>());
    let commands = first.out.lines().filter_map(|line| line.strip_prefix("assay "));
    let commands: Vec<_> = commands.collect();
    assert_eq!(commands.len(), 2, "{}{}", first.out, first.err);
    for command in commands {
        let again = workspace.assay(&command.split(' ').collect::<Vec<_>>());
        assert!(again.out.contains("1 of 1 lost everything"), "{command}: {}", again.err);
    }
}

/// Goal: a store that forgets to sync the directory of its log is found where names need that. It
/// breaks no claim, and the same store loses nothing once it syncs the directory.
#[test]
fn forgotten_sync_of_a_directory_is_found_with_strict_directories() {
    if !can_cut() {
        return;
    }
    let build = "--engine sorted@mine --durability sync --level file --cuts 2";
    for (has, arguments, losing) in
        [(&[][..], "--strict", 2), (&[], "", 0), (&["SYNCS_DIRECTORY"], "--strict", 0)]
    {
        let Some(workspace) = compiled(&logging(has)) else { return };
        let added = add(&workspace);
        assert_eq!(added.code, 0, "{}", added.err);
        let (code, campaigns) = cut(&workspace, &format!("{build} {arguments}"));
        let summary = &campaigns[0]["summary"];
        assert_eq!(summary["losing"], losing, "{campaigns:?}");
        assert_eq!(code, 0);
    }
}

/// Goal: a store that ignores a failed sync, and one that loses its copy of the log in a second
/// power failure right after the recovery, are convicted; without these errors it loses nothing.
#[test]
fn failed_syncs_and_second_power_failures_convict() {
    if !can_cut() {
        return;
    }
    let fault = "--fault fsync";
    for (has, arguments, losing, is_after_recovery) in [
        (&["SYNCS_DIRECTORY"][..], fault, 0, Value::Null),
        (&["SYNCS_DIRECTORY", "IGNORES_FAILURES"], fault, 1, Value::Null),
        (&["SYNCS_DIRECTORY", "COMPACTS"], "", 1, Value::Bool(true)),
    ] {
        let Some(workspace) = compiled(&logging(has)) else { return };
        let added = add(&workspace);
        assert_eq!(added.code, 0, "{}", added.err);
        let build = "--engine sorted@mine --durability sync --level file --cut 0";
        let (code, campaigns) = cut(&workspace, &format!("{build} {arguments}"));
        let only = &campaigns[0]["campaign"]["cuts"][0];
        assert_eq!(campaigns[0]["summary"]["losing"], losing, "{has:?}: {campaigns:?}");
        assert_eq!(only["is_after_recovery"], is_after_recovery, "{campaigns:?}");
        assert_eq!(code, if losing == 0 { 0 } else { 4 });
    }
}

/// Goal: an engine that stops at a failed sync has done right, one that requests no sync cannot be
/// tested, and the report names the fault.
#[test]
fn engines_stop_at_a_failed_sync_and_lose_nothing() {
    if !can_cut() {
        return;
    }
    let workspace = Workspace::new();
    let engines = ["sqlite", "lmdb", "redb", "fjall"].map(|it| format!("--engine {it} ")).concat();
    let file = "--level file --fault fsync --cut 0";
    let (code, campaigns) = cut(&workspace, &format!("{engines} {file}"));
    assert_eq!((code, campaigns.len()), (0, 4), "{campaigns:?}");
    let text =
        workspace.assay(&["durability", "--engine", "lmdb", "--fault", "fsync", "--cut", "0"]);
    assert!(text.out.contains("power cuts, one fsync failed: 0 of 1 lost a write"), "{}", text.out);
}

#[test]
fn class_that_is_claimed_and_not_had_fails_the_command_and_blocks_the_comparison() {
    // It writes its rows when it is closed.
    let claims = SORTED.replace("\"field_reads\", \"yes\"", "\"durability\", \"sync\"");
    let claims = claims.replace("name, \"room\") == 0", "name, \"assay.durability\") == 0");
    let Some(workspace) = compiled(&claims) else { return };
    let added = add(&workspace);
    assert_eq!(added.code, 0, "{}", added.err);
    let (code, campaigns) =
        cut(&workspace, "--engine sorted@mine --durability sync --level process --cuts 2");
    assert!(code == 4 && campaigns[0]["summary"]["losing"] == 2, "{code} {campaigns:?}");
    let file = "[experiment]\nname = \"liar\"\nquestion = \"Which?\"\n\
        [benchmark]\nsteps = [\"fillrandom\"]\nrows = \"1k\"\ndurability = \"sync\"\n\
        [durability]\ncuts = 1\nlevels = [\"process\"]\n\
        [[variant]]\nname = \"sorted\"\nengine = \"sorted@mine\"\n\
        [[variant]]\nname = \"memory\"\nengine = \"memory\"\n";
    workspace.write("liar.toml", file);
    workspace.assay(&["run", "liar.toml"]);
    let compared = workspace.assay(&["compare", "liar"]).out;
    assert!(compared.contains("BOGUS") && compared.contains("A080"), "{compared}");
}

#[test]
fn what_cannot_be_cut_is_refused_before_anything_runs() {
    let workspace = Workspace::new();
    for (arguments, message) in [
        (&["--engine", "memory", "--cut", "100000"][..], "--cut"),
        (&["--engine", "postgres", "--level", "process"], "postgres needs a version"),
        (&["--engine", "lmdb", "--file-system", "xfs"], "--file-system has no effect"),
        (&["--engine", "lmdb", "--fault", "fsync", "--level", "block"], "--fault has no effect"),
        (&["--engine", "nosuch"], "nosuch"),
        (&["--engine", "lmdb", "--option", "MDB_NOSYNC=true"], "MDB_NOSYNC"),
        (&["--engine", "lmdb", "--cuts", "0"], "--cuts"),
    ] {
        let output = workspace.assay(&[&["durability"], arguments].concat());
        assert!(output.code != 0 && output.err.contains(message), "{}{}", output.out, output.err);
    }
    let made = std::fs::read_dir(workspace.path("assay-data")).into_iter().flatten().flatten();
    assert_eq!(made.filter(|it| it.file_name() != ".assay-data").count(), 0);
}

/// Goal: the root of a user namespace, which may open loop devices and mount none, is refused.
#[test]
fn disks_are_not_cut_in_a_user_namespace() {
    let workspace = Workspace::new();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user"]).arg(assert_cmd::cargo::cargo_bin!("assay"));
    command.args(["durability", "--engine", "memory", "--level", "block", "--cut", "0"]);
    let Ok(output) = command.current_dir(workspace.path("")).output() else {
        return print_skip("no unshare: apt install util-linux");
    };
    let text = String::from_utf8_lossy(&output.stderr);
    if text.contains("unshare: ") {
        return print_skip(&text);
    }
    assert!(text.contains("cuts of level block cannot be made here"), "{text}");
}

/// Goal: a disk that loses what was not flushed convicts a file system that flushes nothing.
#[test]
fn synced_writes_survive_below_ext4_unless_it_has_no_barriers() {
    let workspace = Workspace::new();
    let block = ["durability", "--engine", "lmdb", "--level", "block", "--cuts", "1"];
    let checked = workspace.assay(&[&block[..], &["--format", "json"]].concat());
    if checked.err.contains("cannot be made here") {
        return print_skip(&checked.err);
    }
    let sound: Value = serde_json::from_str(&checked.out).expect("JSON");
    assert_eq!(sound["campaigns"][0]["summary"]["losing"], 0, "{}", checked.out);
    let blamed = workspace.assay(&[&block[..], &["--file-system", "ext4-nobarrier"]].concat());
    let text = "power cuts of a disk below ext4-nobarrier: 1 of 1";
    assert!(blamed.code == 4 && blamed.out.contains(text), "{}{}", blamed.out, blamed.err);
}

/// Prints why a test is skipped.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn print_skip(reason: &str) {
    println!("skipped: {}", reason.trim());
}

/// Goal: an experiment stores what its variants lost, and `compare` shows it.
#[test]
fn comparison_shows_what_survives_a_crash() {
    if !can_cut() {
        return;
    }
    let workspace = Workspace::new();
    let file = "[experiment]\nname = \"crashes\"\nquestion = \"Which?\"\n\
        [benchmark]\nsteps = [\"fillrandom\"]\nrows = \"1k\"\ndurability = \"sync\"\n\
        [durability]\ncuts = 2\nlevels = [\"process\", \"file\"]\nfault = \"fsync\"\n\
        [factors]\nrepetitions = 2\n\
        [[variant]]\nname = \"lmdb\"\nengine = \"lmdb\"\n\
        [[variant]]\nname = \"redb\"\nengine = \"redb\"\n";
    workspace.write("crashes.toml", file);
    let plan = workspace.assay(&["plan", "crashes.toml"]);
    assert!(plan.out.contains("cuts      after the runs, 2 of each variant"), "{}", plan.out);
    workspace.recorded(&["run", "crashes.toml"]);
    let page = workspace.recorded(&["compare", "crashes", "--format", "markdown"]);
    assert!(page.out.contains("## What survives a crash"), "{}", page.out);
    assert_eq!(page.err, "");
    let verified = workspace.assay(&["verify", "crashes"]);
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
    workspace.recorded(&["export", "crashes", "-o", "crashes.assay"]);
    for from in ["crashes", "crashes.assay"] {
        let compared = workspace.assay(&["compare", from, "--format", "json"]).out;
        let compared: Value = serde_json::from_str(&compared).expect("JSON");
        let cuts = compared["comparison"]["cuts"].as_array().expect("a list");
        let is_sound = |it: &&Value| it["cuts"] == 2 && it["losing"] == 0;
        assert_eq!(cuts.iter().filter(is_sound).count(), 4, "{cuts:?}");
    }
    let dirs = folders(&workspace.path("results/crashes"));
    let stored = dirs[0].join("cuts.json");
    let text = std::fs::read_to_string(&stored).expect("the cuts");
    std::fs::write(&stored, text.replacen("\"lost\": 0", "\"lost\": 1", 1)).expect("a file");
    let compared = workspace.assay(&["compare", "crashes"]);
    assert!(compared.err.contains("cuts.json of"), "{}", compared.err);
    let verified = workspace.assay(&["verify", "crashes"]);
    assert!(verified.code != 0 && verified.out.contains("cuts.json"), "{}", verified.out);
    for (old, new, message) in [
        ("cuts = 2", "cuts = 0", "the number of cuts"),
        ("cuts = 2", "cuts = 100_001", "100001 cuts are too many"),
        ("cuts = 2", "cuts = 2\nclients = 65", "65 clients are too many"),
        ("\"fsync\"", "\"write\"", "unknown fault `write`"),
        ("[\"process\", \"file\"]", "[\"process\"]", "`fault` has no effect"),
        ("[\"process\", \"file\"]", "[\"disk\"]", "is not a level of cuts"),
        ("cuts = 2", "cut = 2", "unknown key"),
    ] {
        workspace.write("wrong.toml", file.replace(old, new));
        let plan = workspace.assay(&["plan", "wrong.toml"]);
        assert!(plan.code != 0 && plan.err.contains(message), "{}", plan.err);
        assert!(plan.err.contains("wrong.toml:"), "{}", plan.err);
    }
}

/// Goal: a comparison has the command of a losing cut, and the command makes the cut again.
#[test]
fn comparison_has_the_command_of_a_losing_cut() {
    if !can_cut() {
        return;
    }
    let workspace = Workspace::new();
    let file = "[experiment]\nname = \"forgets\"\nquestion = \"Which?\"\n\
        [benchmark]\nsteps = [\"fillrandom\"]\nrows = \"1k\"\ndurability = \"none\"\n\
        [durability]\ncuts = 2\nlevels = [\"process\", \"file\"]\nclients = 2\n\
        [factors]\nrepetitions = 2\n\
        [[variant]]\nname = \"lmdb\"\nengine = \"lmdb\"\n\
        [[variant]]\nname = \"forgets\"\nengine = \"memory\"\n";
    workspace.write("forgets.toml", file);
    workspace.recorded(&["run", "forgets.toml"]);
    let page = workspace.recorded(&["compare", "forgets"]).out;
    let commands: Vec<&str> =
        page.lines().filter(|line| line.starts_with("assay durability")).collect();
    let of_memory = commands.iter().filter(|it| it.contains("--engine memory"));
    assert_eq!(of_memory.count(), 2, "{page}");
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').skip(1).collect();
        let again = workspace.assay(&[&arguments[..], &["--format", "json"]].concat());
        let again: Value = serde_json::from_str(&again.out).expect("JSON");
        assert_eq!(again["campaigns"][0]["summary"]["losing"], 1, "{command}: {again}");
        assert_eq!(again["campaigns"][0]["campaign"]["clients"], 2, "{command}");
    }
}
