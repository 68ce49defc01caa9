//! The server over HTTP/1.1, with plain sockets and a site that is scripted.

#![expect(clippy::unwrap_used, reason = "an unwrap in a test helper fails the test")]

mod access;
mod addresses;
mod client;
mod failures;
mod headers;
mod origins;
mod stopping;
mod streams;
mod tls;
mod toy_site;
