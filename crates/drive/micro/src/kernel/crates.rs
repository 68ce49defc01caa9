//! The interface of a source of kernels, and the kernels of Rust crates and of the system.

use model::Kernel;
use twox_hash::XxHash3_64;

use super::ffi::Zstd;

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

/// Kernels of linked crates; Zstandard is the library of the distribution.
pub(super) struct Crates {
    zstd: Result<Zstd, String>,
}

impl Crates {
    /// Returns the kernels, with Zstandard where it is installed.
    pub(super) fn load() -> Self {
        Self { zstd: Zstd::of_system() }
    }
}

impl Work for Crates {
    fn serves(&self, kernel: Kernel) -> Result<String, String> {
        Ok(match kernel {
            Kernel::Crc32c => "crate crc32c 0.6".to_owned(),
            Kernel::Xxh3 => "crate twox-hash 2.1".to_owned(),
            Kernel::Lz4Compress | Kernel::Lz4Uncompress => "crate lz4_flex 0.13".to_owned(),
            Kernel::ZstdCompress | Kernel::ZstdUncompress => {
                let version = self.zstd.as_ref().map_err(Clone::clone)?.version();
                format!("Zstandard {version} of the system (libzstd.so.1)")
            }
        })
    }

    fn run(&mut self, kernel: Kernel, input: &[u8], output: &mut [u8]) -> u64 {
        let bytes = match kernel {
            Kernel::Crc32c => return u64::from(crc32c::crc32c(input)),
            Kernel::Xxh3 => return XxHash3_64::oneshot(input),
            Kernel::Lz4Compress => lz4_flex::block::compress_into(input, output).unwrap_or(0),
            Kernel::Lz4Uncompress => lz4_flex::block::decompress_into(input, output).unwrap_or(0),
            Kernel::ZstdCompress | Kernel::ZstdUncompress => {
                let compresses = kernel == Kernel::ZstdCompress;
                self.zstd.as_mut().map_or(0, |zstd| zstd.run(compresses, input, output))
            }
        };
        bytes as u64
    }
}
