//! Parses a server address: `postgres://user:password@host:port/database`.

mod address;
mod draft;
mod encryption;
mod mysql;
mod parameter;
mod pasted;
mod place;
mod postgres;
mod text;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use address::{Parsed, ended_by_quote, parse};
pub use pasted::has_placeholder;
pub(crate) use pasted::is_meant;
