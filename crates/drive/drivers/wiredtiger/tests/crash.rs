//! Durability after a process crash.

#![expect(clippy::print_stdout, reason = "a test prints its progress")]

mod library;

/// Goal: in the classes `os` and `sync` every acknowledged write survives.
#[test]
fn acknowledged_writes_survive_a_process_crash() {
    library::on_every_build("acknowledged_writes_survive_a_process_crash", |driver| {
        engine::conformance::survives_process_crash(driver);
    });
}
