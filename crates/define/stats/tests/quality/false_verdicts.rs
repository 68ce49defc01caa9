//! At most 5 % of campaigns without a difference report one.

use stats::family::benjamini_hochberg;
use stats::prior::fit;
use stats::testing::{Noise, cases};
use stats::{CellVariance, Effect, Verdict, classify_difference};

use crate::world::{
    Cell, SHAPES, Shape, Share, design, is_significant, noise_history, sigma_near, simulate,
    stream, typical_sigma,
};

/// Source of a campaign's noise estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// The runs of each comparison.
    Alone,
    /// These, and all cells of the campaign.
    Campaign,
    /// These, and forty cells of earlier campaigns.
    NoiseHistory,
    /// The blocks of each comparison, which share half the variance.
    Blocks,
}

const KNOWN: [Known; 4] = [Known::Alone, Known::Campaign, Known::NoiseHistory, Known::Blocks];

const MARGIN: f64 = 0.02;

/// The verdicts of a campaign.
struct Campaign {
    comparisons: usize,
    /// Differences reported when each comparison is its own family.
    alone: usize,
    /// Differences reported after adjustment for the family.
    together: usize,
}

/// Returns the runs of a base and some variants in some steps, without any difference.
fn samples(shape: Shape, known: Known, typical: f64, noise: &mut Noise) -> Vec<Vec<Vec<f64>>> {
    let mut between = |low: f64, high: f64| low + (noise.uniform() * (high - low + 1.0)).floor();
    let (steps, variants) = (between(4.0, 12.0) as usize, between(1.0, 3.0) as usize);
    let runs = between(2.0, 10.0) as usize;
    let mut of_step = |_| {
        let cell = Cell { level: 1e4, sigma: sigma_near(typical, noise), shape };
        if known != Known::Blocks {
            return (0..=variants).map(|_| cell.runs(runs, noise)).collect();
        }
        let own = Cell { sigma: cell.sigma * 0.5_f64.sqrt(), ..cell };
        let blocks: Vec<f64> = (0..runs).map(|_| (own.sigma * noise.normal()).exp()).collect();
        let run = |block: &f64, noise: &mut Noise| own.run(noise) * block;
        (0..=variants).map(|_| blocks.iter().map(|block| run(block, noise)).collect()).collect()
    };
    (0..steps).map(&mut of_step).collect()
}

fn campaign(seed: u64, shape: Shape, known: Known) -> Campaign {
    let mut noise = stream(1, seed);
    let typical = typical_sigma(&mut noise);
    let samples = samples(shape, known, typical, &mut noise);
    let of_step = |samples: &Vec<Vec<f64>>| {
        samples.iter().filter_map(|runs| CellVariance::of(runs)).reduce(CellVariance::pooled)
    };
    let mut cells: Vec<CellVariance> = samples.iter().filter_map(of_step).collect();
    let prior = match known {
        Known::Alone | Known::Blocks => None,
        Known::Campaign => fit(&cells),
        Known::NoiseHistory => {
            cells.extend(noise_history(typical, shape, &mut noise));
            fit(&cells)
        }
    };
    let design = design(MARGIN, prior.as_ref(), known == Known::Blocks);
    let of_step = |samples: &Vec<Vec<f64>>| {
        let others = samples[1..].iter();
        others
            .map(|runs| classify_difference(&samples[0], runs, &design).unwrap())
            .collect::<Vec<_>>()
    };
    let mut effects: Vec<Effect> = samples.iter().flat_map(of_step).collect();
    let alone = effects.iter().filter(|effect| is_significant(effect)).count();
    let p_values: Vec<f64> = effects.iter().map(|effect| effect.p.unwrap()).collect();
    for (effect, q) in effects.iter_mut().zip(benjamini_hochberg(&p_values)) {
        effect.adjust(q, MARGIN);
    }
    let together = effects.iter().filter(|effect| is_significant(effect)).count();
    Campaign { comparisons: effects.len(), alone, together }
}

/// Goal: among identical variants a difference is seldom reported.
///
/// Method: campaigns of 4 to 12 steps, 1 to 3 variants next to the base and 2 to 10 runs, with run
/// CoVs from 0.5 to 5 % that differ from step to step. The limit is per campaign, because a report
/// shows all its verdicts together. A single comparison reports a difference in one case of twenty,
/// as 95 % intervals do.
#[test]
fn campaign_without_a_difference_seldom_reports_one() {
    let campaigns = cases(1_000, 3_000);
    println!("False verdicts, {campaigns} campaigns a row");
    println!("| noise | its variance from | comparison alone | in its family | campaign |");
    for shape in SHAPES {
        for known in KNOWN {
            let all = simulate(campaigns, |seed| campaign(seed, shape, known));
            let comparisons = all.iter().map(|one| one.comparisons).sum();
            let alone = Share::of(all.iter().map(|one| one.alone).sum(), comparisons);
            let together = Share::of(all.iter().map(|one| one.together).sum(), comparisons);
            let any = all.iter().filter(|one| one.together > 0).count();
            let campaign = Share::of(any, all.len());
            println!(
                "| {} | {known:?} | {:.2} % | {:.2} % | {:.2} % +- {:.2} |",
                shape.name(),
                alone.percent(),
                together.percent(),
                campaign.percent(),
                200.0 * campaign.error
            );
            assert!(campaign.value <= 0.05, "{shape:?} {known:?}: {campaign:?}");
            assert!(alone.value <= 0.055, "{shape:?} {known:?}: {alone:?}");
        }
    }
}

/// Goal: variants that differ by exactly the margin are seldom equivalent.
///
/// Method: noise small enough that equivalence is often established where there is no difference.
#[test]
fn difference_of_the_margin_is_seldom_equivalent() {
    let comparisons = cases(1_000, 4_000);
    println!("Called equivalent at a margin of 2 %, {comparisons} comparisons a figure");
    println!("| noise | runs | no difference | a difference of 2 % |");
    for shape in SHAPES {
        for runs in [3, 5, 8, 12] {
            let equivalent = |by: f64| {
                let cases = simulate(comparisons, |seed| {
                    let mut noise = stream(2, seed);
                    let cell = Cell { level: 1.0, sigma: 0.008, shape };
                    let (base, other) = cell.both(runs, by, false, &mut noise);
                    let effect =
                        classify_difference(&base, &other, &design(MARGIN, None, false)).unwrap();
                    effect.verdict == Verdict::Equivalent
                });
                Share::of_true(&cases)
            };
            let (same, apart) = (equivalent(0.0), equivalent(MARGIN.ln_1p()));
            let name = shape.name();
            println!("| {name} | {runs} | {:.1} % | {:.1} % |", same.percent(), apart.percent());
            assert!(apart.value <= 0.05 + 2.0 * apart.error, "{shape:?} {runs}: {apart:?}");
        }
    }
}
