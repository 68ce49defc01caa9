//! Tests of the whole engine.

#[cfg(not(feature = "model-check"))]
mod crashes;
#[cfg(not(feature = "model-check"))]
mod faults;
#[cfg(not(feature = "model-check"))]
mod flips;
#[cfg_attr(feature = "model-check", expect(dead_code, reason = "model checks use a part"))]
mod history;
mod invariants;
#[cfg(not(feature = "model-check"))]
mod limits;
#[cfg(feature = "model-check")]
mod model_check;
#[cfg(not(feature = "model-check"))]
mod oracle;
#[cfg(not(feature = "model-check"))]
mod recording;
#[cfg_attr(feature = "model-check", expect(dead_code, reason = "model checks use a part"))]
mod simulated_files;
mod small_options;
#[cfg(not(feature = "model-check"))]
mod threads;

use small_options::small;
