//! The interface of one source of kernels.

use model::Kernel;

/// The kernels of one source.
pub(crate) trait Work {
    /// Returns what serves the kernel, or why nothing does.
    fn serves(&self, kernel: Kernel) -> Result<String, String>;

    /// Returns the checksum or hash of `input`, or the bytes of it that were compressed or
    /// decompressed into `output`; 0 when the library fails.
    ///
    /// `output` is as long as the result may get.
    fn run(&mut self, kernel: Kernel, input: &[u8], output: &mut [u8]) -> u64;
}
