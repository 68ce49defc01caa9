//! Known stores, cut before any verdict.
//!
//! A cut that is too weak acquits every engine, and one that is too strong convicts every engine.
//! So a store that loses must be convicted, and one that loses nothing acquitted, by the same cuts.

use model::{
    AfterCut, BuildRef, Calibrator, CutFileSystem, CutKind, CutLevel, Durability, Settings, Variant,
};

use crate::campaign::{CampaignRequest, Conditions, run_campaign};
use crate::error::CutError;

/// Most cuts of a store that loses: each loses with a chance of 65 % at least, so that all of them
/// lose nothing in one of 10^9 campaigns.
///
/// Source: our measurements: 13 of 20 cuts with SQLite and with LMDB lost one commit.
const LOSING_CUTS: u32 = 20;
/// Cuts of a store that loses nothing.
const SOUND_CUTS: u32 = 5;

/// A store whose behaviour is known.
struct Known {
    engine: &'static str,
    durability: Durability,
    options: &'static [(&'static str, &'static str)],
    /// File system below it, at the level of blocks.
    file_system: Option<CutFileSystem>,
    loses: bool,
}

const fn known(engine: &'static str, durability: Durability, loses: bool) -> Known {
    Known { engine, durability, options: &[], file_system: None, loses }
}

/// Stores for process kills: `memory` writes nothing before its close in the class `none`.
const OF_PROCESSES: &[Known] =
    &[known("memory", Durability::None, true), known("memory", Durability::Os, false)];

/// Stores for power cuts.
///
/// SQLite with a rollback journal does not sync the unlink that commits;
/// LMDB with `MDB_NOMETASYNC` does not sync the page that commits.
const OF_POWER: &[Known] = &[
    Known {
        engine: "sqlite",
        durability: Durability::Os,
        options: &[("journal_mode", "delete"), ("synchronous", "full")],
        file_system: None,
        loses: true,
    },
    Known {
        engine: "lmdb",
        durability: Durability::Os,
        options: &[("MDB_NOSYNC", "false"), ("MDB_NOMETASYNC", "true")],
        file_system: None,
        loses: true,
    },
    known("memory", Durability::Os, true),
    known("sqlite", Durability::Sync, false),
    known("lmdb", Durability::Sync, false),
];

/// Stores for power cuts of a disk: a file system that flushes no disk loses what engines sync.
const OF_BLOCKS: &[Known] = &[
    Known {
        file_system: Some(CutFileSystem::Ext4Nobarrier),
        ..known("sqlite", Durability::Sync, true)
    },
    Known { file_system: Some(CutFileSystem::Ext4), ..known("sqlite", Durability::Sync, false) },
    Known { file_system: Some(CutFileSystem::Ext4), ..known("lmdb", Durability::Sync, false) },
];

/// Cuts the known stores of a kind of cut; returns how each behaved.
///
/// # Errors
/// [`CutError::Calibration`] when one did not behave as is known.
pub fn calibrate(
    level: CutLevel,
    seed: u64,
    conditions: &Conditions<'_>,
) -> Result<Vec<Calibrator>, CutError> {
    let stores = match level {
        CutLevel::Process => OF_PROCESSES,
        CutLevel::File => OF_POWER,
        CutLevel::Block => OF_BLOCKS,
    };
    let mut calibrators = Vec::new();
    for store in stores {
        let calibrator = store.cut(level, seed, conditions)?;
        if (conditions.is_cancelled)() {
            break;
        }
        if !calibrator.is_as_known() {
            let Calibrator { store, loses, cuts, losing } = calibrator;
            let expected = if loses { "at least one" } else { "none" };
            let reason = format!("{store} lost changes in {losing} of {cuts} cuts, not {expected}");
            return Err(CutError::Calibration(level, reason));
        }
        calibrators.push(calibrator);
    }
    Ok(calibrators)
}

impl Known {
    fn cut(
        &self,
        level: CutLevel,
        seed: u64,
        conditions: &Conditions<'_>,
    ) -> Result<Calibrator, CutError> {
        let variant = Variant {
            name: "calibrator".to_owned(),
            build: BuildRef { engine: self.engine.to_owned(), version: None },
            profile: None,
            options: self.options.iter().copied().collect(),
            settings: Settings { durability: self.durability, ..Settings::default() },
            dsn: None,
            is_control: false,
        };
        let cuts = if self.loses { LOSING_CUTS } else { SOUND_CUTS };
        let kind = CutKind { file_system: self.file_system, ..CutKind::at(level) };
        let request = CampaignRequest {
            variant: &variant,
            library: None,
            kind,
            clients: 1,
            seed,
            numbers: 0..cuts,
        };
        let mut goes_on = |cut: &model::CutRecord| !(self.loses && cut.has_lost());
        let mut campaign = request.begun();
        run_campaign(&request, conditions, &mut campaign, &mut goes_on).map_err(|error| {
            let reason = format!("{} (class {}): {error}", self.engine, self.durability);
            CutError::Calibration(level, reason)
        })?;
        let refused = campaign.cuts.iter().find_map(|cut| match &cut.after {
            AfterCut::Refused { reason } if !self.loses => Some(reason),
            AfterCut::Refused { .. } | AfterCut::Opened { .. } => None,
        });
        if let Some(reason) = refused {
            let reason = format!("{} cannot be opened: {reason}", campaign.engine);
            return Err(CutError::Calibration(level, reason));
        }
        let options = self.options.iter().map(|(name, value)| format!(" {name}={value}"));
        let options: String = options.collect();
        let on = self.file_system.map(|one| format!(" on {one}")).unwrap_or_default();
        Ok(Calibrator {
            store: format!("{} (class {}){options}{on}", campaign.engine, self.durability),
            loses: self.loses,
            cuts: u32::try_from(campaign.cuts.len()).unwrap_or(u32::MAX),
            losing: u32::try_from(campaign.losing()).unwrap_or(u32::MAX),
        })
    }
}
