//! Engines of the worker's tests.

pub(crate) mod scripted;
pub(crate) mod toy;
