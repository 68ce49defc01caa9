//! What a crash of the process leaves behind.

#![expect(clippy::print_stdout, reason = "a test says what it obtains")]

mod library;

/// Goal: in the classes `os` and `sync` every acknowledged write outlives the process.
#[test]
fn acknowledged_writes_outlive_the_process() {
    let test = "acknowledged_writes_outlive_the_process";
    library::on_every_build(test, engine::conformance::survives_process_crash);
}
