//! Machines of a fleet: hosts of the runs, and the machine as a random factor.

pub(crate) mod factor;
pub(crate) mod ratios;
pub(crate) mod sides;

pub use factor::{
    Forecast, MachineFactor, MachineRatios, MachineRuns, effective_hosts, machines_of,
};
