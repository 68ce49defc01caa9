//! What holds on a bad day of a run: each file is a promise, kept by the program itself.
//!
//! To add a promise: one file, and its line here.

mod a_precision_is_reached_in_two_stages;
mod data_dir_is_ours;
mod disk_floor;
mod interrupt_keeps_what_was_measured;
mod memory_cap;
mod results_must_be_writable;
mod run_survives_engine_faults;
mod run_survives_sigkill;
mod sandbox;
mod servers_leave_nothing;
