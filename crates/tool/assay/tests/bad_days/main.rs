//! Behaviour under faults, one file per guarantee.
//!
//! To add a guarantee: one file, and its line here.

mod disk_floor_is_respected;
#[expect(dead_code, reason = "runs that recorded a disturbance are in truth alone")]
#[path = "../truth/disturbance.rs"]
mod disturbance;
mod durability_leaves_nothing;
mod foreign_data_is_never_touched;
mod interrupt_preserves_measured_seconds;
mod locks_of_others_are_named;
mod memory_cap_kills_are_recorded;
mod pauses_are_in_no_interval;
mod results_must_be_writable;
mod run_survives_engine_faults;
mod sandbox;
mod server_traces;
mod servers_are_cleaned_up;
mod simulated_disks_leave_nothing;
mod stop_requests_leave_nothing;
mod until_runs_a_pilot_and_one_extension;
