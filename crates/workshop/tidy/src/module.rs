//! Module trees of targets: which file holds which module.

use std::collections::BTreeMap;

use crate::repo::{File, Repo};
use crate::rust;

/// One module of a target.
pub(crate) struct Module<'a> {
    /// The file that holds it.
    pub(crate) file: &'a File,
    /// Its items; empty for a file that is not Rust.
    pub(crate) items: &'a [syn::Item],
    /// Whether it is compiled for unit tests only.
    pub(crate) is_test: bool,
    /// Position of the module that declares it, the root's own for the root.
    pub(crate) parent: usize,
    /// Positions of the modules that it declares.
    pub(crate) children: BTreeMap<String, usize>,
}

/// The modules of one target, the root first.
pub(crate) struct Tree<'a> {
    repo: &'a Repo,
    /// Every module, inline ones included.
    pub(crate) modules: Vec<Module<'a>>,
}

impl<'a> Tree<'a> {
    /// Follows the `mod` lines from a target's root file.
    pub(crate) fn of(repo: &'a Repo, root: &str) -> Self {
        let mut tree = Self { repo, modules: Vec::new() };
        if let Some(file) = repo.file(root) {
            let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
            tree.add(Module::of(file, 0, false), folder);
        }
        tree
    }

    /// Adds a module and all that it declares; returns its position.
    ///
    /// `folder`: where the files of its children lie.
    fn add(&mut self, module: Module<'a>, folder: &str) -> usize {
        let at = self.modules.len();
        let (file, items, in_tests) = (module.file, module.items, module.is_test);
        self.modules.push(module);
        for item in items {
            let syn::Item::Mod(child) = item else { continue };
            let is_test = in_tests || rust::is_test(&child.attrs);
            let stem = format!("{folder}/{}", child.ident).trim_start_matches('/').to_owned();
            let added = match &child.content {
                Some((_, items)) => {
                    self.add(Module { items, ..Module::of(file, at, is_test) }, &stem)
                }
                None => {
                    let Some(found) = self.find(file, child, &stem) else { continue };
                    let inner = if found.name() == "mod.rs" {
                        found.path.trim_end_matches("/mod.rs")
                    } else {
                        found.path.trim_end_matches(".rs")
                    };
                    self.add(Module::of(found, at, is_test), inner)
                }
            };
            self.modules[at].children.insert(child.ident.to_string(), added);
        }
        at
    }

    /// Returns the file of a `mod` line, by its `#[path]` or its place.
    fn find(&self, from: &File, module: &syn::ItemMod, stem: &str) -> Option<&'a File> {
        if let Some(path) = rust::values(&module.attrs, "path").next() {
            let folder = from.path.trim_end_matches(from.name());
            return self.repo.file(&format!("{folder}{path}"));
        }
        let place = |end: &str| self.repo.file(&format!("{stem}{end}"));
        place(".rs").or_else(|| place("/mod.rs"))
    }
}

impl<'a> Module<'a> {
    /// Returns the module that a whole file makes, without children.
    fn of(file: &'a File, parent: usize, is_test: bool) -> Self {
        let items = file.rust().map_or(&[][..], |rust| &rust.syntax.items);
        Self { file, items, is_test, parent, children: BTreeMap::new() }
    }
}
