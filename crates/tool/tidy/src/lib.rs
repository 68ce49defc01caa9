//! Linter of the repository, for what compiler and clippy do not check.
//!
//! It does not lint benchmarks, and it changes no file. [`disk::read`] makes a [`Repo`], the rules
//! make violations of it, and [`stage`] runs them with the other checks of the definition of done.
//!
//! Invariants: a rule is a pure function of a [`Repo`], so its test builds one in memory; a
//! violation names place, defect and remedy.
//!
//! To add a rule: one file under `rule/`, with its test, and one line in [`rule::registry::RULES`].

pub mod disk;
pub mod error;
pub mod markdown;
pub mod module;
pub mod repo;
pub mod rule;
pub mod rust;
pub mod stage;

pub use error::TidyError;
pub use repo::{Dependency, DependencyKind, File, Package, Repo};
pub use rule::violation::{Severity, Violation};
