//! `assay plan`: the price of each size of a file.

use model::{Bytes, Experiment, Nanos, Plan};
use plan::{DISK_FLOOR_BYTES, Room};
use serde::Serialize;

use crate::catalog::Program;
use crate::environment::Environment;

/// What one of the file's sizes costs, or why it has no plan.
#[derive(Default, Serialize)]
pub(super) struct Priced {
    size: String,
    estimated_ns: Option<Nanos>,
    estimated_disk_bytes: Option<Bytes>,
    is_more_than_free: bool,
    error: Option<String>,
}

impl Priced {
    /// Returns the price of an experiment at this size.
    pub(super) fn of(size: String, experiment: Experiment, environment: &Environment) -> Self {
        // What this machine has no room for has a price all the same.
        let unlimited = Room { free: Bytes(u64::MAX), floor: Bytes(0) };
        match plan::expand(experiment, &Program::default(), unlimited) {
            Ok(Plan { estimated_ns, estimated_disk_bytes: disk, .. }) => {
                let usable = environment.disk_free().0.saturating_sub(DISK_FLOOR_BYTES.0);
                Self {
                    size,
                    estimated_ns: Some(estimated_ns),
                    estimated_disk_bytes: Some(disk),
                    is_more_than_free: disk.0 > usable,
                    error: None,
                }
            }
            Err(error) => Self { size, error: Some(error.to_string()), ..Self::default() },
        }
    }

    /// Formats the price in one line.
    pub(super) fn line(&self) -> String {
        let Self { size, estimated_ns, estimated_disk_bytes, .. } = self;
        match (estimated_ns, estimated_disk_bytes) {
            (Some(time), Some(disk)) => {
                let lacks = if self.is_more_than_free { ", more than is free here" } else { "" };
                format!(
                    "--size {size}: about {time} of machine time, up to {disk} of disk at a \
                     time{lacks}"
                )
            }
            _ => format!("--size {size}: {}", self.error.as_deref().unwrap_or_default()),
        }
    }
}
