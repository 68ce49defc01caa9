//! Test blocks of db_bench's compressibility.

/// Number of blocks: enough to defeat branch prediction, few enough for a second-level cache.
pub(crate) const BLOCKS: usize = 16;

/// Share of a block that is random; the rest repeats it. db_bench's default.
///
/// Source: RocksDB, `tools/db_bench_tool.cc`, `compression_ratio`.
const RANDOM_SHARE: usize = 2;

/// Bytes of a repeated piece, as short as db_bench's.
///
/// Source: RocksDB, `tools/db_bench_tool.cc`, `RandomGenerator`: pieces of 100 bytes.
const PIECE_BYTES: usize = 100;

/// Returns blocks that compress to about half: pieces whose first half is random and then repeated.
///
/// Source: RocksDB, `test_util/testutil.cc`, `CompressibleString`.
pub(crate) fn blocks(bytes: usize) -> Vec<Vec<u8>> {
    let mut state = 0x00A5_5A41_u64;
    let block = |_index: usize| {
        let mut block = Vec::with_capacity(bytes + PIECE_BYTES);
        while block.len() < bytes {
            let start = block.len();
            while block.len() < start + PIECE_BYTES / RANDOM_SHARE {
                block.push(printable(next(&mut state)));
            }
            block.extend_from_within(start..);
        }
        block.truncate(bytes);
        block
    };
    (0..BLOCKS).map(block).collect()
}

/// Returns one of the 95 printable characters, as db_bench's random bytes are.
fn printable(word: u64) -> u8 {
    b' ' + u8::try_from((word >> 33) % 95).unwrap_or(0)
}

/// Returns the next number of a fixed sequence.
///
/// Source: G. L. Steele, D. Lea and C. H. Flood, 2014, "Fast splittable pseudorandom number
/// generators", `SplitMix`.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_differ_and_compress_to_about_half() {
        let blocks = blocks(4096);
        assert_eq!(blocks.len(), BLOCKS);
        assert!(blocks.iter().all(|block| block.len() == 4096));
        assert!(blocks.windows(2).all(|pair| pair[0] != pair[1]));
        let share = lz4_flex::block::compress(&blocks[0]).len() as f64 / 4096.0;
        assert!((0.4..0.7).contains(&share), "{share}");
    }
}
