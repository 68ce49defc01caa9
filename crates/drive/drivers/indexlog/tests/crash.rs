//! Durability after a process crash.

/// Goal: in the classes `os` and `sync` every acknowledged write survives.
#[test]
fn acknowledged_writes_survive_a_process_crash() {
    engine::conformance::survives_process_crash(driver_indexlog::driver().as_ref());
}
