//! Seeded shuffling.

/// Shuffles in place. Source: Fisher & Yates 1938; Durstenfeld 1964, Algorithm 235.
pub(crate) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..items.len()).rev() {
        state = mix(state);
        let bound = last as u64 + 1;
        // The bias of the remainder is below 2^-40 for any plan that passes CELLS_MAX.
        let pick = usize::try_from(state % bound).expect("below the length of a slice");
        items.swap(last, pick);
    }
}

/// Mixes 64 bits. Source: Steele, Lea & Flood 2014, `SplitMix64`.
pub(crate) const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
