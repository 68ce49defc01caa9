//! Libraries for tests.

mod builds;

pub(crate) use builds::on_every_build;
