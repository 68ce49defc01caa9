//! What is true of the figures: methodology as code, told by the program itself on the real clock.
//!
//! Each file is a promise. Tests take turns (`alone`): most of them need the CPUs for themselves.
//! What a machine lacks, or a busy one cannot show, is skipped with the reason.
//!
//! To add a promise: one file, and its line here.

mod host;
mod measured;
#[expect(dead_code, reason = "shared with bad_days, which uses all of it")]
#[path = "../bad_days/sandbox.rs"]
mod sandbox;

mod a_slow_start_and_a_stall_show;
mod a_stall_shows_in_the_open_loop;
mod arrivals_keep_their_schedule;
mod explanations_say_what_was_done;
mod one_build_against_itself;
mod sweeps_and_searches_are_told;
mod the_client_is_innocent_or_says_so;
mod the_highest_rate_is_found;
mod wrong_loads_are_refused;
