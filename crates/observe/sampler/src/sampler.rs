//! The sampler interface.

use model::Readings;

use crate::error::SampleError;

/// One source of readings.
pub trait Sampler: Send {
    /// Returns the current readings, cheap enough for once a second.
    ///
    /// # Errors
    /// When the source has vanished, as of a process that has ended.
    fn sample(&mut self) -> Result<Readings, SampleError>;

    /// Returns the readings of a step's boundary, costly ones included.
    ///
    /// # Errors
    /// As [`Sampler::sample`].
    fn sample_boundary(&mut self) -> Result<Readings, SampleError> {
        self.sample()
    }

    /// Returns why metrics are missing on this machine, if known beforehand.
    fn absence(&self) -> Option<&str> {
        None
    }
}
