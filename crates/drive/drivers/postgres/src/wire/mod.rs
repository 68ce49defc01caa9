//! The Postgres protocol, as a blocking client of one connection.
//!
//! It knows no table and no operation. Codec and authentication are those of `postgres-protocol`;
//! the messages of operations are written and read here without allocations, in reused buffers.
//! TLS is not supported.

mod connection;
mod failure;
mod login;
pub(crate) mod oid;
mod receive_buffer;
mod result;
mod row;
mod socket;
mod statement;
pub(crate) mod text;

pub(crate) use connection::Connection;
pub(crate) use failure::{ErrorResponse, Failure};
pub(crate) use row::{columns, first_column};
pub(crate) use statement::Bound;
