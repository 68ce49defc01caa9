//! The events of finished runs in the order of their time, made from the files of the experiment.

use archive::HeldLocks;
use model::Nanos;
use model::record::RunEnd;
use runner::time_between;
use serve::{Event, Feed as _};

use super::feed::RunFeed;

/// Most verdicts of a replay. Our choice: each compares all runs so far, which takes 0.1 s.
const VERDICTS_MAX: usize = 30;

/// The events so far, and the time that they have reached.
struct Recording<'a> {
    /// When the first run began.
    begin: &'a str,
    now_s: f64,
    events: Vec<String>,
}

impl Recording<'_> {
    /// Advances to a stamp. A clock that was set back does not move events back.
    fn advance(&mut self, stamp: &str) {
        let since = time_between(self.begin, stamp);
        self.now_s = since.map_or(self.now_s, |since| self.now_s.max(since.as_secs_f64()));
    }

    fn push(&mut self, event: impl Into<Option<Event>>) {
        let Some(Event { kind, data }) = event.into() else { return };
        let at_s = self.now_s;
        self.events.push(format!(r#"{{"at_s":{at_s},"kind":"{kind}","data":{data}}}"#));
    }
}

impl RunFeed {
    /// Returns the events of all finished runs as a JSON array, from a feed before its runs.
    ///
    /// Times count from the begin of the first run. A step begins when the record states, or after
    /// the step before it; the probes of a search follow one another. An experiment of up to 30
    /// runs has a verdict after each run, a larger one after every n-th run and after the last.
    pub(super) fn replay(mut self) -> String {
        let is_written = HeldLocks::read().writer(self.dir()).is_some();
        let runs = self.dir().each_run(&self.manifest);
        let mut runs: Vec<_> = runs.into_iter().flatten().collect();
        runs.retain(|run| !is_written || run.end != RunEnd::Running);
        runs.sort_by(|a, b| a.started_at.cmp(&b.started_at));
        let begin = runs.first().map_or("", |run| &run.started_at);
        let mut recording = Recording { begin, now_s: 0.0, events: Vec::new() };
        self.follow_progress();
        recording.push(self.snapshot());
        for (number, run) in (1..).zip(&runs) {
            recording.advance(&run.started_at);
            self.begin_run(&run.cell.id);
            recording.push(self.follow_progress());
            let mut begin_s = recording.now_s;
            for interval in self.dir().intervals(&run.cell.id).unwrap_or_default() {
                if interval.start_ns == Nanos(0) {
                    let step = run.steps.iter().find(|step| step.index == interval.step_index);
                    recording.advance(step.map_or("", |step| &step.started_at));
                    begin_s = recording.now_s;
                }
                let end_s = begin_s + interval.start_ns.after(interval.length_ns).as_secs_f64();
                recording.now_s = recording.now_s.max(end_s);
                recording.push(self.follow_second(&interval));
                recording.push(self.follow_progress());
            }
            recording.advance(run.ended_at.as_deref().unwrap_or_default());
            recording.push(self.end_run(run));
            recording.push(self.follow_progress());
            if number % runs.len().div_ceil(VERDICTS_MAX) == 0 || number == runs.len() {
                recording.push(self.follow_verdict());
            }
        }
        format!("[{}]", recording.events.join(",\n"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn time_counts_from_the_first_run_and_never_goes_back() {
        let begin = "2026-01-01T00:00:00.000Z";
        let mut recording = Recording { begin, now_s: 0.0, events: Vec::new() };
        let event = |data: usize| Event { kind: "run", data: data.to_string() };
        let stamps = ["2026-01-01T00:00:02.5Z", "2026-01-01T00:00:01Z", "2025-12-31T00:00:00Z", ""];
        for (place, stamp) in stamps.iter().enumerate() {
            recording.advance(stamp);
            recording.push(event(place));
        }
        recording.push(None);
        recording.advance("2026-01-02T00:00:00.5Z");
        recording.push(event(4));
        let read = |text: &String| serde_json::from_str::<Value>(text).unwrap();
        let events: Vec<Value> = recording.events.iter().map(read).collect();
        let times = [2.5, 2.5, 2.5, 2.5, 86_400.5];
        for (place, at_s) in times.into_iter().enumerate() {
            let wanted = json!({ "at_s": at_s, "kind": "run", "data": place });
            assert_eq!(events[place], wanted);
        }
        assert_eq!(events.len(), times.len());
    }
}
