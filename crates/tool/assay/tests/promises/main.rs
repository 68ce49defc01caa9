//! What the program promises on its command line: the list of files is the list of promises.
//!
//! How it survives bad days of a run is tested in `bad_days/`.

mod maven;
mod place;
mod refusal;

mod allocators_serve_the_whole_run;
mod blocks_are_timed;
mod compare_show_list_report;
mod engine_builds_are_kept;
mod engines_are_built_with_any_flags;
mod engines_refuse_in_their_own_words;
mod explanations_are_asked_for_by_name;
mod help_is_complete;
mod history_refuses_what_is_no_history;
mod history_tells_what_changed;
mod libraries_must_be_what_they_are_said_to_be;
mod lint_says_what_is_doubtful;
mod plan_shows_the_order;
mod plan_tells_what_machine_time_buys;
mod published_findings_are_held_against_ours;
mod servers_are_got_and_added;
mod servers_run_the_insert_benchmark;
mod terminal_absent_means_plain_lines;
mod the_design_s_example_is_understood;
mod what_ships_is_right;
mod what_would_be_bogus_is_refused;
mod wrong_amounts_are_refused;
mod wrong_command_lines_are_refused;
mod wrong_comparisons_are_refused;
mod wrong_loads_are_refused;
mod wrong_rates_are_refused;
mod wrong_words_are_refused;
