//! The planner's interface to engines, steps and the machine.

use application::ApplicationFiles;
use model::{BuildRef, Bytes, CpuCount, DataShape, Dialect, Step, StepInfo};

/// One engine the program can drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineInfo {
    /// The engine's name.
    pub name: String,
    /// How its builds are provided.
    pub builds: Builds,
    /// SQL dialect of a server; `None` for an embedded engine.
    pub dialect: Option<Dialect>,
    /// Whether it is a library of the user's: what it reports is not known beforehand.
    pub is_own: bool,
}

/// How the builds of an engine are provided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builds {
    /// One build, linked into the program: no version is named.
    Linked,
    /// Libraries loaded at run time: a version must be named.
    Loaded,
    /// The linked build without a version, and libraries with one.
    Either,
}

/// Facts that the planner needs.
pub trait Catalog: ApplicationFiles {
    /// Returns every step a benchmark may name.
    fn steps(&self) -> Vec<StepInfo>;
    /// Returns every engine a variant may name.
    fn engines(&self) -> Vec<EngineInfo>;
    /// Returns the release of a build, which decides the options of a profile; `None` if unknown.
    fn release(&self, build: &BuildRef) -> Option<String> {
        build.version.clone()
    }
    /// Returns the text of a shipped profile.
    fn profile(&self, name: &str) -> Option<String>;
    /// Returns the names of the shipped profiles.
    fn profile_names(&self) -> Vec<String>;
    /// Returns the codes of the lint rules that a waiver may name (`A001`).
    fn rule_codes(&self) -> Vec<&'static str>;
    /// Checks that a step can be executed on rows of that shape.
    ///
    /// A step that follows the experiment's client counts comes with 0 clients.
    ///
    /// # Errors
    /// Names the setting that is out of range, and its valid values.
    fn check_step(&self, step: &Step, data: &DataShape) -> Result<(), String>;
}

/// The machine, for which presets and typed experiments derive sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// CPUs, as of [`model::Host::cpus`].
    pub cpus: CpuCount,
    /// Memory, as of [`model::Host::memory_bytes`].
    pub memory_bytes: Bytes,
    /// Free space on the file system of the data.
    pub free_bytes: Bytes,
}
