//! Bloom filters.
//!
//! Source: [Kirsch Mitzenmacher 2006]:
//! two hashes give all probes.

use twox_hash::XxHash3_64;

/// Natural logarithm of 2: bits per key times this is the best number of probes.
/// Source: [Bloom 1970].
const PROBES_PER_BIT: f64 = std::f64::consts::LN_2;

/// Returns the hash of a key.
pub(super) fn hash(key: &[u8]) -> u64 {
    XxHash3_64::oneshot(key)
}

/// A filter of hashes.
#[derive(Debug)]
pub(super) struct Bloom {
    blocks: Vec<u64>,
    probes: u32,
}

impl Bloom {
    /// Returns the filter of these hashes, with so many bits for each.
    pub(super) fn new(hashes: &[u64], bits: u32) -> Self {
        let blocks = (hashes.len() * bits as usize).div_ceil(64).max(1);
        let mut filter = Self { blocks: vec![0; blocks], probes: probes(bits) };
        for hash in hashes {
            for bit in places(*hash, filter.probes, blocks as u64 * 64) {
                filter.blocks[bit / 64] |= 1 << (bit % 64);
            }
        }
        filter
    }

    /// Returns the filter stored in `bytes`.
    pub(super) fn parse(bytes: &[u8], bits: u32) -> Option<Self> {
        let blocks: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| word.first_chunk().map(|word| u64::from_le_bytes(*word)))
            .collect::<Option<_>>()?;
        (!blocks.is_empty()).then_some(Self { blocks, probes: probes(bits) })
    }

    /// Returns the filter's stored form.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.blocks.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Returns whether the hash may be that of a key in the set.
    pub(super) fn may_hold(&self, hash: u64) -> bool {
        let bits = self.blocks.len() as u64 * 64;
        places(hash, self.probes, bits).all(|bit| self.blocks[bit / 64] & (1 << (bit % 64)) != 0)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a small number")]
#[expect(clippy::cast_sign_loss, reason = "a positive number")]
fn probes(bits: u32) -> u32 {
    (f64::from(bits) * PROBES_PER_BIT).round().max(1.0) as u32
}

#[expect(clippy::cast_possible_truncation, reason = "below the bits of a filter in memory")]
fn places(hash: u64, probes: u32, bits: u64) -> impl Iterator<Item = usize> {
    let step = hash.rotate_left(32) | 1;
    (0..u64::from(probes)).map(move |probe| {
        let place = hash.wrapping_add(probe.wrapping_mul(step));
        // A multiplication instead of a division: the upper bits choose.
        ((u128::from(place) * u128::from(bits)) >> 64) as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_and_one_in_a_hundred_others() {
        let key = |number: u32| hash(format!("key-{number}").as_bytes());
        let hashes: Vec<_> = (0..10_000).map(key).collect();
        let filter = Bloom::parse(&Bloom::new(&hashes, 10).bytes(), 10).unwrap();
        assert!(hashes.iter().all(|hash| filter.may_hold(*hash)));
        let others = (10_000..20_000).filter(|number| filter.may_hold(key(*number))).count();
        // 0.82 % by Bloom's formula at 10 bits and 7 probes.
        assert!((40..160).contains(&others), "{others}");
    }
}
