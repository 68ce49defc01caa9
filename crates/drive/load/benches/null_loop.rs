//! Cost of the client itself: the whole loop over the null engine.
//!
//! `cargo bench -p load` prints nanoseconds and instructions per operation, allocations, and
//! memory. Everything is as in a run: three stamps, both histograms, intervals, hand-offs,
//! heartbeats, and the workload's own generator with 20-byte keys; all of it pinned to one core.
//! Figures of a shared machine are noisy: use the least of the rounds, and the instructions.

#![expect(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

mod null;

use std::alloc::System;
use std::hint::black_box;
use std::process::Command;

use load::{Clock, Event, SteadyClock, StepTotals};
use model::{Load, Nanos, OpKind, OpenLoad, Pace, Rate, Step, StopRule};
use null::cpu::{last_core, pin};
use null::rounds::least_and_median;
use null::step::{step, streams};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Rounds: the least of ten is hardly disturbed even on a busy machine.
const ROUNDS: usize = 10;
/// Operations of a round: about half a second.
const OPERATIONS: u64 = 10_000_000;
/// Argument of a count in the open loop that is always late.
const LATE: &str = "late";
/// Target of the design, ns per operation. Our choice.
const TARGET_NS: f64 = 50.0;

fn main() {
    let mut args = std::env::args().skip_while(|word| word != "--count");
    if let Some(count) = args.nth(1).and_then(|count| count.parse().ok()) {
        // Run by valgrind.
        let closed = step(StopRule::Operations(count));
        let step = if args.next().as_deref() == Some(LATE) { always_late(closed) } else { closed };
        run(&SteadyClock::calibrate(), 1, &step, &mut |_| {});
        return;
    }
    pin(last_core());
    let clock = SteadyClock::calibrate();
    println!("client loop on the null engine, one core, clock: {}", clock.check().source);
    floors(&clock);
    let closed = step(StopRule::Operations(OPERATIONS));
    let wall = rounds("closed loop", &clock, &closed);
    println!(
        "  target {TARGET_NS} ns: {}, {:.1} M operations/s",
        if wall <= TARGET_NS { "met" } else { "MISSED" },
        1e3 / wall
    );
    rounds("open loop, always late", &clock, &always_late(closed));
    allocations(&clock);
    memory(&clock);
    instructions("closed");
    instructions(LATE);
}

/// Returns the step in an open loop whose arrivals are due long before they can be served.
fn always_late(step: Step) -> Step {
    let load = Load::Open(OpenLoad { rate: Rate::constant(1e8), pace: Pace::default() });
    Step { load, ..step }
}

/// Runs a step on the null engine.
fn run(
    clock: &SteadyClock,
    clients: u32,
    step: &Step,
    on_event: &mut dyn FnMut(Event<'_>),
) -> StepTotals {
    null::step::run((clock, &*null::step::null(), 1), clients, step, on_event)
}

/// Prints the least and the median of the rounds, and returns the least.
fn rounds(name: &str, clock: &SteadyClock, step: &Step) -> f64 {
    let mut wall = Vec::new();
    let mut cpu = Vec::new();
    for _ in 0..ROUNDS {
        let totals = run(clock, 1, step, &mut |_| {});
        let done = totals.clients[&OpKind::Get].counts.done;
        assert_eq!(done, OPERATIONS, "every operation is counted");
        wall.push(totals.duration.0 as f64 / done as f64);
        let used = ["client_cpu_user_us", "client_cpu_kernel_us"];
        cpu.push(used.iter().map(|name| totals.readings[*name]).sum::<f64>() * 1e3 / done as f64);
    }
    let (least, median) = least_and_median(wall);
    let (least_cpu, median_cpu) = least_and_median(cpu);
    println!(
        "{name:<24} {least:6.1} ns/op least, {median:6.1} median; CPU of the client {least_cpu:.1} \
         least, {median_cpu:.1} median"
    );
    least
}

/// Prints the cost of the parts.
fn floors(clock: &SteadyClock) {
    let mut stream = streams(&step(StopRule::Operations(u64::MAX)), 1).remove(0);
    let timed = |name: &str, body: &mut dyn FnMut()| {
        let mut spans = Vec::new();
        for _ in 0..ROUNDS {
            let start = clock.now();
            body();
            spans.push(clock.now().since(start).0 as f64 / (OPERATIONS / 10) as f64);
        }
        println!("{name:<24} {:6.1} ns/op least", least_and_median(spans).0);
    };
    timed("generator alone", &mut || {
        for _ in 0..OPERATIONS / 10 {
            black_box(stream.next());
        }
    });
    timed("two stamps alone", &mut || {
        for _ in 0..OPERATIONS / 10 {
            black_box((clock.now(), clock.now()));
        }
    });
}

/// Prints the allocations of all threads between two intervals of a running step.
fn allocations(clock: &SteadyClock) {
    let mut allocated_by = Vec::new();
    let mut operations = Vec::new();
    let step = step(StopRule::Duration(Nanos::from_secs(5)));
    run(clock, 2, &step, &mut |event| {
        if let Event::Interval(interval) = event {
            operations.push(interval.clients[&OpKind::Get].counts.done);
            let stats = ALLOCATOR.stats();
            allocated_by.push(stats.allocations + stats.reallocations);
        }
    });
    // The first intervals allocate once; the last one is reported when the threads are ending.
    let (first, last) = (1, allocated_by.len() - 2);
    let allocated = allocated_by[last] - allocated_by[first];
    let done: u64 = operations[first + 1..=last].iter().sum();
    println!("allocations              {allocated} in {done} operations and their hand-offs");
}

/// Prints the resident memory after a short and after a long step.
fn memory(clock: &SteadyClock) {
    let before = resident_bytes();
    for seconds in [2, 10] {
        run(clock, 2, &step(StopRule::Duration(Nanos::from_secs(seconds))), &mut |_| {});
        let (now, mib) = (resident_bytes(), f64::from(1 << 20));
        println!(
            "memory, 2 clients, {seconds:>2} s   {:.1} MiB resident, {:+.1} MiB since the step's start",
            now as f64 / mib,
            (now as f64 - before as f64) / mib
        );
    }
}

/// Returns the largest resident memory so far.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Prints the instructions per operation of a loop, as callgrind counts them.
fn instructions(which: &str) {
    const FEW: u64 = 100_000;
    const MANY: u64 = 1_100_000;
    match (counted(FEW, which), counted(MANY, which)) {
        (Some(few), Some(many)) => {
            let each = many.saturating_sub(few) as f64 / (MANY - FEW) as f64;
            println!("instructions, {which:<10} {each:.1} per operation (callgrind, slope)");
        }
        _ => println!("instructions             skipped: valgrind is not installed or failed"),
    }
}

/// Returns the instructions of a whole process that does `count` operations.
fn counted(count: u64, which: &str) -> Option<u64> {
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args(["--count", &count.to_string(), which])
        .output()
        .ok()?;
    let text = String::from_utf8(out.stderr).ok()?;
    let total = text.lines().find_map(|line| line.split_once("Collected :"))?.1;
    total.trim().parse().ok()
}
