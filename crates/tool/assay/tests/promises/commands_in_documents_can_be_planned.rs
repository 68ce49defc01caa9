//! Runs that the documents type can be planned.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::Workspace;

/// Returns the Markdown pages of a folder and of those below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let of_entry = |path: PathBuf| if path.is_dir() { pages(&path) } else { vec![path] };
    let all = entries.flat_map(of_entry);
    all.filter(|path| path.extension().is_some_and(|ext| ext == "md")).collect()
}

/// Returns the commands `assay run STEPS...` of a page, up to the end of their code.
fn typed(page: &str) -> Vec<Vec<&str>> {
    let commands = page.match_indices("assay run ").map(|(at, _)| &page[at..]);
    let code = commands.filter_map(|rest| rest.split(['`', '\n', '#', '\\']).next());
    let args = code.map(|code| code.split_whitespace().skip(2).collect::<Vec<_>>());
    // Files of the reader's own, and runs that go on, cannot be planned here.
    args.filter(|args| args.contains(&"--engine") && !args.iter().any(is_own)).collect()
}

fn is_own(arg: &&str) -> bool {
    arg.contains(['\'', '"', '<']) || arg.ends_with(".toml") || *arg == "--resume"
}

#[test]
fn every_typed_run_can_be_planned() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let workspace = Workspace::new();
    // A plan reads the names of the reader's own engines, not their libraries.
    for own in ["sorted", "ordered", "sorted-go", "badger"] {
        let cached = workspace.path("cache/assay/engines").join(own).join("1");
        fs::create_dir_all(cached).expect("a directory");
    }
    let mut planned = 0;
    for page in [vec![root.join("README.md")], pages(&root.join("docs"))].concat() {
        let text = fs::read_to_string(&page).expect("a page");
        for mut args in typed(&text) {
            args.retain(|arg| !["--report", "--verbose"].contains(arg));
            let output = workspace.assay(&[&["plan"], &args[..]].concat());
            assert_eq!(output.code, 0, "{args:?} of {page:?}: {}", output.err);
            planned += 1;
        }
    }
    assert!(planned >= 10, "{planned} commands");
}
