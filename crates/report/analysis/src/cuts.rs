//! What simulated crashes show of a store, with intervals.

use model::{AfterCut, CutCampaign, CutKind, CutRecord, Durability, Nanos, float};
use serde::Serialize;
use stats::rank;
use stats::sample::{Estimate, median};

/// Confidence of every interval.
const LEVEL: f64 = 0.95;

/// What a store lost in its cuts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "lost", rename_all = "snake_case")]
pub enum Lost {
    /// Nothing.
    Nothing {
        /// Largest share of losing cuts that is compatible with it, at 95 %.
        below: f64,
    },
    /// A limited time of acknowledged changes.
    Window {
        /// The longest, ns.
        longest: Nanos,
        /// The median over losing cuts, ns; its interval takes six cuts.
        median: Option<Estimate>,
        /// Most acknowledged changes of one cut.
        most: u64,
    },
    /// Everything since the last sync, in a kill everything that the process had in memory: the
    /// engine limits the loss by no time.
    Everything,
    /// The store did not open, or only damage was found.
    Damage,
}

/// The cuts of one campaign, summed up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CutSummary {
    /// The variant's name.
    pub variant: String,
    /// Engine and version.
    pub engine: String,
    /// The class that the variant claims.
    pub claimed: Durability,
    /// How the crashes were made.
    pub kind: CutKind,
    /// Cuts made.
    pub cuts: usize,
    /// Cuts that lost acknowledged changes, or the store.
    pub losing: usize,
    /// Cuts after which the store did not open.
    pub refused: usize,
    /// Cuts after which the store opened without some acknowledged changes.
    pub lacking: usize,
    /// Cuts after which a change was missing although a later one of its client was there.
    pub gaps: usize,
    /// Cuts with damaged values.
    pub torn: usize,
    /// Cuts with deleted rows that were there again.
    pub resurrected: usize,
    /// Cuts with values that no client had written.
    pub never_written: usize,
    /// What was lost.
    pub lost: Lost,
    /// Median time from the start until the store had opened, ns.
    pub recovery: Option<f64>,
    /// Whether the class that the variant claims was not had.
    pub breaks_claim: bool,
    /// The cut that lost after the fewest acknowledged writes, if one lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest: Option<SmallestLoss>,
}

/// What makes a losing cut again, with the variant and the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SmallestLoss {
    /// Number of the cut.
    pub cut: u32,
    /// Seed of the campaign.
    pub seed: u64,
    /// Clients of the load.
    pub clients: u32,
}

/// Returns the cut that lost after the fewest acknowledged writes, if one lost.
pub fn smallest_loss(campaign: &CutCampaign) -> Option<&CutRecord> {
    campaign.cuts.iter().filter(|cut| cut.has_lost()).min_by_key(|cut| cut.acknowledged)
}

/// Returns the largest share of losing cuts that is compatible with none among so many, at 95 %.
///
/// Source: [Clopper Pearson 1934], the one-sided limit without an event.
pub fn bound_without_loss(cuts: usize) -> f64 {
    1.0 - (1.0 - LEVEL).powf(1.0 / float(cuts.max(1)))
}

/// Sums up the cuts of a campaign.
pub fn cut_summary(campaign: &CutCampaign) -> CutSummary {
    let losses = || campaign.cuts.iter().filter_map(CutRecord::losses);
    let count =
        |is_counted: &dyn Fn(&model::Losses) -> bool| losses().filter(|it| is_counted(it)).count();
    let recovery = |cut: &CutRecord| match &cut.after {
        AfterCut::Opened { recovery, .. } => Some(float(recovery.0)),
        AfterCut::Refused { .. } => None,
    };
    let recoveries: Vec<f64> = campaign.cuts.iter().filter_map(recovery).collect();
    CutSummary {
        variant: campaign.variant.clone(),
        engine: campaign.engine.clone(),
        claimed: campaign.claimed,
        kind: campaign.kind,
        cuts: campaign.cuts.len(),
        losing: campaign.losing(),
        refused: campaign.cuts.len() - recoveries.len(),
        lacking: count(&|it| it.lost > 0),
        gaps: count(&|it| it.gaps > 0),
        torn: count(&|it| it.torn > 0),
        resurrected: count(&|it| it.resurrected > 0),
        never_written: count(&|it| it.never_written > 0),
        lost: lost(campaign),
        recovery: median(&recoveries),
        breaks_claim: campaign.breaks_claim(),
        smallest: smallest_loss(campaign).map(|cut| SmallestLoss {
            cut: cut.number,
            seed: campaign.seed,
            clients: campaign.clients,
        }),
    }
}

fn lost(campaign: &CutCampaign) -> Lost {
    if campaign.losing() == 0 {
        return Lost::Nothing { below: bound_without_loss(campaign.cuts.len()) };
    }
    if campaign.is_unbounded() {
        return Lost::Everything;
    }
    let losses = || campaign.cuts.iter().filter_map(CutRecord::losses);
    let windows: Vec<Nanos> = losses().filter_map(|it| it.window).collect();
    let Some(longest) = windows.iter().max().copied() else { return Lost::Damage };
    let windows: Vec<f64> = windows.iter().map(|window| float(window.0)).collect();
    let most = losses().map(|it| it.lost).max().unwrap_or_default();
    Lost::Window { longest, median: rank::median(&windows, LEVEL), most }
}

#[cfg(test)]
mod tests {
    use model::{CutLevel, Losses};

    use super::*;

    fn campaign(windows: &[u64], is_everything: bool) -> CutCampaign {
        let cut = |window: &u64| CutRecord {
            number: 0,
            load: Nanos::from_millis(500),
            acknowledged: 100,
            syncs: Some(1),
            after: AfterCut::Opened {
                recovery: Nanos::from_millis(3),
                losses: Losses {
                    lost: *window,
                    window: (*window > 0).then(|| Nanos::from_millis(*window)),
                    is_everything,
                    ..Losses::default()
                },
            },
            is_after_recovery: false,
            forgotten: Vec::new(),
        };
        CutCampaign {
            variant: "a".to_owned(),
            engine: "a 1".to_owned(),
            claimed: Durability::Sync,
            kind: CutKind::at(CutLevel::File),
            clients: 1,
            seed: 1,
            cuts: windows.iter().map(cut).collect(),
            calibrators: Vec::new(),
        }
    }

    #[test]
    fn a_hundred_cuts_without_a_loss_bound_it_below_three_percent() {
        let summary = cut_summary(&campaign(&[0; 100], false));
        let Lost::Nothing { below } = summary.lost else { panic!("{summary:?}") };
        assert!((below - 0.0295).abs() < 1e-4, "{below}");
        assert!(!summary.breaks_claim && summary.losing == 0);
        assert!((bound_without_loss(10) - 0.259).abs() < 1e-3);
    }

    #[test]
    fn losses_have_a_longest_window_and_a_median_with_its_interval() {
        let summary = cut_summary(&campaign(&[10, 20, 30, 40, 50, 60, 0], false));
        let Lost::Window { longest, median, most } = summary.lost else { panic!("{summary:?}") };
        assert_eq!((longest, most, summary.losing), (Nanos::from_millis(60), 60, 6));
        assert_eq!(summary.lacking, 6);
        assert_eq!(median.map(|it| it.value), Some(35e6));
        assert!(summary.breaks_claim);
    }

    #[test]
    fn a_store_that_loses_everything_has_no_window_of_the_run_s_length() {
        for level in [CutLevel::File, CutLevel::Process] {
            let mut whole = campaign(&[500, 300, 400], true);
            whole.kind.level = level;
            assert_eq!(cut_summary(&whole).lost, Lost::Everything);
        }
    }
}
