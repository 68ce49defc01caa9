//! Tests of the whole engine.

mod crashes;
mod faults;
mod flips;
mod history;
mod invariants;
mod limits;
#[cfg(feature = "model-check")]
mod model_check;
mod oracle;
mod recording;
mod simulated_files;
mod small_options;
mod threads;

use small_options::small;
