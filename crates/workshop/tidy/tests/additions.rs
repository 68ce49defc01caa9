//! What is added most often takes its file and at most two lines elsewhere.
//!
//! `ASSAY_CAMPAIGN=long` compiles the additions in a scratch copy of the sources.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// One addition, with the crate that it changes.
struct Addition {
    package: &'static str,
    /// Folder of the sources that it changes.
    folder: &'static str,
    /// Path and text of its new file.
    file: Option<(&'static str, &'static str)>,
    /// New lines: file, the line before, and the new line.
    lines: &'static [(&'static str, &'static str, &'static str)],
}

const ADDITIONS: [Addition; 5] = [
    Addition {
        package: "lint",
        folder: "crates/report/lint/src/rule",
        file: Some((
            "a999_scratch.rs",
            "//! A999: a rule of a test.\n\nuse super::{Checks, Rule};\n\npub(crate) static RULE: Rule \
             = Rule { code: \"A999\", ..Rule::of(Checks::NONE) };\n",
        )),
        lines: &[
            ("mod.rs", "mod a072_data_apart;", "mod a999_scratch;"),
            ("mod.rs", "    &a072_data_apart::RULE,", "    &a999_scratch::RULE,"),
        ],
    },
    Addition {
        package: "doctor",
        folder: "crates/observe/doctor/src/check",
        file: Some((
            "scratch.rs",
            "//! A check of a test.\n\nuse super::{Check, Probe};\nuse crate::outcome::Outcome;\n\n\
             pub(crate) static CHECK: Check =\n    Check { code: \"scratch\", \
             ..Check::of(Probe::live(|_| Outcome::fine(\"so\"))) };\n",
        )),
        lines: &[
            ("mod.rs", "mod scheduler;", "mod scratch;"),
            ("mod.rs", "    &firmware::CHECK,", "    &scratch::CHECK,"),
        ],
    },
    Addition {
        package: "model",
        folder: "crates/define/model/src",
        file: None,
        lines: &[(
            "metric.rs",
            "metrics! {",
            "    SCRATCH_US Micros Counter Lower \"a metric of a test\";",
        )],
    },
    Addition {
        package: "render",
        folder: "crates/report/render/src",
        file: Some((
            "document/scratch.rs",
            "//! A format of a test.\n\nuse super::content::Content;\n\n/// Returns content.\n\
             pub(crate) fn write(content: &Content<'_>) -> String {\n    (content.data)()\n}\n",
        )),
        lines: &[
            ("document/mod.rs", "mod part;", "pub(crate) mod scratch;"),
            (
                "format.rs",
                "formats! {",
                "    \"A format of a test.\" Scratch \"scratch\" crate::document::scratch::write;",
            ),
        ],
    },
    Addition {
        package: "sampler",
        folder: "crates/observe/sampler/src/source",
        file: Some((
            "scratch.rs",
            "//! A sampler of a test.\n\nuse model::Readings;\n\nuse crate::targets::{RunTargets, \
             Sampler};\n\n/// Starts the sampler.\npub(crate) fn start(_: &RunTargets<'_>) -> \
             Option<Sampler> {\n    Some(Box::new(|_| Readings::new()))\n}\n",
        )),
        lines: &[
            ("mod.rs", "mod process;", "mod scratch;"),
            ("mod.rs", "    server::start,", "    scratch::start,"),
        ],
    },
];

impl Addition {
    /// Adds it to the sources below `to`.
    fn add(&self, from: &Path, to: &Path) {
        let (from, to) = (from.join(self.folder), to.join(self.folder));
        if let Some((path, text)) = self.file {
            assert!(!from.join(path).exists(), "{path} is there already");
            fs::write(to.join(path), text).expect("a new file");
        }
        for (path, before, line) in self.lines {
            let text = fs::read_to_string(to.join(path)).expect("a source");
            let (start, end) = text.split_once(&format!("{before}\n")).expect(before);
            fs::write(to.join(path), format!("{start}{before}\n{line}\n{end}")).expect("a source");
        }
    }
}

/// Copies every file that git lists.
fn copy(from: &Path, to: &Path) {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(from).output();
    let listed = String::from_utf8(listed.expect("git").stdout).expect("names are UTF-8");
    for path in listed.split_terminator('\0').filter(|path| from.join(path).is_file()) {
        let target = to.join(path);
        fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        fs::copy(from.join(path), target).expect("a copy");
    }
}

#[test]
fn an_addition_takes_its_file_and_at_most_two_lines() {
    let (root, scratch) = (Path::new(ROOT), tempfile::tempdir().unwrap());
    copy(root, scratch.path());
    for one in &ADDITIONS {
        assert!(one.lines.len() <= 2, "{}", one.package);
        one.add(root, scratch.path());
    }
    if std::env::var_os("ASSAY_CAMPAIGN").is_none_or(|length| length != "long") {
        println!("skipped: the additions are compiled under ASSAY_CAMPAIGN=long");
        return;
    }
    let packages = ADDITIONS.iter().flat_map(|one| ["-p", one.package]);
    let target = std::env::current_exe().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--target-dir"])
        .arg(target.ancestors().nth(3).unwrap())
        .args(packages)
        .current_dir(scratch.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !text.contains("warning"), "{text}");
}
