//! The libraries that tests run on.

mod builds;

pub(crate) use builds::on_every_build;
