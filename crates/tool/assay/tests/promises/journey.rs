//! Compares what the verbs print of an experiment, of its file, and of the imported one.

use std::collections::BTreeSet;
use std::fs;

use archive::Results;

use crate::workspace::Workspace;

/// Checks that an experiment reads the same from one file, and where it is imported.
///
/// Returns the names of the files of its runs, as `engine/server.log`.
pub(crate) fn check_journey(home: &Workspace, name: &str) -> Vec<String> {
    let file = format!("{name}.assay");
    let exported = home.assay(&["export", name, "-o", &file]);
    assert_eq!((exported.code, exported.err.as_str()), (0, ""));
    let there = Workspace::new();
    there.write(&file, fs::read(home.path(&file)).expect("it was exported"));
    let dir = Results::at(&home.path("results")).find(name).expect("it was run");
    let manifest = dir.manifest().expect("it is readable");
    let cell = &manifest.plan.cells[0].id;
    let mut verbs = vec![
        vec!["compare", name, "--format", "json"],
        vec!["compare", name, "--costs"],
        vec!["show", name],
        vec!["list", name],
        vec!["lint", name],
        vec!["verify", name],
        vec!["report", name, "-o", "page.html"],
        vec!["report", name, "--markdown", "post"],
    ];
    // Those with runs: a raw device that is not named has none.
    let variants = manifest.plan.cells.iter().map(|cell| cell.variant.as_str());
    let variants: Vec<_> = variants.collect::<BTreeSet<_>>().into_iter().collect();
    if let [first, second, ..] = variants[..] {
        verbs.push(vec!["explain", first, second, "--in", name]);
    }
    let printed = |workspace: &Workspace, verb: &[&str], name_here: &str| {
        let args: Vec<&str> =
            verb.iter().map(|arg| if *arg == name { name_here } else { arg }).collect();
        let output = workspace.assay(&args);
        // Commands in it name the file.
        let mut text = output.out.replace(name_here, name);
        for written in ["page.html", "post/report.md"] {
            let path = workspace.path(written);
            text += &fs::read_to_string(&path).unwrap_or_default().replace(name_here, name);
            fs::remove_file(path).ok();
        }
        // Lines break elsewhere where a name is longer.
        (output.code, text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let originals: Vec<_> = verbs.iter().map(|verb| printed(home, verb, name)).collect();
    for (verb, original) in verbs.iter().zip(&originals) {
        assert!(original.1.len() > 20, "{verb:?}: {original:?}");
        assert_eq!(printed(&there, verb, &file), *original, "of the file: {verb:?}");
    }
    let imported = there.assay(&["import", &file]);
    assert_eq!((imported.code, imported.err.as_str()), (0, ""));
    for (verb, original) in verbs.iter().zip(&originals) {
        assert_eq!(printed(&there, verb, name), *original, "imported: {verb:?}");
    }
    assert_eq!(there.assay(&["import", &file]).out, imported.out, "it stays as it is");
    let imported = Results::at(&there.path("results")).find(name).expect("imported");
    let names = |dir: &archive::ExperimentDir| {
        let run = dir.run_dir(cell);
        let below = ["", "engine"].map(|part| fs::read_dir(run.join(part)));
        let entries = below.into_iter().flatten().flatten().flatten();
        let files = entries.filter(|entry| entry.path().is_file());
        let path = |path: std::path::PathBuf| path.strip_prefix(&run).expect("below").to_owned();
        let mut names: Vec<_> =
            files.map(|entry| path(entry.path()).display().to_string()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&imported), names(&dir));
    names(&dir)
}
