//! What does not belong here: unfinished work, scraps of tools, hosts and paths of one machine.

use crate::repo::{File, Repo};
use crate::rule::violation::Violation;

/// Ends of names of files that tools leave behind.
const SCRAPS: [&str; 4] = [".pending-snap", ".snap.new", ".orig", ".rej"];

/// Marks of unfinished work, in parts so that this file has none.
const MARKS: [&str; 2] = [concat!("FIX", "ME"), concat!("TO", "DO")];

/// Hosts of package registries, in parts so that this file does not name them.
const HOSTS: [&[&str]; 8] = [
    &["crates", "io/"],
    &["repo1", "maven"],
    &["repo", "maven", "apache"],
    &["registry", "npmjs"],
    &["files", "pythonhosted"],
    &["pypi", "org"],
    &["deb", "debian", "org"],
    &["proxy", "golang", "org"],
];

/// First folders of paths that only the machine of an author has, without their slashes.
const FOLDERS: [&str; 2] = ["work", "root"];

/// Written by cargo, which names its index there.
const EXEMPT: &str = "Cargo.lock";

/// Returns a violation for every leftover.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let hosts = HOSTS.map(|parts| parts.join("."));
    let folders = FOLDERS.map(|folder| format!("/{folder}/"));
    let mut found = Vec::new();
    for file in repo.files().filter(|file| file.name() != EXEMPT) {
        if SCRAPS.iter().any(|end| file.path.ends_with(end)) {
            found.push(Violation::of(&file.path, "a scrap of a tool: delete it"));
        }
        for (at, line) in (1..).zip(file.text.lines()) {
            let host = hosts.iter().find(|host| line.contains(host.as_str()));
            let folder = folders.iter().find(|folder| begins_a_path(line, folder));
            let comment = comment(file, line);
            let mark = comment.and_then(|text| MARKS.iter().find(|mark| text.contains(**mark)));
            let messages = [
                host.map(|host| format!("names `{host}`: leave hosts to the package manager")),
                folder.map(|it| format!("names a path under `{it}`: no other machine has it")),
                mark.map(|mark| format!("{mark} does not reach the repository: do it")),
            ];
            let messages = messages.into_iter().flatten();
            found.extend(messages.map(|message| Violation::at(&file.path, at, message)));
        }
    }
    found
}

/// Returns the comment of a source's line, or the whole line of a script.
fn comment<'a>(file: &File, line: &'a str) -> Option<&'a str> {
    if file.is("rs") {
        return line.split_once("//").map(|(_, comment)| comment);
    }
    let is_script = file.is("sh") || file.is("toml") || !file.name().contains('.');
    is_script.then_some(line)
}

/// Returns whether `folder` stands in the line at the beginning of a path.
fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back().unwrap_or(' ');
        !before.is_alphanumeric() && !"_-.~/}*>".contains(before)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        let found = check(&Repo::of(files));
        found.into_iter().map(|v| (v.path, v.line.unwrap_or(0))).collect()
    }

    #[test]
    fn unfinished_work_is_found_in_comments_only() {
        let source = "//! A.\n// T later\nconst A: &str = \"T\";\n".replace('T', MARKS[1]);
        let script = format!("# {}\n", MARKS[0]);
        let files = [("a.rs", &*source), ("run", &script), ("a.md", &script), ("z.snap.new", "")];
        let expected = [("a.rs", 2), ("run", 1), ("z.snap.new", 0)];
        assert_eq!(lines(&files), expected.map(|(path, line)| (path.to_owned(), line)));
    }

    #[test]
    fn hosts_and_machine_paths_are_found() {
        let text = format!("a {}\nb \"/{}/x\"\nc frame/{}/x\n", HOSTS[3].join("."), "work", "work");
        let found = lines(&[("a.txt", &text), ("Cargo.lock", &text)]);
        assert_eq!(found, [("a.txt".to_owned(), 1), ("a.txt".to_owned(), 2)]);
    }
}
