//! The kernels of Rust crates, and the distribution's Zstandard.

use model::Kernel;
use twox_hash::XxHash3_64;

use super::ffi::{Contexts, Exports, system_zstd};
use super::work::Work;

/// Kernels of linked crates; Zstandard is the library of the distribution.
pub(super) struct Crates {
    zstd: Result<(Exports, Contexts), String>,
}

impl Crates {
    /// Returns the kernels, with Zstandard where it is installed.
    pub(super) fn load() -> Self {
        let with_contexts = |exports: Exports| {
            let contexts = exports.contexts();
            (exports, contexts)
        };
        Self { zstd: system_zstd().map(with_contexts) }
    }
}

impl Work for Crates {
    fn serves(&self, kernel: Kernel) -> Result<String, String> {
        Ok(match kernel {
            Kernel::Crc32c => "crate crc32c 0.6".to_owned(),
            Kernel::Xxh3 => "crate twox-hash 2.1".to_owned(),
            Kernel::Lz4Compress | Kernel::Lz4Uncompress => "crate lz4_flex 0.13".to_owned(),
            Kernel::ZstdCompress | Kernel::ZstdUncompress => {
                let (exports, _) = self.zstd.as_ref().map_err(Clone::clone)?;
                let version = exports.zstd_version().unwrap_or_default();
                format!("Zstandard {version} of the system (libzstd.so.1)")
            }
        })
    }

    fn run(&mut self, kernel: Kernel, input: &[u8], output: &mut [u8]) -> u64 {
        let bytes = match (kernel, &mut self.zstd) {
            (Kernel::Crc32c, _) => return u64::from(crc32c::crc32c(input)),
            (Kernel::Xxh3, _) => return XxHash3_64::oneshot(input),
            (Kernel::Lz4Compress, _) => lz4_flex::block::compress_into(input, output).unwrap_or(0),
            (Kernel::Lz4Uncompress, _) => {
                lz4_flex::block::decompress_into(input, output).unwrap_or(0)
            }
            (Kernel::ZstdCompress, Ok((exports, contexts))) => {
                exports.zstd_compress(contexts, input, output)
            }
            (Kernel::ZstdUncompress, Ok((exports, contexts))) => {
                exports.zstd_uncompress(contexts, input, output)
            }
            (Kernel::ZstdCompress | Kernel::ZstdUncompress, Err(_)) => 0,
        };
        bytes as u64
    }
}
