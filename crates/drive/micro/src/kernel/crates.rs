//! The kernels of Rust crates.

use model::Kernel;
use twox_hash::XxHash3_64;
use zstd::bulk::{Compressor, Decompressor};

use super::work::Work;

/// Level of Zstandard: its own default, and RocksDB's.
const ZSTD_LEVEL: i32 = 3;

/// Compressor and decompressor, reused as RocksDB reuses its contexts.
#[derive(Default)]
pub(super) struct Crates {
    zstd: Option<(Compressor<'static>, Decompressor<'static>)>,
}

impl Crates {
    fn zstd(&mut self) -> Option<&mut (Compressor<'static>, Decompressor<'static>)> {
        if self.zstd.is_none() {
            self.zstd = Compressor::new(ZSTD_LEVEL).ok().zip(Decompressor::new().ok());
        }
        self.zstd.as_mut()
    }
}

impl Work for Crates {
    fn serves(&self, kernel: Kernel) -> Result<String, String> {
        Ok(match kernel {
            Kernel::Crc32c => "crate crc32c 0.6".to_owned(),
            Kernel::Xxh3 => "crate twox-hash 2.1".to_owned(),
            Kernel::Lz4Compress | Kernel::Lz4Uncompress => "crate lz4_flex 0.13".to_owned(),
            Kernel::ZstdCompress | Kernel::ZstdUncompress => {
                format!("crate zstd 0.14 (Zstandard {})", zstd::zstd_safe::version_string())
            }
        })
    }

    fn digest(&mut self, kernel: Kernel, block: &[u8]) -> u64 {
        match kernel {
            Kernel::Crc32c => u64::from(crc32c::crc32c(block)),
            Kernel::Xxh3 => XxHash3_64::oneshot(block),
            Kernel::Lz4Compress
            | Kernel::Lz4Uncompress
            | Kernel::ZstdCompress
            | Kernel::ZstdUncompress => 0,
        }
    }

    fn transform(&mut self, kernel: Kernel, input: &[u8], output: &mut [u8]) -> usize {
        match kernel {
            Kernel::Lz4Compress => lz4_flex::block::compress_into(input, output).unwrap_or(0),
            Kernel::Lz4Uncompress => lz4_flex::block::decompress_into(input, output).unwrap_or(0),
            Kernel::ZstdCompress => self
                .zstd()
                .and_then(|(compressor, _)| compressor.compress_to_buffer(input, output).ok())
                .unwrap_or(0),
            Kernel::ZstdUncompress => self
                .zstd()
                .and_then(|(_, decompressor)| decompressor.decompress_to_buffer(input, output).ok())
                .unwrap_or(0),
            Kernel::Crc32c | Kernel::Xxh3 => 0,
        }
    }
}
