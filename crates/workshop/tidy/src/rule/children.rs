//! Child processes are made in one place, which clears their environment.

use crate::repo::Repo;
use crate::rule::violation::Violation;
use crate::rust::Rust;

/// Folders that start processes of their own: the constructor, tests, and this program.
const EXEMPT: &[&str] = &[
    "crates/drive/child/",
    "crates/drive/engine/src/conformance/",
    "crates/workshop/tidy/",
    "/benches/",
    "/tests/",
    "/tests.rs",
];

/// The constructor that inherits the whole environment.
const CONSTRUCTOR: &str = "Command::new(";

/// Returns a violation for every process that product code starts with the whole environment.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repo.files_with("rs") {
        let is_exempt = EXEMPT.iter().any(|part| file.path.contains(part));
        if is_exempt || !file.text.contains("process::") {
            continue;
        }
        let tests = Rust::parse(&file.text).and_then(|rust| rust.tests_line());
        let product = (1..tests.unwrap_or(usize::MAX)).zip(file.text.lines());
        let direct = product.filter(|(_, line)| {
            line.contains(CONSTRUCTOR) || line.contains("process::Command as ")
        });
        let message = "a child gets a short environment: use child::command";
        found.extend(direct.map(|(at, _)| Violation::at(&file.path, at, message)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_the_whole_environment_is_a_violation() {
        let direct = "use std::process::Command;\n\nfn f() {\n    Command::new(\"ls\");\n}\n";
        let in_test = format!("fn f() {{}}\n\n#[cfg(test)]\nmod tests {{\n    {direct}\n}}\n");
        let other = "use crate::sql::Command;\n\nfn f() {\n    Command::new(1);\n}\n";
        let repo = Repo::of(&[
            ("crates/a/src/lib.rs", direct),
            ("crates/a/src/other.rs", other),
            ("crates/a/src/unit.rs", &in_test),
            ("crates/a/tests/t.rs", direct),
            ("crates/drive/child/src/lib.rs", direct),
        ]);
        let found: Vec<_> = check(&repo).into_iter().map(|v| v.to_string()).collect();
        assert_eq!(
            found,
            ["crates/a/src/lib.rs:4: a child gets a short environment: use child::command"]
        );
    }
}
