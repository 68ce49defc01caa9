//! Time of an operation by component, in microseconds.

use std::collections::BTreeMap;

use model::record::{OpSummary, Percentiles};
use model::{Load, Metric, RunRecord, StepRecord, metric};
use serde::Serialize;
use stats::{MeanDifference, difference};

use super::waits::{WaitAccount, waits};
use crate::machines::factor::means_by_machine;
use crate::metrics::{
    client_cpu, is_of_server, measured_threads, primary_operations, requests, whole_cpu_us,
};

/// What is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A closed loop's time per operation: threads of its clients over throughput.
    TimePerOperation,
    /// An open loop's mean response time.
    ResponseTime,
    /// CPU of worker and server per operation.
    Cpu,
    /// CPU of the server per operation.
    ServerCpu,
    /// Another metric, which has no account.
    Other,
}

impl Subject {
    /// Returns whether the verdict on the metric decides that there is a difference to explain.
    pub(super) const fn is_of_metric(self) -> bool {
        !matches!(self, Self::ResponseTime)
    }
}

/// A part of the time of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The client's own CPU, as calibrated on the null engine.
    ClientCpu,
    /// All CPU of the client threads, with a server.
    ClientThreads,
    /// CPU of the server while the client waited.
    ServerCpu,
    /// Waiting for the server beyond its CPU.
    ServerWait,
    /// Engine code: user CPU of the client threads less the client's own.
    EngineCpu,
    /// Kernel CPU of the client threads.
    KernelCpu,
    /// Ready to run, and no CPU free.
    RunQueue,
    /// Waiting for storage.
    Storage,
    /// Waiting for a lock, another thread or a timer.
    Sleep,
    /// From the intended start to the start, in an open loop.
    Waiting,
    /// From the start to the end, in an open loop.
    Service,
    /// User CPU of the server.
    ServerUser,
    /// Kernel CPU of the server.
    ServerKernel,
    /// CPU of the worker's other threads: the engine's own, background writers, the harness.
    OtherThreads,
}

impl Part {
    /// Returns its name, which differs from that of every metric with another scope.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::ClientCpu => "the client's own CPU",
            Self::ClientThreads => "CPU of the client threads",
            Self::ServerCpu => "server CPU while the client waited",
            Self::ServerWait => "waiting for the server without using server CPU",
            Self::EngineCpu => "engine CPU in the client threads",
            Self::KernelCpu => "kernel CPU in the client threads",
            Self::RunQueue => "waiting for a CPU",
            Self::Storage => "waiting for storage",
            Self::Sleep => "waiting for a lock or a timer",
            Self::Waiting => "waiting for a free client",
            Self::Service => "service",
            Self::ServerUser => "user CPU of the server",
            Self::ServerKernel => "kernel CPU of the server",
            Self::OtherThreads => "CPU of the worker's other threads",
        }
    }

    /// Returns the record's evidence that it needs.
    pub(super) const fn evidence(self) -> &'static str {
        match self {
            Self::ClientCpu => "the client's CPU (calibration)",
            Self::ServerCpu | Self::ServerUser | Self::ServerKernel => "the server's CPU",
            Self::OtherThreads => "the worker's CPU",
            Self::ServerWait => "waits for the server",
            Self::ClientThreads | Self::EngineCpu | Self::KernelCpu => "the clients' CPU",
            Self::RunQueue => "waits for a CPU (the kernel's schedstat)",
            Self::Storage | Self::Sleep => "waits for storage and locks",
            Self::Waiting | Self::Service => "response and service times",
        }
    }
}

/// A part and its difference between the variants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Component {
    /// The part.
    pub part: Part,
    /// Its means over the runs and their difference, us per operation.
    pub us: MeanDifference,
}

/// The time of an operation and what it is made of.
///
/// `total = components + residual`, for each side and for the difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Account {
    /// The whole, us per operation.
    pub total: MeanDifference,
    /// Its components, the largest difference first.
    pub components: Vec<Component>,
    /// Residual, us per operation.
    pub residual: MeanDifference,
    /// Waiting for the server by event; `None` without one, or without samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitAccount>,
    /// Evidence that the records of a side lack.
    pub missing: Vec<&'static str>,
}

impl Account {
    /// Returns a difference as a share of the total's, if that changed.
    pub fn share(&self, of: &MeanDifference) -> Option<f64> {
        let share = of.difference / self.total.difference;
        share.is_finite().then_some(share)
    }

    /// Returns the component of that part.
    pub fn component(&self, part: Part) -> Option<&Component> {
        self.components.iter().find(|component| component.part == part)
    }
}

/// Returns what an explanation of this metric of the step is about.
pub(super) fn subject(step: &StepRecord, metric: &str) -> Subject {
    const RATES: [Metric; 3] = [
        metric::THROUGHPUT_OPS_PER_S,
        metric::THROUGHPUT_ROWS_PER_S,
        metric::SUSTAINABLE_OPS_PER_S,
    ];
    let is_open = matches!(step.step.load, Load::Open(_) | Load::FindRate(_));
    let is_rate = RATES.iter().any(|one| one.name == metric);
    let is_response = metric.starts_with("response_ns_") || metric.starts_with("goodput_");
    if metric == metric::CPU_US_PER_OP.name {
        Subject::Cpu
    } else if metric == metric::SERVER_CPU_US_PER_OP.name {
        Subject::ServerCpu
    } else if is_open && (is_rate || is_response) {
        Subject::ResponseTime
    } else if is_rate {
        Subject::TimePerOperation
    } else {
        Subject::Other
    }
}

/// One run's time per operation and the parts that it knows, us.
struct OfRun {
    total: f64,
    parts: BTreeMap<Part, f64>,
}

/// Accounts for the difference between the runs of two variants in one step.
///
/// `None` when a run of them did no operation, and of a subject without an account. On several
/// machines the means of machines are compared.
///
/// Source: Little's law [Little 1961]: in a closed loop without think time, time per operation =
/// threads of clients / throughput.
pub(super) fn account(
    subject: Subject,
    base: &[(&RunRecord, &StepRecord)],
    variant: &[(&RunRecord, &StepRecord)],
) -> Option<Account> {
    let of_runs = |runs: &[(&RunRecord, &StepRecord)]| -> Option<Vec<OfRun>> {
        runs.iter().map(|(run, step)| of_run(subject, run, step)).collect()
    };
    let sides = [of_runs(base)?, of_runs(variant)?];
    let has_server = base.iter().chain(variant).any(|(_, step)| is_of_server(step));
    let wanted = match subject {
        Subject::TimePerOperation if has_server => SERVED,
        Subject::TimePerOperation => CLOSED,
        Subject::ResponseTime => OPEN,
        Subject::Cpu if has_server => SERVED_CPU,
        Subject::Cpu => OWN_CPU,
        Subject::ServerCpu => SERVER_CPU,
        Subject::Other => return None,
    };
    let is_known = |part: &Part| sides.iter().flatten().all(|run| run.parts.contains_key(part));
    let (known, lacking): (Vec<Part>, Vec<Part>) =
        wanted.iter().copied().partition(|part| is_known(part));
    let compare = |value: &dyn Fn(&OfRun) -> f64| {
        let [base, variant] = [(base, &sides[0]), (variant, &sides[1])].map(|(runs, side)| {
            means_by_machine(runs.iter().map(|(run, _)| *run), side.iter().map(value).collect())
        });
        difference(&base, &variant)
    };
    let mut components = Vec::with_capacity(known.len());
    for part in &known {
        components.push(Component { part: *part, us: compare(&|run| run.of(*part))? });
    }
    components.sort_by(|a, b| b.us.difference.abs().total_cmp(&a.us.difference.abs()));
    let mut missing: Vec<&'static str> = lacking.iter().map(|part| part.evidence()).collect();
    missing.dedup();
    let of_waits = || {
        let waited = |side: &[OfRun]| -> Vec<f64> {
            side.iter().map(|run| run.of(Part::ServerWait)).collect()
        };
        waits((base, &waited(&sides[0])), (variant, &waited(&sides[1])))
    };
    Some(Account {
        total: compare(&|run| run.total)?,
        components,
        residual: compare(&|run| run.residual(&known))?,
        waits: known.contains(&Part::ServerWait).then(of_waits).flatten(),
        missing,
    })
}

/// Components of a closed loop's operation.
const CLOSED: &[Part] = &[
    Part::ClientCpu,
    Part::EngineCpu,
    Part::KernelCpu,
    Part::RunQueue,
    Part::Storage,
    Part::Sleep,
];

/// Components of an operation with a server.
const SERVED: &[Part] = &[Part::ClientThreads, Part::ServerCpu, Part::ServerWait];

/// Components of a response time.
const OPEN: &[Part] = &[Part::Waiting, Part::Service];

/// Components of the CPU of an embedded engine's worker.
const OWN_CPU: &[Part] = &[Part::ClientCpu, Part::EngineCpu, Part::KernelCpu, Part::OtherThreads];

/// Components of the CPU of worker and server.
const SERVED_CPU: &[Part] =
    &[Part::ClientThreads, Part::OtherThreads, Part::ServerUser, Part::ServerKernel];

/// Components of the server's CPU.
const SERVER_CPU: &[Part] = &[Part::ServerUser, Part::ServerKernel];

impl OfRun {
    fn of(&self, part: Part) -> f64 {
        self.parts.get(&part).copied().unwrap_or(0.0)
    }

    fn residual(&self, parts: &[Part]) -> f64 {
        self.total - parts.iter().map(|part| self.of(*part)).sum::<f64>()
    }
}

/// Returns one run's total and every part of any subject that its record knows.
///
/// - Parts of CPU are exact counters of threads and modes, which add up.
/// - While a client of a server waits (asleep, or ready to run and preempted by the server), the
///   server works for it or waits itself. The server's CPU counts as far as the client waited:
///   other threads and background writers took none of the client's time.
fn of_run(subject: Subject, run: &RunRecord, step: &StepRecord) -> Option<OfRun> {
    let ops = primary_operations(step) as f64;
    let time_us = f64::from(measured_threads(step)) * step.duration_ns.as_micros_f64() / ops;
    let server = step.counters.sum(&metric::SERVER_CPU_US).map(|us| us / ops);
    let total = match subject {
        Subject::TimePerOperation => time_us,
        Subject::ResponseTime => return open(step),
        Subject::Cpu => whole_cpu_us(step, &step.counters)? / ops,
        Subject::ServerCpu => server?,
        Subject::Other => return None,
    };
    let counter = |metric| step.counters.value(metric).map(|us| us / ops);
    let [user, kernel] = client_cpu(step).map(|us| us.map(|us| us / ops));
    let [own, engine] = client_and_engine(run, step, user);
    let (asleep, ready) = (counter(metric::CLIENT_SLEEP_US), counter(metric::CLIENT_RUN_QUEUE_US));
    let both = user.zip(kernel).map(|(user, kernel)| user + kernel);
    let worker = step.counters.sum(&metric::PROCESS_CPU_US).map(|us| us / ops);
    let waited = asleep.zip(ready).map(|(asleep, ready)| asleep + ready);
    // Without samples of the client, the rest of its time bounds its waits.
    let at_most = waited.or_else(|| both.map(|both| (time_us - both).max(0.0)));
    let used = server.zip(at_most).map(|(server, at_most)| server.min(at_most));
    let is_served = subject != Subject::TimePerOperation || is_of_server(step);
    let parts = [
        (Part::ClientCpu, own),
        (Part::EngineCpu, engine),
        (Part::KernelCpu, kernel),
        (Part::RunQueue, ready),
        (Part::Storage, counter(metric::CLIENT_STORAGE_WAIT_US)),
        (Part::Sleep, asleep),
        (Part::ClientThreads, both.filter(|_| is_served)),
        (Part::ServerCpu, used),
        (Part::ServerWait, waited.zip(used).map(|(waited, used)| waited - used)),
        (Part::OtherThreads, worker.zip(both).map(|(worker, both)| worker - both)),
        (Part::ServerUser, counter(metric::SERVER_CPU_USER_US)),
        (Part::ServerKernel, counter(metric::SERVER_CPU_KERNEL_US)),
    ];
    known(total, &parts)
}

/// Divides the user CPU of the client threads between the client and the engine.
///
/// The client's own CPU is a part of the user CPU, and cannot be more. Once per request, and an
/// operation may be one row of many.
fn client_and_engine(run: &RunRecord, step: &StepRecord, user: Option<f64>) -> [Option<f64>; 2] {
    let requests_per_op = requests(step) as f64 / primary_operations(step) as f64;
    let own_us = run.calibration.as_ref().map(|known| known.closed_ns_per_op / 1e3);
    let own = user.zip(own_us).map(|(user, own_us)| (own_us * requests_per_op).min(user));
    [own, user.zip(own).map(|(user, own)| user - own)]
}

/// Accounts for the mean response time: waiting for a free client, and service.
fn open(step: &StepRecord) -> Option<OfRun> {
    let mean_us = |which: fn(&OpSummary) -> &Percentiles| {
        let all = || step.clients.values().map(which);
        let count: u64 = all().map(|times| times.count).sum();
        let sum: f64 = all().map(|times| times.count as f64 * times.mean_ns).sum();
        sum / count as f64 / 1e3
    };
    let response = mean_us(|summary| &summary.response);
    let service = mean_us(|summary| &summary.service);
    let parts = [(Part::Waiting, Some(response - service)), (Part::Service, Some(service))];
    known(response, &parts)
}

/// Keeps the parts that are known; `None` when the total is no number.
fn known(total: f64, parts: &[(Part, Option<f64>)]) -> Option<OfRun> {
    let is_number = |us: &f64| us.is_finite();
    let parts = parts.iter().filter_map(|(part, us)| Some((*part, us.filter(is_number)?)));
    let parts = parts.collect();
    Some(OfRun { total, parts }).filter(|run| run.total.is_finite() && run.total > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::tests::{OPS, explained, explained_metric, made, noise, rules};
    use crate::explain::{Rule, Rung};

    /// Goal: the metric of the verdict is explained, or the requested one, and by what it is
    /// made of. Method: server CPU of 100 us became 160, all in the kernel, at equal throughput.
    #[test]
    fn metric_of_the_verdict_is_explained() {
        let server = |kernel_us: f64| {
            let own = [
                (metric::SERVER_CPU_USER_US, 60.0),
                (metric::SERVER_CPU_KERNEL_US, kernel_us),
                (metric::PROCESS_CPU_USER_US, 8.0),
                (metric::PROCESS_CPU_KERNEL_US, 4.0),
                (metric::CLIENT_CPU_USER_US, 6.0),
                (metric::CLIENT_CPU_KERNEL_US, 4.0),
            ];
            own.to_vec()
        };
        let each = |name: &'static str, kernel_us: f64| -> Vec<RunRecord> {
            let ops = |number| OPS + u64::from(number) * 10;
            (1..=3).map(|number| made(name, number, ops(number), &server(kernel_us))).collect()
        };
        let mut all = [each("a", 40.0), each("b", 100.0)].concat();
        for run in &mut all {
            let factor = noise(run);
            let cpu = run.steps[0].counters.get_mut(metric::SERVER_CPU_KERNEL_US.name).unwrap();
            *cpu *= factor;
        }
        let found = explained_metric(&all, Some(metric::SERVER_CPU_US_PER_OP), &[]);
        assert_eq!((found.metric, found.subject), ("server_cpu_us_per_op", Subject::ServerCpu));
        assert_eq!((rules(&found), found.rung), (vec![], Rung::Association));
        let ratio = found.effect.unwrap().ratio;
        assert!((ratio - 1.6).abs() < 0.01, "{ratio}");
        let account = found.account.as_ref().unwrap();
        assert_eq!(account.components[0].part, Part::ServerKernel);
        assert!((account.components[0].us.difference - 60.0).abs() < 0.1, "{account:?}");
        assert!(account.residual.base.abs() < 1e-9 && account.waits.is_none(), "{account:?}");
        assert!(found.moved.iter().all(|one| one.metric != found.metric), "{:?}", found.moved);
        let whole = explained_metric(&all, Some(metric::CPU_US_PER_OP), &[]).account.unwrap();
        assert!((whole.total.base - 112.0).abs() < 0.1 && whole.residual.base.abs() < 1e-9);
        // The default is throughput here, of which there is no difference.
        let default = explained(&all);
        assert_eq!(default.metric, "throughput_ops_per_s");
        assert_eq!(rules(&default), [Rule::NotEstablished]);
        // A metric without an account has its verdict, and one without a ratio no explanation.
        let other = explained_metric(&all, Some(metric::BUSY_THREADS), &[]);
        assert_eq!((other.account, other.refusals), (None, vec![]));
        let unknown = explained_metric(&all, Some(metric::FSYNCS_PER_OP), &[]);
        assert!(unknown.refusals[0].evidence.contains("fsyncs_per_op"), "{unknown:?}");
    }
}
