//! Tests of the whole engine.

mod crashes;
mod history;
mod invariants;
mod oracle;
mod simulated_files;
mod small_options;
mod threads;

use small_options::small;
