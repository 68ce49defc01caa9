//! HTTP host of `assay serve`: requests, event streams, access.
//!
//! A [`Site`] makes the pages, and a [`Server`] answers requests with them. This is the only crate
//! with asynchronous code. One thread serves all connections; a few more make pages, because they
//! read files.

mod access;
mod assets;
mod connection;
mod error;
mod event_stream;
mod feeds;
mod guard;
mod options;
mod refusal;
mod request;
mod response;
mod routes;
mod server;
mod site;
mod tls;
mod workers;

pub use access::{Token, token};
pub use assets::{ASSETS, Asset, has_scripts};
pub use error::ServeError;
pub use options::{Access, Options, Tls};
pub use request::{Pair, Request};
pub use server::Server;
pub use site::{Answer, Event, Feed, File, Site};
