//! Validity of the figures, tested on the real clock.
//!
//! Each file is a guarantee. Tests take turns (`take_turn`): most need the CPUs exclusively. What a
//! machine lacks, or a busy one cannot show, is skipped with the reason.
//!
//! To add a guarantee: one file, and its line here.

mod host;
mod measured;
#[expect(dead_code, reason = "shared with bad_days, which uses all of it")]
#[path = "../bad_days/sandbox.rs"]
mod sandbox;

mod arrivals_follow_their_schedule;
mod client_delays_are_never_charged_to_the_engine;
mod explanations_attribute_known_differences;
mod highest_sustained_rate_is_found;
mod identical_builds_show_no_difference;
mod loads_beyond_the_host_are_rejected;
mod stalls_show_in_open_loop_response_times;
mod sweeps_and_searches_are_reported;
mod warm_up_is_trimmed_and_stalls_count;
