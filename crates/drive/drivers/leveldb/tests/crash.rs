//! What a crash of the process leaves behind.

#![expect(clippy::print_stdout, reason = "a test says why it is skipped")]

mod library;

/// Goal: in the classes `os` and `sync` every acknowledged write outlives the process.
#[test]
fn acknowledged_writes_outlive_the_process() {
    let Some(driver) = library::driver() else { return };
    engine::conformance::survives_process_crash(&*driver);
}
