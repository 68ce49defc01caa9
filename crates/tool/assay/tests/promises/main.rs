//! Guarantees of the command line, one file each.
//!
//! Behaviour under faults is tested in `bad_days/`. Tests start in the order of their names: the
//! longest ones have names that come early.

mod busy_host;
#[path = "../truth/group.rs"]
mod group;
mod hostile;
mod journey;
mod maven;
mod rejection;
mod sample;
#[path = "../campaigns/scale.rs"]
mod scale;
mod stored;
mod workspace;

mod activities_are_marked_in_stalls;
mod added_libraries_are_tested;
mod allocators_serve_the_whole_run;
mod applications_on_servers;
mod blocks_are_timed;
mod bogus_plans_are_rejected;
mod bytes_written_are_those_of_the_engine;
mod changed_files_are_reported;
mod children_get_no_passwords;
mod commands_in_documents_are_run;
mod doctor_examines_this_machine;
mod drives_are_watched;
mod durability_is_read_back;
mod engine_builds_are_cached;
mod engine_errors_are_quoted;
mod engines_are_built_with_any_flags;
mod events_divide_the_waits_of_servers;
mod experiments_are_rerun_from_one_file;
mod explain_finds_experiments_by_variant_names;
mod functions_that_differ_are_listed;
mod help_is_complete;
mod history_finds_changes;
mod history_rejects_invalid_input;
mod hosts_are_compared;
mod invalid_amounts_are_rejected;
mod invalid_command_lines_are_rejected;
mod invalid_comparisons_are_rejected;
mod invalid_loads_are_rejected;
mod invalid_rates_are_rejected;
mod labels_follow_the_runs;
mod limits_are_checked_before_the_load;
mod limits_of_containers_bind;
mod lint_reports_findings_and_exit_codes;
mod loads_are_shared;
mod nothing_ends_a_command_by_a_panic;
mod only_regular_files_are_read;
mod optional_variants_are_left_out;
mod output_errors_are_reported;
mod own_engines_need_one_library;
mod pages;
mod pages_show_the_archive;
mod pages_start_runs;
mod pages_survive_any_address;
mod passwords_are_masked;
mod plan_lists_runs_in_order;
mod plan_proposes_designs_for_a_budget;
mod plan_refuses_what_run_refuses;
mod profiles_are_drawn;
mod progress_is_plain_lines_without_a_terminal;
mod proposed_commands_carry_options;
mod published_findings_are_compared;
mod questions_name_their_metrics;
mod reading_verbs_have_json;
mod reference_experiment_is_parsed;
mod results_are_listed_shown_compared_and_reported;
mod results_travel_in_one_file;
mod root_uses_directories_it_trusts;
mod servers_are_fetched_and_added;
mod servers_count_every_statement;
mod servers_run_the_insert_benchmark;
mod servers_start_below_a_closed_home;
mod settles_have_spans_of_their_own;
mod shipped_experiments_and_applications_are_valid;
mod small_files_stop_no_verb;
mod storage_is_measured;
mod stored_plans_are_completed_as_begun;
mod strangers_experiments_need_consent;
mod terminals_obey_no_data;
mod trade_offs_are_shown_size_by_size;
mod unknown_names_and_types_are_rejected;
