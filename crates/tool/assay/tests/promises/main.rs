//! What the program promises on its command line: the list of files is the list of promises.
//!
//! How it survives bad days of a run is tested in `bad_days/`.

mod place;
mod refusal;

mod engines_refuse_in_their_own_words;
mod wrong_amounts_are_refused;
mod wrong_command_lines_are_refused;
mod wrong_words_are_refused;
