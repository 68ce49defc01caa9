//! Names and prose use the words of the field.
//!
//! The words and their exceptions are tables, [`WORDS`] and [`EXCEPTIONS`].

mod check;
mod exceptions;
mod list;
mod scan;

pub use check::check;
pub use exceptions::{EXCEPTIONS, Exception, Place};
pub use list::{Scope, WORDS, Word};
