//! Pages: one title, small, reachable, live links.

use std::collections::BTreeSet;

use crate::markdown::{self, Outline};
use crate::repo::{File, Repo};
use crate::rule::violation::Violation;

/// Size of a page.
pub(crate) const PAGE_BYTES: usize = 12_288;
/// The page that grows with every release.
const GROWING: &str = "CHANGELOG.md";
/// The folder of pages and the page from which links lead to all of them.
const PAGES: &str = "docs/";
const INDEX: &str = "docs/README.md";

/// Returns a violation per large or unreachable page, title and link.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    let reached = reachable(repo);
    // Texts under `tests/` are expected outputs, not documents.
    for file in repo.files_with("md").filter(|file| !file.path.contains("/tests/")) {
        let outline = markdown::outline(&file.text);
        found.extend(titles(file, &outline));
        let dead = outline.links.iter().filter(|(target, _)| !leads_somewhere(repo, file, target));
        found.extend(dead.map(|(target, line)| {
            Violation::at(&file.path, *line, format!("the link to `{target}` leads nowhere"))
        }));
        if file.size_bytes > PAGE_BYTES && file.path != GROWING {
            let message = format!("{} bytes, at most {PAGE_BYTES}: split it", file.size_bytes);
            found.push(Violation::of(&file.path, message));
        }
        if file.path.starts_with(PAGES) && !reached.contains(&file.path) {
            let message = format!("no links lead here from {INDEX}: link it or delete it");
            found.push(Violation::of(&file.path, message));
        }
    }
    found
}

/// Returns the pages to which links lead from the index.
fn reachable(repo: &Repo) -> BTreeSet<String> {
    let mut reached = BTreeSet::from([INDEX.to_owned()]);
    let mut open = vec![INDEX.to_owned()];
    while let Some(file) = open.pop().and_then(|path| repo.file(&path)) {
        for (target, _) in markdown::outline(&file.text).links {
            let path = target.split('#').next().unwrap_or_default();
            let page = resolve(file, path).filter(|path| repo.file(path).is_some());
            open.extend(page.filter(|page| page.ends_with(".md") && reached.insert(page.clone())));
        }
    }
    reached
}

/// Returns the violations of the rule that a document starts with its only title.
fn titles(file: &File, outline: &Outline) -> Vec<Violation> {
    let mut titles = outline.headings.iter().filter(|(depth, ..)| *depth == 1);
    if titles.next().is_none() || outline.headings[0].0 != 1 {
        return vec![Violation::of(&file.path, "must begin with its `# Title`")];
    }
    let second = |(_, text, line): &(usize, String, usize)| {
        Violation::at(&file.path, *line, format!("second title `{text}`: make it a section"))
    };
    titles.map(second).collect()
}

/// Returns whether a link's target exists; addresses outside the repository are not followed.
fn leads_somewhere(repo: &Repo, from: &File, target: &str) -> bool {
    if target.contains("://") || target.starts_with("mailto:") {
        return true;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let resolved = if path.is_empty() { Some(from.path.clone()) } else { resolve(from, path) };
    let Some(resolved) = resolved else { return false };
    match repo.file(&resolved) {
        Some(file) => anchor.is_empty() || has_anchor(file, anchor),
        None => anchor.is_empty() && repo.has_folder(&resolved),
    }
}

fn has_anchor(file: &File, anchor: &str) -> bool {
    let outline = markdown::outline(&file.text);
    outline.headings.iter().any(|(_, heading, _)| markdown::anchor(heading) == anchor)
}

/// Returns the path from the root of what `path` means in `from`; `None` outside the repository.
fn resolve(from: &File, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.path.split('/').collect();
    parts.pop();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_and_second_titles_are_violations() {
        let text = "# A\n[ok](doc/B.md#two-words) [ok](doc) [ok](https://x.org) [ok](#a)\n\
                    [no](C.md)\n[no](doc/B.md#three)\n# Again\n";
        let other = "# B\n## Two words\n[up](../A.md) [no](../../A.md)\n";
        let repo = Repo::of(&[("A.md", text), ("doc/B.md", other), ("D.md", "no title\n")]);
        let found: Vec<_> = check(&repo).into_iter().map(|v| v.to_string()).collect();
        assert_eq!(
            found,
            [
                "A.md:5: second title `Again`: make it a section",
                "A.md:3: the link to `C.md` leads nowhere",
                "A.md:4: the link to `doc/B.md#three` leads nowhere",
                "D.md: must begin with its `# Title`",
                "doc/B.md:3: the link to `../../A.md` leads nowhere",
            ]
        );
    }

    #[test]
    fn large_and_unreachable_pages_are_violations() {
        let large = format!("# C\n{}", "x".repeat(PAGE_BYTES));
        let repo = Repo::of(&[
            (GROWING, &large),
            (INDEX, "# D\n[a](a/README.md#x)\n"),
            ("docs/a/README.md", "# X\n[b](../b.md)\n"),
            ("docs/b.md", &large),
            ("docs/c.md", "# C\n[self](c.md)\n"),
        ]);
        let found: Vec<_> = check(&repo).into_iter().map(|v| v.to_string()).collect();
        assert_eq!(
            found,
            [
                "docs/b.md: 12292 bytes, at most 12288: split it",
                "docs/c.md: no links lead here from docs/README.md: link it or delete it",
            ]
        );
    }
}
