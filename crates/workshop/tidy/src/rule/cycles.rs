//! No files of a crate import one another in a circle.
//!
//! A `mod` line and a re-export are no imports: an import leads to the file that defines the item.

use std::collections::{BTreeMap, BTreeSet};

use syn::Token;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

use crate::module::Tree;
use crate::repo::Repo;
use crate::rule::violation::Violation;
use crate::rust;

/// A path in code, by its segments.
type Path = Vec<String>;
/// The items that files import, by importing and imported file.
type Imports<'a> = BTreeMap<&'a str, BTreeMap<&'a str, BTreeSet<String>>>;

/// Re-exports that a path may pass; more are a circle of re-exports.
const REEXPORTS: usize = 16;

/// Returns a violation per group of files that import one another.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let is_test = |root: &str| root.contains("/tests/") || root.contains("/benches/");
    let roots = repo.packages.iter().flat_map(|package| &package.roots);
    let trees = roots.filter(|root| !is_test(root)).map(|root| Tree::of(repo, root));
    trees.flat_map(|tree| circles(&Scopes::of(&tree).imports())).collect()
}

/// Returns a violation per strongly connected component of two files or more.
fn circles(imports: &Imports<'_>) -> Vec<Violation> {
    let reached: BTreeMap<_, _> =
        imports.keys().map(|file| (*file, reachable(imports, file))).collect();
    let mut found = Vec::new();
    for (file, own) in &reached {
        let is_mutual = |other: &&&str| reached.get(**other).is_some_and(|set| set.contains(file));
        let circle: BTreeSet<&str> = own.iter().filter(is_mutual).copied().collect();
        if circle.first() == Some(file) {
            let message = format!(
                "imports in a circle: {}: move what they share to a file below them",
                edges(imports, &circle)
            );
            found.push(Violation::of(file, message));
        }
    }
    found
}

/// Returns the files to which imports lead from a file.
fn reachable<'a>(imports: &Imports<'a>, file: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(next) = open.pop() {
        let targets = imports.get(next).into_iter().flat_map(BTreeMap::keys);
        open.extend(targets.filter(|target| reached.insert(**target)));
    }
    reached
}

/// Writes the imports within a circle, `a.rs -> b.rs (Item)`.
fn edges(imports: &Imports<'_>, circle: &BTreeSet<&str>) -> String {
    let inner = imports.iter().filter(|(file, _)| circle.contains(**file));
    let pairs =
        inner.flat_map(|(file, targets)| targets.iter().map(move |(to, of)| (file, to, of)));
    let parts = pairs.filter(|(_, to, _)| circle.contains(**to)).map(|(file, to, items)| {
        let items: Vec<_> = items.iter().map(String::as_str).collect();
        format!("{} -> {} ({})", tail(file), tail(to), items.join(", "))
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// Returns a path from its crate's source folder on.
fn tail(path: &str) -> &str {
    path.split_once("/src/").map_or(path, |(_, tail)| tail)
}

/// A module tree with the names of each module.
struct Scopes<'a> {
    tree: &'a Tree<'a>,
    names: Vec<Names>,
}

impl<'a> Scopes<'a> {
    fn of(tree: &'a Tree<'a>) -> Self {
        let names = tree.modules.iter().map(|module| {
            let mut names = Names::default();
            module.items.iter().for_each(|item| names.visit_item(item));
            names
        });
        Self { tree, names: names.collect() }
    }

    /// Returns what the files import of one another, tests left out.
    fn imports(&self) -> Imports<'a> {
        let mut imports = Imports::new();
        for (at, module) in self.tree.modules.iter().enumerate().filter(|(_, m)| !m.is_test) {
            let file = module.file.path.as_str();
            for path in &self.names[at].used {
                let Some((definer, name)) = self.definition(at, path, REEXPORTS) else { continue };
                let target = self.tree.modules[definer].file.path.as_str();
                if target != file {
                    let items = imports.entry(file).or_default().entry(target).or_default();
                    items.insert(name);
                }
            }
        }
        imports
    }

    /// Returns the module that defines what a path names, and the item's name.
    ///
    /// `None` for modules and for what is not of this crate.
    fn definition(&self, from: usize, path: &[String], left: usize) -> Option<(usize, String)> {
        let (mut at, mut rest) = (from, path);
        while let Some((first, after)) = rest.split_first() {
            at = match first.as_str() {
                "crate" => 0,
                "self" => at,
                "super" => self.tree.modules[at].parent,
                _ => break,
            };
            rest = after;
        }
        let is_foreign = |name: &String| {
            !self.names[at].aliases.contains_key(name)
                && !self.tree.modules[at].children.contains_key(name)
        };
        if rest.len() == path.len() && rest.first().is_none_or(is_foreign) {
            return None;
        }
        self.member(at, rest, left.checked_sub(1)?)
    }

    /// Returns the same for a path within a module.
    fn member(&self, at: usize, path: &[String], left: usize) -> Option<(usize, String)> {
        let (name, rest) = path.split_first()?;
        let child = self.tree.modules[at].children.get(name);
        match self.names[at].aliases.get(name) {
            Some(alias) if rest.is_empty() || child.is_none() => {
                self.definition(at, &[alias, rest].concat(), left)
            }
            _ => match child {
                Some(child) => self.member(*child, rest, left),
                None => Some((at, name.clone())),
            },
        }
    }
}

/// The names of one module's code that is no test.
#[derive(Default)]
struct Names {
    /// What `use` lines bring into scope.
    aliases: BTreeMap<String, Path>,
    /// Paths in code, those of `use` lines included unless they re-export.
    used: BTreeSet<Path>,
}

impl Names {
    /// Adds the paths of a `use` line.
    fn add_use(&mut self, tree: &syn::UseTree, mut path: Path, is_reexport: bool) {
        let (name, alias) = match tree {
            syn::UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                return self.add_use(&inner.tree, path, is_reexport);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(tree, path.clone(), is_reexport);
                }
                return;
            }
            syn::UseTree::Name(name) => (name.ident.to_string(), None),
            syn::UseTree::Rename(name) => (name.ident.to_string(), Some(name.rename.to_string())),
            syn::UseTree::Glob(_) => ("*".to_owned(), None),
        };
        if name != "self" {
            path.push(name);
        }
        let own = alias.or_else(|| path.last().cloned()).unwrap_or_default();
        self.aliases.insert(own, path.clone());
        if !is_reexport {
            self.used.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        // Modules have names of their own.
        if !matches!(item, syn::Item::Mod(_)) && !rust::is_test(rust::attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_reexport = !matches!(item.vis, syn::Visibility::Inherited);
        self.add_use(&item.tree, Path::new(), is_reexport);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.used.insert(path.segments.iter().map(|part| part.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    /// Adds the paths among the arguments of a macro call, where they are expressions.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let arguments = call.parse_body_with(Punctuated::<syn::Expr, Token![,]>::parse_terminated);
        arguments.iter().flatten().for_each(|argument| Names::visit_expr(self, argument));
        visit::visit_macro(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::Package;

    /// Checks a crate of these files under `a/src`.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let paths: Vec<_> = files.iter().map(|(path, _)| format!("a/src/{path}")).collect();
        let texts = paths.iter().zip(files).map(|(path, (_, text))| (path.as_str(), *text));
        let mut repo = Repo::of(&texts.collect::<Vec<_>>());
        let roots = vec!["a/src/lib.rs".to_owned()];
        repo.packages.push(Package { roots, ..Package::default() });
        check(&repo).into_iter().map(|violation| violation.message).collect()
    }

    const LIB: (&str, &str) = ("lib.rs", "mod one;\nmod two;\npub use two::Two;\n");

    #[test]
    fn circles_of_use_lines_paths_and_macros_are_found() {
        for import in [
            "use crate::two::Two;",
            "use super::two::{self, Two};",
            "use crate::Two as T;",
            "use crate::two;\nfn f() { two::Two::new(); }",
            "fn f(two: &crate::two::Two) {}",
            "fn f() { print!(\"{}\", super::two::Two::N); }",
        ] {
            let two = "pub struct Two;\nconst N: u8 = crate::one::ONE;\n";
            let found = found(&[LIB, ("one.rs", import), ("two.rs", two)]);
            assert_eq!(
                found,
                ["imports in a circle: one.rs -> two.rs (Two); two.rs -> one.rs (ONE): move what \
                  they share to a file below them"],
                "{import}"
            );
        }
    }

    #[test]
    fn a_re_export_leads_to_the_file_that_defines_the_item() {
        let group = ("one/mod.rs", "//! A.\nmod deep;\nmod flat;\npub use deep::Deep;\n");
        let deep = ("one/deep.rs", "pub struct Deep;\nuse super::flat::FLAT;\n");
        let flat = |text: &'static str| ("one/flat.rs", text);
        assert!(found(&[LIB, group, deep, flat("use crate::Two;\n")]).is_empty());
        assert_eq!(found(&[LIB, group, deep, flat("use crate::one::Deep;\n")]).len(), 1);
        assert_eq!(found(&[LIB, group, deep, flat("fn f(x: super::Deep) {}\n")]).len(), 1);
    }

    #[test]
    fn mod_lines_tests_and_other_crates_are_no_imports() {
        let one = "use crate::two::Two;\nuse std::one;\n#[cfg(test)]\nmod tests;\n";
        let two = "use two::two;\n#[cfg(test)]\nuse crate::one::One;\n#[cfg(test)]\nmod tests {\n    \
                   use crate::one::One;\n}\n";
        let tests = ("one/tests.rs", "use super::One;\n");
        assert!(found(&[LIB, ("one.rs", one), ("two.rs", two), tests]).is_empty());
    }

    #[test]
    fn a_parent_that_uses_its_child_is_part_of_a_circle() {
        let one = ("one.rs", "mod inner;\npub use inner::f;\npub struct One;\n");
        let inner = ("one/inner.rs", "use super::One;\npub fn f() {}\n");
        assert!(found(&[LIB, one, inner]).is_empty());
        let one = ("one.rs", "mod inner;\npub struct One;\nfn g() { inner::f(); }\n");
        assert_eq!(found(&[LIB, one, inner]).len(), 1);
    }
}
