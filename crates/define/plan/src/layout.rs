//! Balanced run order: ABBA blocks and Williams squares, and the seeds they are drawn from.

use model::{Cell, Experiment};

/// Returns the order of `items` treatments in each repetition.
///
/// Two treatments are run as ABBA or BAAB over each pair of repetitions. More of them follow the
/// rows of a Williams square: over a whole square each is once in every position and once right
/// after every other; an odd number needs two squares for that, and each then does so twice. Each
/// row is followed by its mirror image, so that over every pair of repetitions a linear drift of
/// the machine affects all equally, as in ABBA, which is the square of two. Labels and order of the
/// row pairs are randomised for each square.
///
/// The first repetitions do not depend on how many follow, so a plan can be extended.
///
/// Source: [Williams 1949]. Our choice: the mirrored pairs, which cancel linear drift exactly.
pub(crate) fn orders(items: usize, repetitions: u32, seed: u64) -> Vec<Vec<usize>> {
    let rows = |square: u64| square_of(items, mix(seed ^ mix(square)));
    (0_u64..).flat_map(rows).take(repetitions as usize).collect()
}

/// Returns the runs of every repetition, in order.
///
/// Levels have a layout of their own, and the variants another within each level: variants that are
/// compared run next to each other.
pub(crate) fn cells(experiment: &Experiment) -> Vec<Cell> {
    let Experiment { clients, variants, repetitions, seed, .. } = experiment;
    let by_level = orders(clients.len(), *repetitions, mix(*seed));
    let of_variants =
        |level: &u32| orders(variants.len(), *repetitions, mix(*seed ^ mix(u64::from(*level))));
    let by_variant: Vec<_> = clients.iter().map(of_variants).collect();
    let mut cells = Vec::new();
    for (repetition, levels) in (1..).zip(by_level) {
        // All runs of a repetition have the same keys and the same arrivals.
        let seed = mix(seed ^ mix(u64::from(repetition)));
        for level in levels {
            let order = &by_variant[level][repetition as usize - 1];
            cells.extend(order.iter().map(|variant| {
                let (variant, clients) = (&variants[*variant].name, clients[level]);
                let id = format!("{variant}.c{clients}.r{repetition}");
                Cell { id, variant: variant.clone(), clients, repetition, seed }
            }));
        }
    }
    cells
}

/// Returns the repetitions of a complete layout of that many treatments.
pub(crate) const fn whole_after(items: usize) -> usize {
    match items {
        0 | 1 => 1,
        even if even % 2 == 0 => even,
        odd => 2 * odd,
    }
}

/// Describes the layout of so many treatments and repetitions.
pub(crate) fn phrase(items: usize, repetitions: u32) -> String {
    match items {
        0 | 1 => "one after the other".to_owned(),
        2 => "interleaved as ABBA or BAAB".to_owned(),
        _ => {
            let whole = whole_after(items);
            let rest = repetitions as usize % whole;
            let squares =
                if items.is_multiple_of(2) { "a Williams square" } else { "two Williams squares" };
            let part = if rest == 0 { String::new() } else { format!(", whole after {whole}") };
            format!("interleaved by rows of {squares}{part}")
        }
    }
}

/// Returns the rows of one square in mirrored pairs, randomised from the seed.
fn square_of(items: usize, seed: u64) -> Vec<Vec<usize>> {
    if items < 2 {
        return vec![(0..items).collect()];
    }
    let mut labels: Vec<usize> = (0..items).collect();
    shuffle(&mut labels, mix(seed ^ 1));
    // For an even number, a row's mirror image is the row half a square further. For an odd number,
    // the mirror images make up the second square.
    let pairs = if items.is_multiple_of(2) { items / 2 } else { items };
    let mut shifts: Vec<usize> = (0..pairs).collect();
    shuffle(&mut shifts, mix(seed ^ 2));
    let row = |shift: usize| -> Vec<usize> {
        (0..items).map(|position| labels[(zigzag(items, position) + shift) % items]).collect()
    };
    let mirrored = |(nth, shift): (u64, usize)| {
        let mut pair = [row(shift), row(shift).into_iter().rev().collect()];
        shuffle(&mut pair, mix(seed ^ (3 + nth)));
        pair
    };
    (0..).zip(shifts).flat_map(mirrored).collect()
}

/// Returns 0, 1, n - 1, 2, n - 2 ...: neighbours differ by every amount once, if n is even.
const fn zigzag(items: usize, position: usize) -> usize {
    match position {
        0 => 0,
        odd if odd % 2 == 1 => odd.div_ceil(2),
        even => items - even / 2,
    }
}

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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// Counts by pair.
    type Counts = BTreeMap<(usize, usize), u32>;

    /// Counts how often each treatment is in each position, and right after each other.
    fn counted(rows: &[Vec<usize>]) -> (Counts, Counts) {
        let (mut places, mut neighbours) = (BTreeMap::new(), BTreeMap::new());
        for row in rows {
            for (place, thing) in row.iter().enumerate() {
                *places.entry((place, *thing)).or_default() += 1;
            }
            for pair in row.windows(2) {
                *neighbours.entry((pair[0], pair[1])).or_default() += 1;
            }
        }
        (places, neighbours)
    }

    proptest! {
        #[test]
        fn whole_squares_balance_places_and_neighbours(items in 2_usize..12, seed: u64) {
            let whole = whole_after(items);
            let rows = orders(items, 3 * u32::try_from(whole).unwrap(), seed);
            prop_assert_eq!(rows.len(), 3 * whole);
            for square in rows.chunks(whole) {
                let (places, neighbours) = counted(square);
                let each = u32::try_from(whole / items).unwrap();
                prop_assert_eq!(places.len(), items * items);
                prop_assert!(places.values().all(|count| *count == each), "{:?}", places);
                prop_assert_eq!(neighbours.len(), items * (items - 1));
                prop_assert!(neighbours.values().all(|count| *count == each), "{:?}", neighbours);
            }
        }

        #[test]
        fn every_pair_of_repetitions_cancels_linear_drift(items in 1_usize..12, seed: u64) {
            let rows = orders(items, 12, seed);
            prop_assert_eq!(rows.len(), 12);
            for pair in rows.chunks(2) {
                let mut sums = vec![0; items];
                for (slot, thing) in pair.concat().into_iter().enumerate() {
                    sums[thing] += slot;
                }
                prop_assert!(sums.iter().all(|sum| *sum == 2 * items - 1), "{:?}", pair);
            }
        }

        #[test]
        fn more_repetitions_do_not_change_the_first(
            items in 1_usize..12, few in 0_u32..30, more in 0_u32..30, seed: u64
        ) {
            let all = orders(items, few + more, seed);
            prop_assert_eq!(&all[..few as usize], &orders(items, few, seed)[..]);
            prop_assert_eq!(all.len(), (few + more) as usize);
        }
    }

    #[test]
    fn two_treatments_are_abba_or_baab_equally_often() {
        let mut counts = BTreeMap::<Vec<usize>, u32>::new();
        for seed in 0..1000 {
            *counts.entry(orders(2, 2, seed).concat()).or_default() += 1;
        }
        let kinds: BTreeSet<_> = counts.keys().cloned().collect();
        assert_eq!(kinds, BTreeSet::from([vec![0, 1, 1, 0], vec![1, 0, 0, 1]]));
        // 500 expected, standard deviation 15.8: five of them.
        assert!(counts.values().all(|count| (421..580).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_square_of_four_is_williams_example() {
        let rows: Vec<Vec<usize>> =
            (0..4).map(|shift| (0..4).map(|at| (zigzag(4, at) + shift) % 4).collect()).collect();
        // A B D C, B C A D, C D B A, D A C B: the textbook example of the design.
        assert_eq!(rows, [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]);
    }

    #[test]
    fn squares_differ_from_each_other() {
        let rows = orders(4, 80, 7);
        let squares: BTreeSet<_> = rows.chunks(4).collect();
        assert!(squares.len() > 8, "{}", squares.len());
    }

    #[test]
    fn a_layout_is_described() {
        assert_eq!(phrase(1, 3), "one after the other");
        assert_eq!(phrase(2, 3), "interleaved as ABBA or BAAB");
        assert_eq!(phrase(8, 3), "interleaved by rows of a Williams square, whole after 8");
        assert_eq!(phrase(3, 12), "interleaved by rows of two Williams squares");
    }
}
