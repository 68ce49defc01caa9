//! The kernels that a RocksDB library exports outside its C interface.
//!
//! They are not part of any interface: the names are those of its builds from 5.18 to 11.8, codecs
//! among them where the build contains them, as the official ones do.

use std::path::Path;

use engine::EngineError;
use model::Kernel;

use super::ffi::{Contexts, Exports, exports_of};
use super::work::Work;

/// Symbol of RocksDB's own checksum function: `rocksdb::crc32c::Extend`.
const CRC32C: &str = "rocksdb::crc32c::Extend";

/// One library's kernels.
pub(super) struct RocksDb {
    exports: Exports,
    contexts: Contexts,
}

impl RocksDb {
    /// Loads the library, unless it is loaded already.
    pub(super) fn load(path: &Path) -> Result<Self, EngineError> {
        let loaded = dynlib::load_once(path)?;
        if !loaded.has("rocksdb_open") {
            return Err(EngineError::build(format!(
                "`{}` is not RocksDB: it lacks `rocksdb_open`",
                path.display()
            )));
        }
        let exports = exports_of(&loaded.library);
        let contexts = exports.contexts();
        Ok(Self { exports, contexts })
    }
}

impl Work for RocksDb {
    fn serves(&self, kernel: Kernel) -> Result<String, String> {
        let exports = &self.exports;
        let (symbol, is_there) = match kernel {
            Kernel::Crc32c => (CRC32C, exports.has_crc32c()),
            Kernel::Xxh3 => ("ROCKSDB_XXH3_64bits", exports.has_xxh3()),
            Kernel::Lz4Compress => ("LZ4_compress_default", exports.has_lz4()),
            Kernel::Lz4Uncompress => ("LZ4_decompress_safe", exports.has_lz4()),
            Kernel::ZstdCompress => ("ZSTD_compressCCtx", self.contexts.are_there()),
            Kernel::ZstdUncompress => ("ZSTD_decompressDCtx", self.contexts.are_there()),
        };
        if is_there { Ok(symbol.to_owned()) } else { Err(format!("it does not export {symbol}")) }
    }

    fn digest(&mut self, kernel: Kernel, block: &[u8]) -> u64 {
        match kernel {
            Kernel::Crc32c => u64::from(self.exports.crc32c(block)),
            Kernel::Xxh3 => self.exports.xxh3(block),
            Kernel::Lz4Compress
            | Kernel::Lz4Uncompress
            | Kernel::ZstdCompress
            | Kernel::ZstdUncompress => 0,
        }
    }

    fn transform(&mut self, kernel: Kernel, input: &[u8], output: &mut [u8]) -> usize {
        match kernel {
            Kernel::Lz4Compress => self.exports.lz4_compress(input, output),
            Kernel::Lz4Uncompress => self.exports.lz4_uncompress(input, output),
            Kernel::ZstdCompress => self.exports.zstd_compress(&mut self.contexts, input, output),
            Kernel::ZstdUncompress => {
                self.exports.zstd_uncompress(&mut self.contexts, input, output)
            }
            Kernel::Crc32c | Kernel::Xxh3 => 0,
        }
    }
}
