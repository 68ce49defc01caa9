//! The kernels that a RocksDB library exports outside its C interface.
//!
//! They are not part of any interface: the names are those of its builds from 5.18 to 11.8, codecs
//! among them where the build contains them, as the official ones do.

use std::path::Path;

use engine::EngineError;
use model::Kernel;

use super::crates::Work;
use super::ffi::{Checksums, Lz4, Zstd};

/// One library's kernels.
pub(super) struct RocksDb {
    checksums: Checksums,
    lz4: Option<Lz4>,
    zstd: Option<Zstd>,
}

impl RocksDb {
    /// Loads the library, unless it is loaded already.
    pub(super) fn load(path: &Path) -> Result<Self, EngineError> {
        let loaded = dynlib::load_once(path)?;
        let library = &loaded.library;
        let lacks = |symbol: &str| loaded.lacks(symbol, "rocksdb_open", "RocksDB", "5.18");
        if !loaded.has("rocksdb_open") {
            return Err(lacks("rocksdb_open"));
        }
        let checksums = Checksums::bind(library, "").map_err(|symbol| lacks(&symbol))?;
        Ok(Self { checksums, lz4: Lz4::bind(library, "").ok(), zstd: Zstd::bind(library).ok() })
    }
}

impl Work for RocksDb {
    fn serves(&self, kernel: Kernel) -> Result<String, String> {
        let (symbol, is_there) = match kernel {
            Kernel::Crc32c => ("rocksdb::crc32c::Extend", self.checksums.crc32c(b"").is_some()),
            Kernel::Xxh3 => ("ROCKSDB_XXH3_64bits", self.checksums.xxh3(b"").is_some()),
            Kernel::Lz4Compress => ("LZ4_compress_default", self.lz4.is_some()),
            Kernel::Lz4Uncompress => ("LZ4_decompress_safe", self.lz4.is_some()),
            Kernel::ZstdCompress => ("ZSTD_compressCCtx", self.zstd.is_some()),
            Kernel::ZstdUncompress => ("ZSTD_decompressDCtx", self.zstd.is_some()),
        };
        if is_there { Ok(symbol.to_owned()) } else { Err(format!("it does not export {symbol}")) }
    }

    fn run(&mut self, kernel: Kernel, input: &[u8], output: &mut [u8]) -> u64 {
        let compresses = matches!(kernel, Kernel::Lz4Compress | Kernel::ZstdCompress);
        match kernel {
            Kernel::Crc32c => self.checksums.crc32c(input).unwrap_or(0).into(),
            Kernel::Xxh3 => self.checksums.xxh3(input).unwrap_or(0),
            Kernel::Lz4Compress | Kernel::Lz4Uncompress => {
                self.lz4.as_ref().map_or(0, |lz4| lz4.run(compresses, input, output)) as u64
            }
            Kernel::ZstdCompress | Kernel::ZstdUncompress => {
                self.zstd.as_mut().map_or(0, |zstd| zstd.run(compresses, input, output)) as u64
            }
        }
    }
}
