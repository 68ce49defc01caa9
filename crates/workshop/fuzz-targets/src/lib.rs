//! Targets of fuzzing: readers of files that may come from a stranger.
//!
//! Each takes any bytes and must neither panic nor hang. libFuzzer calls them through `fuzz/`,
//! which is a workspace of its own; a test calls them with the committed seeds. Nothing is measured
//! and no engine is run.
//!
//! To add a target: its function and its line in [`TARGETS`], its `[[bin]]` in `fuzz/Cargo.toml`,
//! its seeds in `fuzz/seeds/`, and its words in `fuzz/dictionaries/`.

mod address;
mod archives;
mod build;
mod bundles;
mod catalog;
mod devices;
mod history;
mod plans;
mod report;

/// A target: reads these bytes as the program would.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: [(&str, Target); 14] = [
    ("address", address::address),
    ("application", plans::application),
    ("artifact", build::artifact),
    ("bundle", bundles::bundle),
    ("device", devices::device),
    ("experiment", plans::experiment),
    ("histogram", archives::histogram),
    ("history", history::history),
    ("hlog", archives::hlog),
    ("intervals", archives::intervals),
    ("manifest", archives::manifest),
    ("profile", plans::profile),
    ("rate", plans::rate),
    ("record", archives::record),
];

/// Returns the target of that name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
}
