//! The MySQL client protocol, the part a benchmark client needs.
//!
//! It knows no table and no operation. One statement is one write and as few reads as its answer
//! needs; nothing is allocated once the buffers have grown.
//!
//! Source: MySQL's source documentation, "Client/Server Protocol".

mod authenticator;
mod connection;
mod ed25519;
mod failure;
mod greeting;
mod locks;
mod login;
mod method;
mod packets;
mod result;
mod row;
mod scramble;
mod statement;
mod text;
mod typed;

pub(crate) use connection::Connection;
pub(crate) use failure::{Failure, number};
pub(crate) use text::literal;
