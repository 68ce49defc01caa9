//! Certificates of servers: whether one is trusted, and for which host.

mod fault;
mod host_name;
mod signature;
mod verifier;
mod weakness;

pub(crate) use fault::text_of;
pub(crate) use verifier::{Note, Roots, Verifier};

#[cfg(test)]
mod tests;
