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
    let places = ["experiment", "source", "claim", "variants"].map(place);
    let [Some(experiment), Some(source), Some(claim), Some(variants)] = places else {
        let columns = "no column `experiment`, `source`, `claim` or `variants`";
        return vec![Violation::at(FINDINGS, 1, columns)];
    };
    let stated = stated(repo);
    let (mut found, mut written) = (Vec::new(), BTreeSet::new());
    let mut pages = BTreeSet::from([format!("{PAGES}README.md")]);
    for (number, line) in (2..).zip(lines) {
        let of = |at: usize| line.get(at).copied().unwrap_or_default().to_owned();
        let own = [source, claim, variants].map(of);
        if !stated.iter().any(|(_, known)| *known == own) {
            let [_, claim, variants] = &own;
            let message = format!(
                "no shipped experiment states `{claim}` of `{variants}`: correct or remove the line"
            );
            found.push(Violation::at(FINDINGS, number, message));
        }
        written.insert(own);
        pages.insert(format!("{PAGES}{}.md", of(experiment)));
    }
    let is_page = |path: &str| path.starts_with(PAGES) && !pages.contains(path);
    let stale = repo.files_with("md").filter(|file| is_page(&file.path));
    found.extend(stale.map(|file| Violation::of(&file.path, "no finding is on it: remove it")));
    let missing = stated.into_iter().filter(|(_, own)| !written.contains(own));
    found.extend(missing.map(|(path, [_, claim, variants])| {
        let message =
            format!("`{claim}` of `{variants}` has no line in {FINDINGS}: run it, or add one");
        Violation::of(&path, message)
    }));
    found
}

/// Returns source, claim and variants of every published finding, with the file that states it.
fn stated(repo: &Repo) -> Vec<(String, [String; 3])> {
    let mut all = Vec::new();
    for file in repo.files_with("toml").filter(|file| file.path.starts_with(EXPERIMENTS)) {
        let Ok(table) = file.text.parse::<toml::Table>() else { continue };
        for publication in list(&table, "published") {
            let source = text(publication, "source").unwrap_or_default();
            all.extend(list(publication, "finding").map(|finding| {
                let claim = text(finding, "claim").unwrap_or_default();
                (file.path.clone(), [source.to_owned(), claim.to_owned(), ratio(finding, &table)])
            }));
        }
    }
    all
}

fn list<'a>(of: &'a toml::Table, key: &str) -> impl Iterator<Item = &'a toml::Table> {
    let listed = of.get(key).and_then(toml::Value::as_array).into_iter().flatten();
    listed.filter_map(toml::Value::as_table)
}

fn text<'a>(of: &'a toml::Table, key: &str) -> Option<&'a str> {
    of.get(key).and_then(toml::Value::as_str)
}

/// Returns the variants whose ratio a finding states: `innodb / postgres`.
///
/// A finding on two levels of clients is of one variant, unless it names a base.
fn ratio(finding: &toml::Table, experiment: &toml::Table) -> String {
    let variant = text(finding, "variant").unwrap_or_default();
    let of_file = || text(experiment.get("experiment")?.as_table()?, "base");
    let first = || list(experiment, "variant").find_map(|variant| text(variant, "name"));
    let base = text(finding, "base")
        .or_else(|| finding.get("base_clients").map(|_| variant))
        .or_else(of_file)
        .or_else(first);
    format!("{variant} / {}", base.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_and_lines_belong_together() {
        let experiment = "[experiment]\nbase = \"b\"\n[[published]]\nsource = \"Author\"\n\
                          [[published.finding]]\nclaim = \"A\"\nvariant = \"a\"\n\
                          [[published.finding]]\nclaim = \"B\"\nvariant = \"a\"\nbase = \"c\"\n\
                          [[published.finding]]\nclaim = \"L\"\nvariant = \"a\"\nbase_clients = 8\n";
        let lines = "experiment\tsource\tclaim\tvariants\nx\tAuthor\tA\ta / b\n\
                     x\tAuthor\tC\ta / b\ny\tOther\tA\ta / b\nx\tAuthor\tL\ta / b\n";
        let repo = Repo::of(&[
            ("experiments/x.toml", experiment),
            (FINDINGS, lines),
            ("docs/reproduced/README.md", ""),
            ("docs/reproduced/x.md", ""),
            ("docs/reproduced/z.md", ""),
        ]);
        let found: Vec<String> = check(&repo).iter().map(ToString::to_string).collect();
        let unknown = |line, claim| {
            format!(
                "{FINDINGS}:{line}: no shipped experiment states `{claim}` of `a / b`: correct or \
                 remove the line"
            )
        };
        let missing = |claim| {
            format!("experiments/x.toml: `{claim}` has no line in {FINDINGS}: run it, or add one")
        };
        assert_eq!(
            found,
            [
                unknown(3, "C"),
                unknown(4, "A"),
                unknown(5, "L"),
                "docs/reproduced/z.md: no finding is on it: remove it".to_owned(),
                missing("B` of `a / c"),
                missing("L` of `a / a"),
            ]
        );
        assert_eq!(check(&Repo::of(&[("experiments/x.toml", experiment)])), []);
    }
}
