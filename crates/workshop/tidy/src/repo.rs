//! Files by path, and packages with their dependencies.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use cargo_metadata::DependencyKind;

use crate::rust::Rust;

/// One file of the repository.
pub(crate) struct File {
    /// Path from the repository's root, with `/`.
    pub(crate) path: String,
    /// Size.
    pub(crate) size_bytes: usize,
    /// The text; empty for a file that is not UTF-8.
    pub(crate) text: String,
    rust: OnceCell<Option<Rust>>,
}

impl File {
    /// Returns the file with that content.
    pub(crate) fn new(path: &str, content: Vec<u8>) -> Self {
        let size_bytes = content.len();
        let text = String::from_utf8(content).unwrap_or_default();
        Self { path: path.to_owned(), size_bytes, text, rust: OnceCell::new() }
    }

    /// Returns the source, parsed once; `None` unless it is Rust that parses.
    pub(crate) fn rust(&self) -> Option<&Rust> {
        let parse = || if self.is("rs") { Rust::parse(&self.text) } else { None };
        self.rust.get_or_init(parse).as_ref()
    }

    /// Returns whether the file's name ends in `.extension`.
    pub(crate) fn is(&self, extension: &str) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, found)| found == extension)
    }

    /// Returns the file's name without its folders.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name)
    }
}

/// One dependency of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The name of the package depended on.
    pub(crate) name: String,
    /// What it is needed for.
    pub(crate) kind: DependencyKind,
    /// Whether it is a member of this workspace.
    pub(crate) is_ours: bool,
}

/// One package of the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Package {
    /// The package's name.
    pub(crate) name: String,
    /// Its folder from the repository's root.
    pub(crate) folder: String,
    /// Its dependencies.
    pub(crate) dependencies: Vec<Dependency>,
    /// Root files of its targets, from libraries to build scripts.
    pub(crate) roots: Vec<String>,
}

/// The repository: everything that a rule reads.
#[derive(Default)]
pub(crate) struct Repo {
    files: BTreeMap<String, File>,
    /// The packages of the workspace.
    pub(crate) packages: Vec<Package>,
}

impl Repo {
    /// Returns the repository with these files and packages.
    pub(crate) fn new(files: impl IntoIterator<Item = File>, packages: Vec<Package>) -> Self {
        let files = files.into_iter().map(|file| (file.path.clone(), file)).collect();
        Self { files, packages }
    }

    /// Returns the file at `path`.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// Iterates over all files in the order of their paths.
    pub(crate) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.values()
    }

    /// Iterates over the files whose name ends in `.extension`.
    pub(crate) fn files_with<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a File> {
        self.files().filter(move |file| file.is(extension))
    }

    /// Iterates over the sources that parse, in the order of their paths.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&File, &Rust)> {
        self.files_with("rs").filter_map(|file| Some((file, file.rust()?)))
    }

    /// Returns whether `path` is a folder that holds a file.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        let prefix = format!("{path}/");
        self.files
            .range(prefix.clone()..)
            .next()
            .is_some_and(|(found, _)| found.starts_with(&prefix))
    }
}

#[cfg(test)]
impl Repo {
    /// Returns a repository of text files only, for the tests of rules.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let make = |(path, text): &(&str, &str)| File::new(path, text.as_bytes().to_vec());
        Self::new(files.iter().map(make), Vec::new())
    }
}
