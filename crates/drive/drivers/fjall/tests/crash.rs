//! What a crash of the process leaves behind.

/// Goal: in the classes `os` and `sync` every acknowledged write outlives the process.
#[test]
fn acknowledged_writes_outlive_the_process() {
    engine::conformance::survives_process_crash(driver_fjall::driver().as_ref());
}
