//! CPU profiles of one run: recorders, the spans of its steps, the stored stacks.

use std::path::{Path, PathBuf};

use archive::RunWriter;
use child::process_file;
use load::{Clock as _, SteadyClock};
use model::metric::{PROCESS_CPU_US, SERVER_CPU_US};
use model::profile::is_user_only;
use model::{Nanos, Profile, ProfileRecord, ProfileTarget, Readings, RunRecord, StepRecord};
use profiler::{Counters, Folded, Profiler, Recorder, refusal, storage_engine_share};

use super::data::RunData;
use super::hosting::Host;
use crate::error::RunnerError;

/// How the runs of an experiment are profiled.
#[derive(Debug, Clone)]
pub(super) struct Profiling {
    /// Samples the worker.
    pub(super) worker: Profiler,
    /// Samples a server.
    pub(super) server: Profiler,
}

impl Profiling {
    /// Returns how all targets are sampled alike.
    pub(super) fn with(profiler: Profiler) -> Self {
        Self { worker: profiler.clone(), server: profiler }
    }

    /// Returns what samples a target.
    pub(super) const fn of(&self, target: ProfileTarget) -> &Profiler {
        match target {
            ProfileTarget::Worker => &self.worker,
            ProfileTarget::Server => &self.server,
        }
    }

    /// Returns how earlier runs of an experiment were profiled, if any was.
    ///
    /// # Errors
    /// [`RunnerError::Profiler`] when perf is no longer there.
    pub(super) fn of_runs(runs: &[RunRecord]) -> Result<Option<Self>, RunnerError> {
        let all = || runs.iter().flat_map(|run| &run.steps).flat_map(|step| &step.profiles);
        let Some(first) = all().next() else { return Ok(None) };
        let of = |target| {
            let one = all().find(|one| one.target == target).unwrap_or(first);
            Profiler::resumed(&one.event, one.hz, one.unwinder, one.sample_cost_ns)
        };
        Ok(Some(Self { worker: of(ProfileTarget::Worker)?, server: of(ProfileTarget::Server)? }))
    }
}

/// The recorder of one target, or why it does not record.
struct TargetRecorder {
    target: ProfileTarget,
    recorder: Result<Recorder, String>,
}

/// Records the profiles of one run.
pub(super) struct RunProfiler {
    profiling: Profiling,
    targets: Vec<TargetRecorder>,
    /// The sampled processes.
    pids: Vec<u32>,
    /// The processor's counters of the next span, or of the current one, where it has any.
    counters: Option<Counters>,
    /// The counts of each span.
    counts: Vec<Readings>,
    /// Holds the files of the recorders.
    files: RunData,
    /// Spans begun so far.
    spans: usize,
    is_on: bool,
    /// The span of the probe that confirmed a search.
    confirmed: Option<usize>,
    /// The spans of the steps that have ended.
    steps: Vec<StepSpan>,
}

/// A span that no recorder has.
const NO_SPAN: usize = usize::MAX;

/// The span of a step.
struct StepSpan {
    index: u32,
    /// `None` where a search confirmed nothing.
    span: Option<usize>,
}

impl RunProfiler {
    /// Starts the recorders of a run; they wait for the first span.
    ///
    /// A recorder that does not start is a reason in the records of the steps.
    pub(super) fn start(profiling: &Profiling, worker: u32, host: &Host, files: RunData) -> Self {
        let start = |target: ProfileTarget, pids: &[u32]| TargetRecorder {
            target,
            recorder: {
                let file = files.path.join(target.name());
                Recorder::start(profiling.of(target), pids, &file)
                    .map_err(|error| error.to_string())
            },
        };
        await_threads(worker);
        let mut pids = vec![worker];
        let mut targets = vec![start(ProfileTarget::Worker, &pids)];
        if let Some(server) = host.targets() {
            let dir = server.group.dirs().first().map(PathBuf::as_path);
            let of_server = processes(server.pid, dir);
            targets.push(start(ProfileTarget::Server, &of_server));
            pids.extend(of_server);
        }
        let mut profiler = Self {
            profiling: profiling.clone(),
            targets,
            pids,
            counters: None,
            counts: Vec::new(),
            files,
            spans: 0,
            is_on: false,
            confirmed: None,
            steps: Vec::new(),
        };
        profiler.next_counters();
        profiler
    }

    /// Starts the counters of the next span; without rights there are none.
    fn next_counters(&mut self) {
        let file = self.files.path.join(format!("counts.{}", self.spans));
        let started = Counters::start(&self.profiling.worker, &self.pids, &file);
        self.counters = started.ok().flatten();
    }

    /// Begins the measured span of a step or probe.
    pub(super) fn begin(&mut self) {
        self.each(Recorder::enable);
        self.counters.take_if(|counters| counters.enable().is_err());
        self.spans += 1;
        self.is_on = true;
    }

    /// Ends the measured span, if one has begun.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.is_on) {
            self.each(Recorder::disable);
            let counts = self.counters.take().and_then(|counters| counters.stop().ok());
            self.counts.push(counts.unwrap_or_default());
            self.next_counters();
        }
    }

    /// Notes that the last span belongs to the probe that confirmed a search.
    pub(super) fn confirm(&mut self) {
        self.confirmed = self.spans.checked_sub(1);
    }

    /// Notes that a step has ended; its span is the last one, or of the confirming probe.
    pub(super) fn end_step(&mut self, index: u32, is_search: bool) {
        let last = self.spans.checked_sub(1).filter(|_| !is_search);
        self.steps.push(StepSpan { index, span: self.confirmed.take().or(last) });
    }

    fn each(&mut self, command: fn(&mut Recorder) -> Result<(), profiler::ProfilerError>) {
        for target in &mut self.targets {
            if let Ok(recorder) = &mut target.recorder
                && let Err(error) = command(recorder)
            {
                target.recorder = Err(error.to_string());
            }
        }
    }

    /// Stops the recorders, and stores the profiles of the steps in the record.
    ///
    /// A profile that cannot be made or stored is a reason in the record of its step.
    pub(super) fn finish(self, record: &mut RunRecord, writer: &RunWriter) {
        let Self { profiling, targets, steps, counts, .. } = self;
        for step in &steps {
            let of_step = record.steps.iter_mut().find(|one| one.index == step.index);
            if let (Some(of_step), Some(counts)) =
                (of_step, step.span.and_then(|span| counts.get(span)))
            {
                of_step.counters.extend(counts.clone());
            }
        }
        let mut texts = vec![String::new(); steps.len()];
        for TargetRecorder { target, recorder } in targets {
            let spans: Vec<usize> = steps.iter().map(|step| step.span.unwrap_or(NO_SPAN)).collect();
            let folded = recorder.and_then(|recorder| {
                let folded = recorder.stop().and_then(|recording| recording.fold(target, &spans));
                folded.map_err(|error| error.to_string())
            });
            for (position, step) in steps.iter().enumerate() {
                let Some(of_step) = record.steps.iter_mut().find(|one| one.index == step.index)
                else {
                    continue;
                };
                let one = match &folded {
                    _ if step.span.is_none() => Err("the search confirmed no load"),
                    Ok(all) => all.get(position).ok_or("the span has no samples"),
                    Err(reason) => Err(reason.as_str()),
                };
                let entry = profile_record(&profiling, target, of_step, one);
                if let (Ok(folded), None) = (one, &entry.refusal) {
                    texts[position] += &folded.profile.to_folded();
                }
                of_step.profiles.push(entry);
            }
        }
        for (step, text) in steps.iter().zip(texts) {
            let Some(of_step) = record.steps.iter_mut().find(|one| one.index == step.index) else {
                continue;
            };
            let stored = Profile::parse(&text).and_then(|profile| match text.is_empty() {
                true => Ok(()),
                false => writer
                    .write_profile(of_step.index, &of_step.step.name, &profile)
                    .map_err(|error| error.to_string()),
            });
            if let Err(reason) = stored {
                let open = of_step.profiles.iter_mut().filter(|one| one.refusal.is_none());
                open.for_each(|one| one.refusal = Some(format!("it is not stored: {reason}")));
            }
        }
    }
}

/// Returns the record of one target's profile of a step, or of the reason why there is none.
fn profile_record(
    profiling: &Profiling,
    target: ProfileTarget,
    step: &StepRecord,
    folded: Result<&Folded, &str>,
) -> ProfileRecord {
    let profiler = profiling.of(target);
    let found = folded.ok();
    let event = found.map_or_else(|| profiler.event(), |folded| &folded.event).to_owned();
    let all = match target {
        ProfileTarget::Worker => PROCESS_CPU_US,
        ProfileTarget::Server => SERVER_CPU_US,
    };
    // The first one is user time.
    let sampled = if is_user_only(&event) { &all[..1] } else { &all };
    let cpu_us = step.counters.sum(sampled);
    let expected = cpu_us.map(|us| us / 1e6 * f64::from(profiler.hz()));
    let (samples, lost) = found.map_or((0, 0), |folded| (folded.samples, folded.lost));
    ProfileRecord {
        target,
        event,
        hz: profiler.hz(),
        unwinder: profiler.unwinder(),
        sample_cost_ns: profiler.sample_cost(),
        samples,
        lost,
        expected,
        rooted_share: found.and_then(|folded| folded.rooted_share),
        storage_engine_share: found.and_then(|folded| storage_engine_share(&folded.profile)),
        kernel_note: found.and_then(|folded| folded.kernel_note.clone()),
        refusal: match folded {
            Ok(_) => refusal(samples, lost, expected),
            Err(reason) => Some(reason.to_owned()),
        },
    }
}

/// Threads of a worker that waits for its order: the first, the command's, the reader of commands.
///
/// A thread that begins while perf lists the threads is not sampled, nor is any that it starts.
const WAITING_THREADS: usize = 3;
/// Longest wait for these threads.
const THREADS_WITHIN: Nanos = Nanos::SECOND;
/// Time between two polls of the threads.
const THREADS_POLL: Nanos = Nanos::from_millis(1);

/// Waits until a worker has all threads with which it waits for its order.
fn await_threads(pid: u32) {
    let clock = SteadyClock::kernel();
    let deadline = clock.now().after(THREADS_WITHIN);
    let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    while threads() < WAITING_THREADS && clock.now() < deadline {
        clock.rest_until(clock.now().after(THREADS_POLL));
    }
}

/// Returns the processes of a server: those of its control group, or its first one.
///
/// Processes that these start later are sampled too.
fn processes(pid: u32, group: Option<&Path>) -> Vec<u32> {
    let listed = group.and_then(|dir| std::fs::read_to_string(dir.join("cgroup.procs")).ok());
    let pids: Vec<u32> =
        listed.unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect();
    if !pids.is_empty() {
        return pids;
    }
    let children = process_file(pid, &format!("task/{pid}/children")).unwrap_or_default();
    let children = children.split_ascii_whitespace().filter_map(|child| child.parse().ok());
    [pid].into_iter().chain(children).collect()
}
