//! Reads the files that users write: TOML with places, errors with remedies.
//!
//! It knows no experiment and no application: `application` and `plan` read theirs with it. It
//! imports only `model`.
//!
//! Invariants: an error has the place of what is wrong; no password is displayed.
//!
//! To add a kind of value: a function of `syntax` that returns it, or the error of another type.

pub mod error;
pub mod nearest;
pub mod place;
mod scheme;
pub mod secret;
pub mod syntax;

pub use error::PlanError;
pub use nearest::nearest;
pub use scheme::Scheme;
