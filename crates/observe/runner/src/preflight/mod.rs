//! Checks before the first run: variants, load and libraries.

mod connections;
mod demand;
mod library_test;
mod variants;

pub(crate) use connections::with_connections;
pub(crate) use demand::calibration_of;
pub use library_test::{serve_library_test, test_library};
pub use variants::check_variants;
