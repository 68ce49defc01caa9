//! Jobs of schedulers that run the blocks of an experiment, as texts.

mod blocks;
mod kubernetes;
mod slurm;

pub use blocks::BlocksJob;
pub use kubernetes::{Pod, kubernetes};
pub use slurm::slurm;
