//! Archives the histograms of intervals and steps.

use archive::{ArchiveError, HistogramPlace, Log, step_tag};
use fold::IntervalData;
use model::Nanos;
use model::validity::SearchRecord;

use super::supervise::Supervisor;
use crate::message::StepEnds;
use crate::tally::decode;

impl Supervisor<'_> {
    /// Archives the histograms of one interval.
    pub(super) fn keep_histograms(&mut self, recorded: &IntervalData) -> Result<(), ArchiveError> {
        let record = &recorded.record;
        let step = step_tag(record.step_index, &record.step, record.probe);
        let (start, length, is_warmup) = (record.start_ns, record.length_ns, record.is_warmup);
        for (group, kinds) in
            [("", &recorded.groups.clients), ("writer.", &recorded.groups.writers)]
        {
            for (kind, times) in kinds {
                let tag = format!("{step}.{group}{kind}");
                let place = HistogramPlace { tag: &tag, is_warmup, start, length };
                self.writer.append(Log::Response, &place, &times.response)?;
                self.writer.append(Log::Service, &place, &times.service)?;
            }
        }
        let Some(start_lag) = &recorded.start_lag else { return Ok(()) };
        let place = HistogramPlace { tag: &step, is_warmup, start, length };
        self.writer.append(Log::StartLag, &place, start_lag)
    }

    /// Archives the ages of arrivals that waited at the end of a step or of its confirming probe.
    pub(super) fn keep_censored(&mut self, ends: &StepEnds) -> Result<(), ArchiveError> {
        let Some(censored) = &ends.censored else { return Ok(()) };
        // A histogram that does not decode ends the run in `end_step`, with the reason.
        let Ok(ages) = decode(&censored.ages) else { return Ok(()) };
        let confirmed = ends.search.as_ref().and_then(SearchRecord::confirmed);
        let tag = step_tag(ends.index, &self.accumulator.step.name, confirmed.map(|of| of.number));
        let (start, length) = (ends.duration, Nanos(0));
        let place = HistogramPlace { tag: &tag, is_warmup: false, start, length };
        self.writer.append(Log::Censored, &place, &ages)
    }
}
