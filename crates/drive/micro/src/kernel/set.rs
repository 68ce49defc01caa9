//! One process's implementations of the kernels, and how each is checked.

use std::collections::BTreeMap;
use std::path::Path;

use engine::EngineError;
use model::Kernel;

use super::crates::{Crates, Work};
use super::rocksdb::RocksDb;

/// The kernels of this process.
pub struct Set {
    pub(crate) work: Box<dyn Work>,
}

/// CRC-32C of the digits 1 to 9.
///
/// Source: G. Cook, Catalogue of parametrised CRC algorithms, CRC-32/ISCSI, `check`.
const CRC32C_OF_DIGITS: u64 = 0xe306_9283;

/// XXH3 (64 bits, seed 0) of nothing.
///
/// Source: xxHash, `tests/sanity_test_vectors.h`, XXH3 of length 0.
const XXH3_OF_NOTHING: u64 = 0x2d06_8005_38d3_94c2;

impl Set {
    /// Returns the kernels of Rust crates and of the system's Zstandard.
    pub fn crates() -> Self {
        Self { work: Box::new(Crates::load()) }
    }

    /// Returns the kernels that a RocksDB library exports.
    ///
    /// # Errors
    /// When the library cannot be loaded; a process loads one.
    pub fn rocksdb(library: &Path) -> Result<Self, EngineError> {
        Ok(Self { work: Box::new(RocksDb::load(library)?) })
    }

    /// Returns what serves each kernel; a wrong result serves none.
    pub fn serves(&mut self) -> BTreeMap<Kernel, Result<String, String>> {
        let mut checked = |kernel: Kernel| {
            let name = self.work.serves(kernel)?;
            self.check(kernel).map(|()| name)
        };
        Kernel::ALL.into_iter().map(|kernel| (kernel, checked(kernel))).collect()
    }

    /// Compares one result with a known one.
    fn check(&mut self, kernel: Kernel) -> Result<(), String> {
        let plain: Vec<u8> = b"the same text again and again; ".repeat(32);
        let is_right = match kernel {
            Kernel::Crc32c => self.work.run(kernel, b"123456789", &mut []) == CRC32C_OF_DIGITS,
            Kernel::Xxh3 => self.work.run(kernel, b"", &mut []) == XXH3_OF_NOTHING,
            Kernel::Lz4Compress | Kernel::Lz4Uncompress => {
                self.is_restored(Kernel::Lz4Compress, Kernel::Lz4Uncompress, &plain)
            }
            Kernel::ZstdCompress | Kernel::ZstdUncompress => {
                self.is_restored(Kernel::ZstdCompress, Kernel::ZstdUncompress, &plain)
            }
        };
        if is_right { Ok(()) } else { Err("it gives a wrong result".to_owned()) }
    }

    fn is_restored(&mut self, compress: Kernel, uncompress: Kernel, plain: &[u8]) -> bool {
        let small = packed(self.work.as_mut(), compress, plain);
        let mut back = vec![0; plain.len()];
        let restored = self.work.run(uncompress, &small, &mut back);
        small.len() < plain.len() && restored == plain.len() as u64 && back == plain
    }
}

/// Returns a block compressed by a kernel.
pub(crate) fn packed(work: &mut dyn Work, by: Kernel, block: &[u8]) -> Vec<u8> {
    let mut small = vec![0; room(block.len())];
    let bytes = work.run(by, block, &mut small);
    small.truncate(usize::try_from(bytes).unwrap_or(0));
    small
}

/// Returns the room that a compressed block may need, with either codec.
///
/// Source: crate `lz4_flex`, `get_maximum_output_size` (a tenth and 20 bytes more), the largest of
/// the bounds of LZ4, of that crate and of Zstandard.
pub(crate) const fn room(bytes: usize) -> usize {
    bytes + bytes / 8 + 80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_serve_every_kernel_with_right_results() {
        let serves = Set::crates().serves();
        assert_eq!(serves.len(), Kernel::ALL.len());
        assert!(serves.values().all(Result::is_ok), "{serves:?}");
    }

    #[test]
    fn a_wrong_implementation_serves_nothing() {
        struct Wrong;
        impl Work for Wrong {
            fn serves(&self, _kernel: Kernel) -> Result<String, String> {
                Ok("wrong 1.0".to_owned())
            }
            fn run(&mut self, _: Kernel, input: &[u8], output: &mut [u8]) -> u64 {
                output.iter_mut().zip(input).for_each(|(to, from)| *to = *from);
                1
            }
        }
        let serves = Set { work: Box::new(Wrong) }.serves();
        assert!(serves.values().all(Result::is_err), "{serves:?}");
    }
}
