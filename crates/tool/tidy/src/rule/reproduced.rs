//! The pages of published findings have every finding of the shipped experiments, and no other.

use std::collections::BTreeSet;

use crate::repo::Repo;
use crate::rule::violation::Violation;

/// The folder of shipped experiments.
const EXPERIMENTS: &str = "experiments/";
/// The folder of their pages.
const PAGES: &str = "docs/reproduced/";
/// The findings with what was found, a line each, as `assay report --reproduced` writes them.
const FINDINGS: &str = "docs/reproduced/findings.tsv";

/// Returns a violation for every finding without a line, and for every line or page without one.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let Some(file) = repo.file(FINDINGS) else { return Vec::new() };
    let mut lines = file.text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = lines.next().unwrap_or_default();
    let place = |name: &str| head.iter().position(|column| *column == name);
    let places = [place("experiment"), place("source"), place("claim")];
    let [Some(experiment), Some(source), Some(claim)] = places else {
        return vec![Violation::at(FINDINGS, 1, "no column `experiment`, `source` or `claim`")];
    };
    let stated = stated(repo);
    let (mut found, mut written) = (Vec::new(), BTreeSet::new());
    let mut pages = BTreeSet::from([format!("{PAGES}README.md")]);
    for (number, line) in (2..).zip(lines) {
        let of = |at: usize| line.get(at).copied().unwrap_or_default().to_owned();
        let both = (of(source), of(claim));
        if !stated.iter().any(|(_, known)| *known == both) {
            let message = format!("no shipped experiment states `{}`: remove the line", both.1);
            found.push(Violation::at(FINDINGS, number, message));
        }
        written.insert(both);
        pages.insert(format!("{PAGES}{}.md", of(experiment)));
    }
    let is_page = |path: &str| path.starts_with(PAGES) && !pages.contains(path);
    let stale = repo.files_with("md").filter(|file| is_page(&file.path));
    found.extend(stale.map(|file| Violation::of(&file.path, "no finding is on it: remove it")));
    let missing = stated.into_iter().filter(|(_, both)| !written.contains(both));
    found.extend(missing.map(|(path, (_, claim))| {
        Violation::of(&path, format!("`{claim}` has no line in {FINDINGS}: run it, or add one"))
    }));
    found
}

/// Returns source and claim of every published finding, with the file that states it.
fn stated(repo: &Repo) -> Vec<(String, (String, String))> {
    let mut all = Vec::new();
    for file in repo.files_with("toml").filter(|file| file.path.starts_with(EXPERIMENTS)) {
        let Ok(table) = file.text.parse::<toml::Table>() else { continue };
        let list = |of: &toml::Table, key: &str| -> Vec<toml::Table> {
            let listed = of.get(key).and_then(toml::Value::as_array).into_iter().flatten();
            listed.filter_map(toml::Value::as_table).cloned().collect()
        };
        let text = |of: &toml::Table, key: &str| {
            of.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned()
        };
        for publication in list(&table, "published") {
            let source = text(&publication, "source");
            let claims = list(&publication, "finding").into_iter();
            all.extend(
                claims.map(|one| (file.path.clone(), (source.clone(), text(&one, "claim")))),
            );
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_and_lines_belong_together() {
        let experiment = "[[published]]\nsource = \"Author\"\n[[published.finding]]\n\
                          claim = \"A\"\n[[published.finding]]\nclaim = \"B\"\n";
        let lines = "experiment\tsource\tclaim\nx\tAuthor\tA\nx\tAuthor\tC\ny\tOther\tA\n";
        let repo = Repo::of(&[
            ("experiments/x.toml", experiment),
            (FINDINGS, lines),
            ("docs/reproduced/README.md", ""),
            ("docs/reproduced/x.md", ""),
            ("docs/reproduced/z.md", ""),
        ]);
        let found: Vec<String> = check(&repo).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                format!("{FINDINGS}:3: no shipped experiment states `C`: remove the line"),
                format!("{FINDINGS}:4: no shipped experiment states `A`: remove the line"),
                "docs/reproduced/z.md: no finding is on it: remove it".to_owned(),
                format!("experiments/x.toml: `B` has no line in {FINDINGS}: run it, or add one"),
            ]
        );
        assert_eq!(check(&Repo::of(&[("experiments/x.toml", experiment)])), []);
    }
}
