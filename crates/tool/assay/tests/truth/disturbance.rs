//! Disturbances of the host during a measurement, by accounts that Assay has no part in.

use std::cell::RefCell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::sandbox::{note, now};

/// CPU use of others, as a share of one CPU, that makes a host busy: more than the daemons of a
/// quiet host and the error of accounts in ticks.
const OTHERS_MAX: f64 = 0.1;
/// Share of the time that other guests may take from a quiet host.
const STOLEN_MAX: f64 = 0.01;
/// Lateness of a sleeping thread that no quiet host causes: two turns of its scheduler.
const LATE_MAX: Duration = Duration::from_millis(8);
/// Time for which that thread sleeps.
const NAP: Duration = Duration::from_millis(3);

/// The host during one attempt at a claim.
pub(crate) struct HostWatch {
    begun: Instant,
    before: Accounts,
    is_over: Arc<AtomicBool>,
    /// Sleeps and returns its largest lateness.
    sleeper: JoinHandle<Duration>,
    /// The first disturbance that a run recorded.
    recorded: RefCell<Option<String>>,
}

/// Tries a claim about a quiet host.
///
/// A failure counts where the host was quiet; a busy one gets a second attempt, and then the test
/// is skipped, with the figures. A claim that holds on a busy host holds.
pub(crate) fn on_quiet_host(claim: impl Fn(&HostWatch)) {
    if let Err(first) = attempt(&claim)
        && let Err(second) = attempt(&claim)
    {
        note(&format!("skipped: host too busy ({first}; again {second})"));
    }
}

/// The same with one attempt, for a claim that takes long.
pub(crate) fn on_quiet_host_once(claim: impl Fn(&HostWatch)) {
    if let Err(reason) = attempt(&claim) {
        note(&format!("skipped: host too busy ({reason})"));
    }
}

/// Tries a claim; returns the disturbance next to which it failed.
///
/// # Panics
/// When it fails on a quiet host.
fn attempt(claim: &impl Fn(&HostWatch)) -> Result<(), String> {
    let host = HostWatch::begin();
    let tried = catch_unwind(AssertUnwindSafe(|| claim(&host)));
    let disturbance = host.end();
    match (tried, disturbance) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(reason)) => Err(reason),
        (Err(failure), None) => resume_unwind(failure),
    }
}

impl HostWatch {
    /// Begins to watch.
    fn begin() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let is_awake = Arc::clone(&is_over);
        let sleeper = thread::spawn(move || {
            let mut longest = Duration::ZERO;
            while !is_awake.load(Ordering::Relaxed) {
                longest = longest.max(lateness());
            }
            longest
        });
        let recorded = RefCell::new(None);
        Self { begun: now(), before: Accounts::read(), is_over, sleeper, recorded }
    }

    /// Notes a disturbance that a run recorded.
    pub(crate) fn note(&self, recorded: Option<String>) {
        let mut first = self.recorded.borrow_mut();
        *first = first.take().or(recorded);
    }

    /// Returns how the host was disturbed; `None` of a quiet one.
    fn end(self) -> Option<String> {
        self.is_over.store(true, Ordering::Relaxed);
        let late = self.sleeper.join().expect("it only sleeps");
        let (after, length_s) = (Accounts::read(), self.begun.elapsed().as_secs_f64());
        let others = (after.others_s() - self.before.others_s()) / length_s;
        let stolen = (after.stolen_s - self.before.stolen_s) / length_s;
        let known = [
            (others > OTHERS_MAX).then(|| format!("others used {:.0} % of a CPU", others * 100.0)),
            (stolen > STOLEN_MAX).then(|| format!("{:.1} % of the time stolen", stolen * 100.0)),
            (late > LATE_MAX).then(|| format!("a sleeping thread woke up {late:.1?} late")),
            self.recorded.into_inner(),
        ];
        let known: Vec<String> = known.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.join(", "))
    }
}

/// Sleeps for a moment and returns how much longer it took.
#[expect(clippy::disallowed_methods, reason = "the lateness of a real sleep is measured")]
fn lateness() -> Duration {
    let begun = now();
    thread::sleep(NAP);
    begun.elapsed().saturating_sub(NAP)
}

/// Unit of the kernel's accounts. Source: proc(5), `USER_HZ`.
const TICKS_PER_S: f64 = 100.0;

/// CPU used since the boot, in seconds.
struct Accounts {
    busy_s: f64,
    stolen_s: f64,
    /// By this process and the children it has waited for.
    own_s: f64,
}

impl Accounts {
    /// Reads them. Source: proc(5), `/proc/stat` and fields 14 to 17 of `/proc/PID/stat`.
    fn read() -> Self {
        let text = |path: &str| fs::read_to_string(path).expect("/proc is mounted");
        let seconds = |fields: &str| -> Vec<f64> {
            let ticks = fields.split_ascii_whitespace().map_while(|field| field.parse().ok());
            ticks.map(|ticks: f64| ticks / TICKS_PER_S).collect()
        };
        let host = text("/proc/stat");
        let all = host.lines().find_map(|line| line.strip_prefix("cpu ")).expect("all CPUs");
        let host = seconds(all);
        let own = text("/proc/self/stat");
        let (_, fields) = own.rsplit_once(')').expect("a name in brackets");
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let own = seconds(&fields[11..15].join(" "));
        // user, nice, system, idle, iowait, irq, softirq, steal
        Self {
            busy_s: [0, 1, 2, 5, 6].iter().map(|at| host[*at]).sum(),
            stolen_s: host.get(7).copied().unwrap_or_default(),
            own_s: own.iter().sum(),
        }
    }

    fn others_s(&self) -> f64 {
        self.busy_s - self.own_s
    }
}
