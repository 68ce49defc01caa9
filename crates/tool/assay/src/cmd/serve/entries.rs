//! The list of the archive, with labels that are found as far as time allows.

use archive::{ExperimentDir, ExperimentSummary, HeldLocks, Results, parallel_map};
use load::{Clock as _, SteadyClock};
use model::Nanos;
use render::site::ArchiveEntry;

use crate::cmd::analyzed::classified;
use crate::cmd::fresh_set::FreshSet;
use crate::ui::Ui;

/// Time for labels that no page has needed yet: the next page finds the next ones.
pub(super) const CLASSIFY_NS: Nanos = Nanos(60_000_000);

/// Returns every experiment that can be read, the newest first; labels as far as time allows.
pub(super) fn entries(results: &Results, time: Nanos, ui: &Ui) -> Vec<ArchiveEntry> {
    let locks = HeldLocks::read();
    let dirs = results.newest();
    let known = FreshSet::of(results, &dirs, ui).summaries();
    let summaries = parallel_map(&dirs, |dir| dir.summary_of(&known).ok());
    let clock = SteadyClock::kernel();
    let begun = clock.now();
    let entry = |(dir, summary): (&ExperimentDir, Option<ExperimentSummary>)| {
        let summary = summary?;
        let is_running = locks.writer(dir).is_some();
        let may_classify = !is_running && clock.now().since(begun) < time;
        let classified = if may_classify { classified(results, dir).ok() } else { None };
        Some(ArchiveEntry {
            label: classified.as_ref().map(|it| it.label),
            answer: classified.map(|it| it.answer).unwrap_or_default(),
            name: summary.name,
            id: summary.id,
            question: summary.question,
            created_at: summary.created_at,
            builds: summary.builds,
            steps: summary.steps,
            host: summary.host,
            cells: summary.cells,
            complete: summary.complete,
            is_running,
        })
    };
    dirs.iter().zip(summaries).filter_map(entry).collect()
}
