//! The client factor: levels as written, a sweep, or a search.

use model::CpuCount;
use model::limits::CLIENTS_MAX;
use reader::place::Place;

use crate::resolve::Resolver;
use crate::settings::CLIENTS;
use crate::spec::Section;
use crate::value::Levels;

/// Clients per CPU at the end of a sweep or search: beyond the knee of the throughput curve.
const CLIENTS_PER_CPU: u32 = 4;
/// Fewest levels of a sweep: a fit of the Universal Scalability Law needs six [Gunther 2007].
const SWEEP_LEVELS_MIN: usize = 6;
/// Lowest upper bound of a search.
const ADAPTIVE_MIN: u32 = 8;

/// The levels of the client factor, and their place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClientsFactor {
    /// The levels; for a search, the most clients to try.
    pub(crate) levels: Vec<u32>,
    /// Whether the best number is searched.
    pub(crate) is_adaptive: bool,
    /// Where it is written.
    pub(crate) place: Place,
}

/// Returns 1, 2, 3, 4, 6, 8, 12, 16 ... up to the most clients a step may have.
fn series() -> impl Iterator<Item = u32> {
    let doubled = (0..u32::BITS - 2).flat_map(|power| [2 << power, 3 << power]);
    [1].into_iter().chain(doubled).take_while(|clients| *clients <= CLIENTS_MAX)
}

/// Returns the levels of a sweep on that many CPUs.
pub(crate) fn sweep(cpus: CpuCount) -> Vec<u32> {
    let most = cpus.times(CLIENTS_PER_CPU);
    let wanted = |(index, clients): &(usize, u32)| *index < SWEEP_LEVELS_MIN || *clients <= most;
    series().enumerate().take_while(wanted).map(|(_, clients)| clients).collect()
}

/// Returns how many levels a complete search tries.
pub(crate) fn levels_up_to(most: u32) -> u64 {
    series().take_while(|clients| *clients <= most).count() as u64
}

impl Resolver<'_> {
    /// Returns the factor; one client by default, and no level where they are wrong.
    pub(crate) fn clients_factor(&self, factors: &Section) -> ClientsFactor {
        let most = self.machine.cpus.times(CLIENTS_PER_CPU);
        let levels = factors.value(CLIENTS);
        let is_adaptive = levels == Some(Levels::Adaptive);
        let levels = match levels {
            None if factors.may_have(CLIENTS) => Vec::new(),
            None => vec![1],
            Some(Levels::Listed(levels)) => levels,
            Some(Levels::Sweep) => sweep(self.machine.cpus),
            Some(Levels::Adaptive) => vec![most.clamp(ADAPTIVE_MIN, CLIENTS_MAX)],
        };
        ClientsFactor { levels, is_adaptive, place: factors.place_of(CLIENTS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::{checked, experiment};

    #[test]
    fn a_sweep_goes_beyond_the_cpus_and_has_six_levels_at_least() {
        let sweep_on = |cpus| sweep(CpuCount::of(cpus));
        assert_eq!(sweep_on(1), [1, 2, 3, 4, 6, 8]);
        assert_eq!(sweep_on(2), [1, 2, 3, 4, 6, 8]);
        assert_eq!(sweep_on(8), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]);
        // A quota of 350 % is more than three CPUs.
        assert_eq!(sweep(CpuCount::of_quota(350, 100)), [1, 2, 3, 4, 6, 8, 12]);
        assert_eq!(sweep(CpuCount::of_quota(400, 100)).last(), Some(&16));
        assert_eq!(sweep_on(u32::MAX).last(), Some(&CLIENTS_MAX));
        assert_eq!(levels_up_to(8), 6);
    }

    #[test]
    fn keywords_stand_for_levels() {
        let levels = |text: &str| {
            let factors = format!("\"tree\"\n[factors]\nclients = {text}");
            experiment("\"tree\"", &factors).clients
        };
        assert_eq!(levels("[2, 5]"), [2, 5]);
        assert_eq!(levels("\"sweep\""), sweep(CpuCount::of(8)));
        assert_eq!(levels("\"adaptive\""), [32]);
    }

    #[test]
    fn duplicate_levels_and_unknown_keywords_are_rejected() {
        let refused = |text: &str| {
            let factors = format!("\"tree\"\n[factors]\nclients = {text}");
            checked("\"tree\"", &factors).unwrap_err().to_string()
        };
        assert_eq!(refused("[2, 1, 2]"), "the factor `clients` has the level 2 twice");
        assert_eq!(refused("\"swep\""), "unknown levels of clients `swep`");
        assert!(refused("4").contains("\"sweep\" or \"adaptive\", found integer `4`"));
    }
}
