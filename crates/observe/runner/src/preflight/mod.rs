//! Checks before the first run: variants, load and libraries.

mod connections;
mod demand;
mod smoke_test;
mod variants;

pub(crate) use connections::with_connections;
pub(crate) use demand::calibration_of;
pub use smoke_test::{serve_smoke_test, smoke_test};
pub use variants::check_variants;
