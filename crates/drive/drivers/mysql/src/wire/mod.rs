//! The MySQL client protocol, the part a benchmark client needs.
//!
//! It knows no table and no operation. One statement is one write and as few reads as its answer
//! needs; nothing is allocated once the buffers have grown.
//!
//! Source: MySQL's source documentation, "Client/Server Protocol".

mod connection;
mod failure;
mod login;
mod packets;
mod result;
mod row;
mod scramble;
mod socket;
mod statement;

pub(crate) use connection::{Connection, first_as_text};
pub(crate) use failure::Failure;
pub(crate) use result::{Column, Done};
pub(crate) use row::Fields;
pub(crate) use statement::{Moment, Statement, Value};
