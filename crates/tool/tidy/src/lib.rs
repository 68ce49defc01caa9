//! Lints the repository itself: what the compiler and clippy cannot see.
//!
//! It is not a linter for benchmarks, and it changes no file. It stands at the end of the tree
//! and reads the whole of it: [`disk::read`] makes a [`Repo`], the rules make violations of it,
//! [`stage`] strings them together with the other checks into the definition of done.
//!
//! Invariants: a rule is a pure function of a [`Repo`], so its test builds one in memory; a rule
//! says where, what and the remedy.
//!
//! To add a rule: one file under `rule/`, with its test, and one line in [`rule::registry::RULES`].

pub mod disk;
pub mod error;
pub mod markdown;
pub mod repo;
pub mod rule;
pub mod rust;
pub mod stage;

pub use error::TidyError;
pub use repo::{Dependency, DependencyKind, File, Package, Repo};
pub use rule::violation::{Severity, Violation};
