//! How often a search puts up with a client that was late.

/// Probes that said nothing because the client was late.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Voids {
    /// In the whole search.
    total: u32,
    /// One after the other, of the same probe.
    in_a_row: u32,
}

/// What to do after one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Ask for the same again.
    Again,
    /// Ask for something else: this cannot be offered here.
    Elsewhere,
    /// End: there were too many.
    Over,
}

/// Times that the same probe is asked for again.
const MOST_REPEATS: u32 = 2;
/// Probes in the whole search after which it ends: three that had to be given up, or a host that
/// is never quiet.
const MOST_IN_ALL: u32 = 9;

impl Voids {
    /// Takes one more, and returns what to do.
    pub(crate) fn one_more(&mut self) -> Patience {
        self.total += 1;
        self.in_a_row += 1;
        if self.total >= MOST_IN_ALL {
            return Patience::Over;
        }
        if self.in_a_row <= MOST_REPEATS {
            return Patience::Again;
        }
        self.in_a_row = 0;
        Patience::Elsewhere
    }

    /// Takes a probe that said something.
    pub(crate) fn none(&mut self) {
        self.in_a_row = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_repeated_twice_and_a_search_ends_at_the_ninth() {
        let mut voids = Voids::default();
        let seen: Vec<Patience> = (0..9).map(|_| voids.one_more()).collect();
        let three = [Patience::Again, Patience::Again, Patience::Elsewhere];
        assert_eq!(seen[..3], three);
        assert_eq!(seen[3..6], three);
        assert_eq!(seen[8], Patience::Over);
    }

    #[test]
    fn a_good_probe_makes_the_next_one_worth_repeating() {
        let mut voids = Voids::default();
        for _ in 0..4 {
            assert_eq!([voids.one_more(), voids.one_more()], [Patience::Again; 2]);
            voids.none();
        }
        assert_eq!(voids.one_more(), Patience::Over);
    }
}
