//! The protocol: a blocking client of one connection, and nothing above it.
//!
//! It knows no table and no operation. Codec and login are those of `postgres-protocol`; what
//! each operation needs is written and read here without one allocation, in buffers that stay.
//! TLS is not spoken.

mod answer;
mod bound;
mod complaint;
mod connection;
mod inbox;
mod login;
pub(crate) mod oid;
mod row;
mod stream;
pub(crate) mod text;

pub(crate) use bound::Bound;
pub(crate) use complaint::{Complaint, Failure};
pub(crate) use connection::Connection;
pub(crate) use row::{columns, first_column};
