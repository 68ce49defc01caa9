//! The Postgres protocol, as a blocking client of one connection.
//!
//! It knows no operation, and of tables how the catalogue names them. Codec and authentication are
//! those of `postgres-protocol`; the messages of operations are written and read here without
//! allocations, in reused buffers.

mod catalog;
mod connection;
mod failure;
mod first_answer;
mod locks;
mod login;
mod message;
mod method;
mod result;
mod role;
mod statement;
mod text;
mod value;

pub(crate) use connection::Connection;
pub(crate) use failure::Failure;
pub(crate) use login::Session;
pub(crate) use value::write_literal;
