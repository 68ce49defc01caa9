//! Recorded processes: their hot functions, their spans and their ends.
#![expect(clippy::print_stdout, reason = "a skipped test prints the reason")]

use std::hint::black_box;
use std::path::Path;
use std::process::Child;

use child::Role;
use model::{Nanos, ProfileTarget, Unwinder, float};
use profiler::{Folded, Profiler, ProfilerError, Recorder, refusal};
use rustix::time::{ClockId, clock_gettime};

/// Samples per second of CPU time.
const HZ: u32 = 399;
/// CPU time of a span, seconds.
const SECONDS: f64 = 0.5;

/// Returns the value, or `None` where perf is missing or refused, which is printed.
fn unless_refused<T>(result: Result<T, ProfilerError>) -> Option<T> {
    match result {
        Err(error @ (ProfilerError::NotInstalled | ProfilerError::Refused(_))) => {
            println!("skipped: {error}");
            None
        }
        result => Some(result.expect("perf works")),
    }
}

fn start(unwinder: Unwinder, pid: u32, dir: &Path) -> Option<Recorder> {
    let profiler = unless_refused(Profiler::resumed("cpu-clock", HZ, unwinder, Nanos(30_000)))?;
    unless_refused(Recorder::start(&profiler, &[pid], &dir.join("perf.data")))
}

fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    float(time.tv_sec) + float(time.tv_nsec) / 1e9
}

#[inline(never)]
fn first_hot_loop(mut state: u64) -> u64 {
    let mut round = 0;
    while round < 100_000 {
        state ^= state << 13;
        round += 1;
    }
    state
}

#[inline(never)]
fn second_hot_loop(mut state: u64) -> u64 {
    let mut round = 0;
    while round < 100_000 {
        state ^= state >> 7;
        round += 1;
    }
    state
}

/// Calls a function on a new thread of a name for a time, and returns its CPU time in seconds.
fn spin(name: &str, hot: fn(u64) -> u64) -> f64 {
    let run = move || {
        while thread_seconds() < SECONDS {
            black_box(hot(black_box(1)));
        }
        thread_seconds()
    };
    let thread = std::thread::Builder::new().name(format!("{name}-7")).spawn(run);
    thread.expect("a thread starts").join().expect("it ends")
}

/// Records each function in a span; the functions run between the spans too.
fn record(name: &str, unwinder: Unwinder) -> Option<(Vec<f64>, Vec<Folded>)> {
    let dir = tempfile::tempdir().expect("a directory is made");
    let mut recorder = start(unwinder, std::process::id(), dir.path())?;
    let mut seconds = Vec::new();
    let first: fn(u64) -> u64 = first_hot_loop;
    let second: fn(u64) -> u64 = second_hot_loop;
    for (hot, other) in [(first, second), (second, first)] {
        recorder.enable().expect("perf answers");
        seconds.push(spin(name, hot));
        recorder.disable().expect("perf answers");
        spin(name, other);
    }
    let recording = recorder.stop().expect("perf ends");
    let folded = recording.fold(ProfileTarget::Worker, &[0, 1, 2]).expect("it is read");
    drop(recording);
    assert_eq!(
        dir.path().read_dir().expect("it is read").count(),
        0,
        "the file of samples is removed"
    );
    Some((seconds, folded))
}

/// Returns the samples of the threads of a name, and how many of them are of a function.
fn spinning(folded: &Folded, thread: &str, function: &str) -> (u64, u64) {
    let profile = &folded.profile;
    let stacks = profile.stacks().iter().filter(|stack| stack.thread == thread);
    stacks.fold((0, 0), |(all, named), stack| {
        let leaf = stack.frames.last().map(|frame| &profile.frame(*frame).function);
        let is_named = leaf.is_some_and(|leaf| leaf.ends_with(function));
        (all + stack.samples, named + if is_named { stack.samples } else { 0 })
    })
}

fn check_spans(thread: &str, seconds: &[f64], folded: &[Folded]) {
    let hot = ["first_hot_loop", "second_hot_loop"];
    for (at, hot) in hot.into_iter().enumerate() {
        let (all, named) = spinning(&folded[at], thread, hot);
        assert!(named * 10 >= all * 9, "{named} of {all} samples are in {hot}");
        let expected = seconds[at] * f64::from(HZ);
        let share = float(all) / expected;
        assert!((0.8..1.2).contains(&share), "{share} of the expected samples");
        assert!(folded[at].event.starts_with("cpu-clock"), "{}", folded[at].event);
        assert!(folded[at].lost * 10 < all, "{} lost samples", folded[at].lost);
    }
    assert_eq!(folded[2].samples, 0, "a span that was not recorded");
    assert!(refusal(folded[2].samples, folded[2].lost, None).is_some());
}

#[test]
fn hot_function_is_first_in_its_span() {
    let Some((seconds, folded)) = record("pointers", Unwinder::FramePointers) else { return };
    check_spans("pointers", &seconds, &folded);
}

#[test]
fn unwind_tables_reach_the_entry_of_the_thread() {
    let Some((seconds, folded)) = record("tables", Unwinder::Dwarf) else { return };
    check_spans("tables", &seconds, &folded);
    let rooted = folded[0].rooted_share.unwrap();
    assert!(rooted > 0.9, "{rooted} of the stacks are whole:\n{}", folded[0].profile.to_folded());
}

#[test]
fn measured_frequency_is_within_its_limits() {
    let Some(profiler) = unless_refused(Profiler::measure(Unwinder::FramePointers)) else { return };
    println!("{profiler:?}");
    assert!((19..=999).contains(&profiler.hz()));
    assert!(!profiler.event().is_empty());
}

/// Starts a shell that computes until it is killed.
fn busy_shell() -> Child {
    let mut command = child::command(Role::Program, "sh");
    command.args(["-c", "while :; do :; done"]).spawn().expect("a shell starts")
}

#[test]
fn a_process_that_ends_ends_its_recording() {
    let dir = tempfile::tempdir().unwrap();
    let mut shell = busy_shell();
    let recorder = start(Unwinder::FramePointers, shell.id(), dir.path());
    if let Some(mut recorder) = recorder {
        recorder.enable().unwrap();
        spin("other", first_hot_loop);
        shell.kill().unwrap();
        shell.wait().unwrap();
        recorder.disable().unwrap();
        let folded = recorder.stop().unwrap().fold(ProfileTarget::Server, &[0]).unwrap();
        assert!(folded[0].samples > 0);
        return;
    }
    shell.kill().unwrap();
    shell.wait().unwrap();
}

#[test]
fn a_process_that_has_ended_is_no_target() {
    let dir = tempfile::tempdir().unwrap();
    let mut shell = busy_shell();
    shell.kill().unwrap();
    shell.wait().unwrap();
    let profiler = Profiler::resumed("cpu-clock", HZ, Unwinder::Dwarf, Nanos(0));
    let Some(profiler) = unless_refused(profiler) else { return };
    let file = dir.path().join("perf.data");
    let started = Recorder::start(&profiler, &[shell.id()], &file);
    assert!(matches!(started, Err(ProfilerError::Ended)));
}
