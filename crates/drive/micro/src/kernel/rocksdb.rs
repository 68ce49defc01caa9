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

    fn run(&mut self, kernel: Kernel, input: &[u8], output: &mut [u8]) -> u64 {
        let (exports, contexts) = (&self.exports, &mut self.contexts);
        let bytes = match kernel {
            Kernel::Crc32c => return u64::from(exports.crc32c(input)),
            Kernel::Xxh3 => return exports.xxh3(input),
            Kernel::Lz4Compress => exports.lz4_compress(input, output),
            Kernel::Lz4Uncompress => exports.lz4_uncompress(input, output),
            Kernel::ZstdCompress => exports.zstd_compress(contexts, input, output),
            Kernel::ZstdUncompress => exports.zstd_uncompress(contexts, input, output),
        };
        bytes as u64
    }
}
