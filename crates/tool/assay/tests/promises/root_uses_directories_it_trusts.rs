//! Root writes, runs and executes nothing where another account can put something else.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::path::Path;

use archive::Results;

use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

/// An account of no user.
const OTHER: u32 = 65_533;
/// A run of a few rows.
const RUN: &str = "run fillseq --engine sqlite --rows 50";

/// Returns a directory of root with `theirs` of another account and `precious` of root.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn workspace() -> Option<Workspace> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can make files of other accounts");
        return None;
    }
    let workspace = Workspace::with_pair_file();
    for name in ["theirs", "precious"] {
        fs::create_dir(workspace.path(name)).expect("it is new");
    }
    give(&workspace.path("theirs"));
    Some(workspace)
}

/// Gives a file or a link to the other account.
fn give(path: &Path) {
    lchown(path, Some(OTHER), Some(OTHER)).expect("root may");
}

/// Plants a link of the other account.
fn plant(target: &Path, link: &Path) {
    symlink(target, link).expect("it is new");
    give(link);
}

fn assay(workspace: &Workspace, call: &str) -> ProgramOutput {
    workspace.assay(&call.split(' ').collect::<Vec<_>>())
}

/// Checks that a call is refused with these texts, before it wrote anything to `precious`.
fn assert_refused(workspace: &Workspace, call: &str, texts: &[&str]) {
    let output = assay(workspace, call);
    let err = unwrapped(&output.err);
    assert_ne!(output.code, 0, "{call}: {}", output.out);
    for text in texts {
        assert!(err.contains(text), "{call}: {text}: {err}");
    }
    assert!(is_empty(&workspace.path("precious")), "{call}");
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).expect("it is there").next().is_none()
}

#[test]
fn root_writes_no_results_where_another_account_can_plant_a_link() {
    let Some(workspace) = workspace() else { return };
    let at = |name: &str| workspace.path(name);
    fs::create_dir(at("sticky")).expect("it is new");
    fs::set_permissions(at("sticky"), Permissions::from_mode(0o1777)).expect("root may");
    plant(&at("precious"), &at("sticky/quick-fillseq"));
    plant(&at("precious"), &at("sticky/pair"));
    plant(&at("precious"), &at("sticky/.devices"));
    plant(&at("precious"), &at("link"));
    let theirs = ["theirs belongs to 65533", "run as 65533", "ASSAY_SERVER_USER", "--results"];
    let planted = ["is a link that another account made", "--results"];
    let data = "--data-dir data --disk-floor 1MiB --results";
    for run in [RUN, "run pair.toml"] {
        assert_refused(&workspace, &format!("{run} {data} theirs"), &theirs);
        assert!(!at("data").exists() && is_empty(&at("theirs")), "nothing was begun");
        assert_refused(&workspace, &format!("{run} {data} theirs/new"), &theirs);
        assert_refused(&workspace, &format!("{run} {data} link"), &planted);
        assert_refused(&workspace, &format!("{run} {data} sticky"), &planted);
    }
    assert_refused(&workspace, "device --path . --results theirs", &theirs);
    // A sticky directory without planted links may have results.
    for name in ["sticky/pair", "sticky/.devices"] {
        fs::remove_file(at(name)).expect("it was planted");
    }
    let run = format!("run pair.toml {data} sticky");
    let output = assay(&workspace, &run);
    assert!([0, 3].contains(&output.code), "{}", output.err);
    let export = "export pair -o pair.assay --results sticky";
    assert_eq!(assay(&workspace, export).code, 0);
    assert_refused(&workspace, "import pair.assay --results theirs", &theirs);
    assert_refused(&workspace, "rerun pair.assay --results theirs", &theirs);
    plant(&at("precious"), &at("theirs/tmp"));
    let mut shown = workspace.program(&["show", "pair.assay"]);
    let shown = ProgramOutput::of(shown.env("TMPDIR", at("theirs/tmp")).output().expect("it runs"));
    let err = unwrapped(&shown.err);
    assert!(shown.code != 0 && err.contains("theirs belongs") && err.contains("TMPDIR"), "{err}");
}

/// Goal: an archive of another account is read as any, and nothing is written to it.
#[test]
fn an_archive_of_another_account_is_read_and_not_written() {
    let Some(workspace) = workspace() else { return };
    let run = assay(&workspace, "run pair.toml --disk-floor 1MiB");
    assert!([0, 3].contains(&run.code), "{}", run.err);
    let dir = Results::at(&workspace.path("results")).find("pair").expect("it was run");
    drop(fs::remove_dir_all(dir.path().join("derived")));
    give(&workspace.path("results"));
    plant(&workspace.path("precious"), &dir.path().join("derived"));
    fs::remove_file(dir.path().join("derived")).expect("the link");
    // The runs may differ or not: a comparison ends as the run did.
    for (call, code) in [("list", 0), ("compare pair", run.code), ("show pair", 0), ("verify", 0)] {
        let output = assay(&workspace, call);
        assert_eq!(output.code, code, "{call}: {}", output.err);
    }
    assert!(!dir.path().join("derived").exists());
    assert_refused(
        &workspace,
        "report pair",
        &["results belongs to 65533", "name another place for the file"],
    );
    assert_eq!(assay(&workspace, "report pair --output page.html").code, 0);
    fs::remove_dir_all(dir.path().join("runs/two.c1.r2")).expect("it was run");
    let resume = "run --resume pair --disk-floor 1MiB";
    assert_refused(&workspace, resume, &["results belongs to 65533", "--results"]);
}

#[test]
fn root_refuses_data_and_test_files_in_directories_of_others() {
    let Some(workspace) = workspace() else { return };
    let texts = ["theirs belongs to 65533", "--data-dir"];
    let run = |dir: &str| format!("{RUN} --results res --disk-floor 1MiB --data-dir {dir}");
    assert_refused(&workspace, &run("theirs/zz"), &texts);
    assert_refused(&workspace, &run("nope/../theirs/zz"), &["nope, which does not exist"]);
    symlink("theirs/second", workspace.path("first")).expect("it is new");
    plant(&workspace.path("precious"), &workspace.path("theirs/second"));
    assert_refused(&workspace, &run("first/zz"), &texts);
    assert!(!workspace.path("nope").exists() && !workspace.path("theirs/zz").exists());
    let device = "device --path theirs --size 8MiB --disk-floor 1MiB --minutes 1";
    assert_refused(&workspace, device, &["theirs belongs to 65533", "--path"]);
}

/// Goal: no library of a cache that another account can change is loaded, and no lock is followed.
#[test]
fn root_executes_nothing_from_a_cache_of_another_account() {
    let Some(workspace) = workspace() else { return };
    let texts = ["belongs to 65533", "--cache-dir"];
    for call in ["engine list", "engine get rocksdb@9.10.0", "engine remove sqlite@mine"] {
        assert_refused(&workspace, &format!("{call} --cache-dir theirs"), &texts);
    }
    let entry = workspace.path("cache/assay/engines/sqlite/mine");
    fs::create_dir_all(&entry).expect("it is new");
    chown(&entry, Some(OTHER), None).expect("root may");
    let run = format!("{RUN} --disk-floor 1MiB").replace("sqlite", "sqlite@mine");
    assert_refused(&workspace, &run, &texts);
    chown(&entry, Some(0), None).expect("root may");
    workspace.write("victim", "of root");
    plant(&workspace.path("victim"), &entry.with_file_name(".mine.lock"));
    assert_refused(&workspace, "engine remove sqlite@mine", &["symbolic link"]);
    assert_eq!(fs::read_to_string(workspace.path("victim")).expect("a file"), "of root");
    fs::remove_file(entry.with_file_name(".mine.lock")).expect("the link");
    assert_eq!(assay(&workspace, "engine remove sqlite@mine").code, 0);
    let lock = fs::metadata(entry.with_file_name(".mine.lock")).expect("it was locked");
    assert_eq!(lock.mode() & 0o777, 0o600);
}

/// Goal: `sudo assay run` in a home, and root on a volume of another account, work.
#[test]
fn root_uses_directories_of_the_accounts_that_it_is_made_to_trust() {
    let Some(workspace) = workspace() else { return };
    let run = format!("{RUN} --results theirs/res --data-dir theirs/data --disk-floor 1MiB");
    for variable in ["SUDO_UID", "ASSAY_SERVER_USER"] {
        let mut program = workspace.program(&run.split(' ').collect::<Vec<_>>());
        program.env(variable, OTHER.to_string());
        let output = ProgramOutput::of(program.output().expect("it runs"));
        assert!([0, 3].contains(&output.code), "{variable}: {}", output.err);
    }
    assert!(workspace.path("theirs/res/quick-fillseq").is_dir());
}
