//! Checks before the first run: text, limits of the host, variants, load and libraries.

mod connections;
mod demand;
mod library_test;
mod limits;
mod text;
mod variants;

pub(crate) use connections::{sessions_max, with_connections};
pub(crate) use demand::calibration_of;
pub use library_test::{serve_library_test, test_library};
pub use limits::{Place, host_refusals};
pub use text::{Kinds, check_text};
pub use variants::check_variants;
