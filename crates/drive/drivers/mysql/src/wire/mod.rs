//! The MySQL client protocol, as much of it as a benchmark's client needs.
//!
//! It knows no table and no operation. One statement is one write and as few reads as its answer
//! needs; nothing is allocated once the buffers have grown.
//!
//! Source: MySQL's source documentation, "Client/Server Protocol".

mod connection;
mod failure;
mod login;
mod result;
mod row;
mod scramble;
mod statement;
mod stream;

pub(crate) use connection::{Connection, first_as_text};
pub(crate) use failure::Failure;
pub(crate) use result::{Column, Done};
pub(crate) use row::Fields;
pub(crate) use statement::{Moment, Statement, Value};
