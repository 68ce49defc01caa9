//! Validity of the figures, tested on the real clock.
//!
//! Each file is a guarantee. Tests take turns (`take_turn`): most need the CPUs exclusively; those
//! that mostly sleep run together (`share_turn`), next to each other in the order of names. What a
//! machine lacks is skipped with the reason. A claim about a quiet host is tried by
//! `on_quiet_host`: on a busy one it is repeated, and then skipped with the measured disturbance.
//!
//! To add a guarantee: one file, and its line here.

mod disturbance;
mod group;
mod host;
mod measured;
#[expect(dead_code, reason = "shared with bad_days, which uses all of it")]
#[path = "../bad_days/sandbox.rs"]
mod sandbox;

mod arrivals_follow_their_schedule;
mod client_delays_are_never_charged_to_the_engine;
mod explanations_attribute_known_differences;
mod figures_begin_after_warm_up;
mod highest_sustained_rate_is_found;
mod identical_builds_show_no_difference;
mod limited_writers_keep_their_rate;
mod loads_beyond_the_host_are_rejected;
mod many_clients_have_right_seconds;
mod runs_without_a_result_are_labelled;
mod stalls_show_in_open_loop_response_times;
mod sweeps_and_searches_are_reported;
