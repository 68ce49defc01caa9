//! Hosts of package registries and paths of one machine.

use crate::repo::Repo;
use crate::rule::violation::Violation;

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

/// Returns a violation for every line that names such a place.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let hosts = HOSTS.map(|parts| parts.join("."));
    let folders = FOLDERS.map(|folder| format!("/{folder}/"));
    let mut found = Vec::new();
    for file in repo.files().filter(|file| file.name() != EXEMPT) {
        for (at, line) in file.text().lines().enumerate() {
            if let Some(host) = hosts.iter().find(|host| line.contains(host.as_str())) {
                let message = format!("names `{host}`: leave hosts to the package manager");
                found.push(Violation::at(&file.path, at + 1, message));
            }
            if let Some(folder) = folders.iter().find(|folder| begins_a_path(line, folder)) {
                let message = format!("names a path under `{folder}`: no other machine has it");
                found.push(Violation::at(&file.path, at + 1, message));
            }
        }
    }
    found
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

    #[test]
    fn hosts_and_machine_paths_are_found() {
        let text = format!("a {}\nb \"/{}/x\"\nc frame/{}/x\n", HOSTS[3].join("."), "work", "work");
        let found = check(&Repo::of(&[("a.txt", &text), ("Cargo.lock", &text)]));
        let lines: Vec<_> = found.iter().map(|v| (v.path.as_str(), v.line)).collect();
        assert_eq!(lines, [("a.txt", Some(1)), ("a.txt", Some(2))]);
    }
}
