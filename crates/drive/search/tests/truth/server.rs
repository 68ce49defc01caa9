//! Discrete-event simulation of an engine and its clients.
//!
//! The clients serve one queue, first come first served. An operation takes a random time, and adds
//! debt that a background worker pays; above a threshold of debt operations are slowed down. So the
//! sustainable rate is known: the worker's pay rate over the debt per operation.

use model::Nanos;
use model::record::Percentiles;
use search::{Probe, ProbeLoad, ProbeObservation, Second};
use stats::testing::Noise;

/// Parameters of the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec {
    /// Clients, each with one operation at a time.
    pub clients: usize,
    /// Mean service time, seconds.
    pub service_s: f64,
    /// Distribution of service times.
    pub spread: Spread,
    /// Longest response time that is not late, seconds.
    pub limit_s: f64,
    /// Debt of the operations.
    pub debt: Debt,
    /// Mean number of engine pauses per second, and their length, seconds.
    pub pauses: (f64, f64),
    /// Share of the intervals marked invalid.
    pub invalid_share: f64,
}

/// Distribution of service times around their mean.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spread {
    /// Constant.
    Constant,
    /// Exponential.
    Exponential,
    /// Logarithmic normal, with this deviation of the logarithm.
    LogNormal(f64),
    /// Universal Scalability Law in the number of clients: contention, coherency.
    Scalability(f64, f64),
}

/// Debt of the operations, and how it is paid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Debt {
    /// Bytes at the beginning.
    pub initial: f64,
    /// Bytes that an operation adds.
    pub per_op: f64,
    /// Bytes that the worker pays per second.
    pub paid_per_s: f64,
    /// Deviation of the pay rate, as a share; correlated over some seconds.
    pub noise: f64,
    /// Debt at which the worker starts; it then pays all.
    pub batch: f64,
    /// Debt above which operations are slowed down.
    pub stall_above: f64,
    /// How many times slower they are.
    pub slowdown: f64,
    /// Longest settle, seconds.
    pub longest_settle_s: f64,
    /// Whether the engine reports its debt.
    pub is_reported: bool,
}

impl Debt {
    /// No debt.
    pub(crate) const NONE: Self = Self {
        initial: 0.0,
        per_op: 0.0,
        paid_per_s: 1.0,
        noise: 0.0,
        batch: 0.0,
        stall_above: f64::INFINITY,
        slowdown: 1.0,
        longest_settle_s: 600.0,
        is_reported: true,
    };
}

/// A simulated server.
#[derive(Debug)]
pub(crate) struct Server {
    spec: Spec,
    noise: Noise,
    /// Debt, and whether the worker is paying.
    debt: f64,
    is_paying: bool,
    /// Deviation of the worker's pay rate in this second.
    pace_noise: f64,
    /// Simulated time, seconds.
    now_s: f64,
    /// Next pause of the engine.
    pause_s: f64,
    /// Time simulated in all.
    pub total_s: f64,
}

/// Counts of one probe.
struct Tally {
    begin_s: f64,
    end_s: f64,
    seconds: Vec<Second>,
    /// Time in which each client was slowed down on average, by second.
    stalls_us: Vec<f64>,
    /// Start of the operation before.
    last_start_s: f64,
    censored: u64,
    censored_late: u64,
}

impl Server {
    /// Returns a server with this random seed.
    pub(crate) fn new(spec: Spec, seed: u64) -> Self {
        let mut noise = Noise::new(seed.wrapping_mul(0x9E37_79B9));
        let pause_s = exponential(&mut noise, spec.pauses.0);
        let debt = spec.debt.initial;
        Self {
            spec,
            noise,
            debt,
            is_paying: true,
            pace_noise: 0.0,
            now_s: 0.0,
            pause_s,
            total_s: 0.0,
        }
    }

    /// Runs a probe.
    pub(crate) fn run(&mut self, probe: &Probe) -> ProbeObservation {
        self.total_s += self.now_s;
        self.pause_s -= self.now_s;
        self.now_s = 0.0;
        let settled_s = if probe.settles_first { self.settle() } else { 0.0 };
        let before = self.debt;
        let begin_s = self.now_s + probe.warmup.as_secs_f64();
        let end_s = begin_s + probe.measure.as_secs_f64();
        let length = probe.measure.as_secs_f64().ceil() as usize;
        let seconds = vec![Second::default(); length];
        let stalls_us = vec![0.0; length];
        let mut tally = Tally {
            begin_s,
            end_s,
            seconds,
            stalls_us,
            last_start_s: 0.0,
            censored: 0,
            censored_late: 0,
        };
        match probe.load {
            ProbeLoad::Rate { ops_per_s } => self.open(ops_per_s, &mut tally),
            ProbeLoad::Closed { clients } => self.closed(clients as usize, &mut tally),
        }
        self.advance(end_s, &mut tally);
        for (second, stall_us) in tally.seconds.iter_mut().zip(&tally.stalls_us) {
            second.readings.insert("engine_stall_us".to_owned(), *stall_us);
            second.length = Nanos::SECOND;
            second.is_invalid = self.noise.uniform() < self.spec.invalid_share;
        }
        let count = tally.seconds.iter().map(|second| second.ended).sum();
        let percentiles = Percentiles { count, ..Percentiles::default() };
        ProbeObservation {
            seconds: tally.seconds,
            censored_late: tally.censored_late,
            censored: tally.censored,
            response: percentiles,
            service: percentiles,
            duration: probe.measure,
            settle_time: Nanos((settled_s * 1e9) as u64),
            debt_bytes: self.spec.debt.is_reported.then_some((before, self.debt)),
            stop: None,
        }
    }

    /// Waits until no debt is left, at most the longest settle; returns the time.
    fn settle(&mut self) -> f64 {
        let begin_s = self.now_s;
        let longest_s = begin_s + self.spec.debt.longest_settle_s;
        while self.now_s < longest_s && self.debt > 0.0 && self.is_paying {
            let next_s = self.now_s + 1.0;
            self.step(next_s);
        }
        self.now_s - begin_s
    }

    fn open(&mut self, ops_per_s: f64, tally: &mut Tally) {
        let mut free_s = vec![self.now_s; self.spec.clients];
        let mut due_s = self.now_s;
        loop {
            due_s += exponential(&mut self.noise, ops_per_s);
            if due_s >= tally.end_s {
                return;
            }
            let client = earliest(&free_s);
            let start_s = self.unpaused(due_s.max(free_s[client]));
            tally.wait(due_s, start_s);
            if start_s < tally.end_s {
                self.advance(start_s, tally);
                free_s[client] = start_s + self.serve(tally, self.spec.clients);
                tally.done(due_s, free_s[client], self.spec.limit_s);
            } else {
                free_s[client] = start_s;
                tally.done(due_s, start_s, self.spec.limit_s);
            }
        }
    }

    fn closed(&mut self, clients: usize, tally: &mut Tally) {
        let mut free_s = vec![self.now_s; clients];
        loop {
            let client = earliest(&free_s);
            let start_s = self.unpaused(free_s[client]);
            if start_s >= tally.end_s {
                return;
            }
            self.advance(start_s, tally);
            free_s[client] = start_s + self.serve(tally, clients);
            tally.done(start_s, free_s[client], self.spec.limit_s);
        }
    }

    /// Returns the service time of an operation that starts now, and adds its debt.
    fn serve(&mut self, tally: &mut Tally, clients: usize) -> f64 {
        let others = clients as f64 - 1.0;
        let factor = match self.spec.spread {
            Spread::Constant => 1.0,
            Spread::Exponential => exponential(&mut self.noise, 1.0),
            Spread::LogNormal(sigma) => (sigma * self.noise.normal() - sigma * sigma / 2.0).exp(),
            Spread::Scalability(contention, coherency) => {
                let slower = 1.0 + contention * others + coherency * others * clients as f64;
                slower * (0.3 * self.noise.normal() - 0.045).exp()
            }
        };
        let service_s = self.spec.service_s * factor;
        let is_slow = self.debt > self.spec.debt.stall_above;
        self.debt += self.spec.debt.per_op;
        if !is_slow {
            return service_s;
        }
        let slow_s = service_s * self.spec.debt.slowdown;
        if self.now_s >= tally.begin_s {
            let at = (self.now_s - tally.begin_s) as usize;
            tally.stalls_us[at] += (slow_s - service_s) * 1e6 / clients as f64;
        }
        slow_s
    }

    /// Returns when an operation can start, after the engine's pauses.
    fn unpaused(&mut self, at_s: f64) -> f64 {
        let (per_s, length_s) = self.spec.pauses;
        while self.pause_s + length_s < at_s {
            self.pause_s += length_s + exponential(&mut self.noise, per_s);
        }
        if at_s > self.pause_s { self.pause_s + length_s } else { at_s }
    }

    /// Advances time, sampling the gauges at the end of each second.
    fn advance(&mut self, to_s: f64, tally: &mut Tally) {
        if self.now_s < tally.begin_s && to_s >= tally.begin_s {
            self.step(tally.begin_s);
        }
        while self.now_s >= tally.begin_s && self.now_s < tally.end_s {
            let index = (self.now_s - tally.begin_s + 1e-9).floor();
            let border_s = (tally.begin_s + index + 1.0).min(tally.end_s);
            if border_s > to_s {
                break;
            }
            self.step(border_s);
            let (debt, is_reported) = (self.debt, self.spec.debt.is_reported);
            if let Some(second) = tally.seconds.get_mut(index as usize).filter(|_| is_reported) {
                second.readings.insert("engine_debt_bytes".to_owned(), debt);
            }
        }
        self.step(to_s);
    }

    /// Advances the worker's payments.
    fn step(&mut self, to_s: f64) {
        if self.now_s.floor() < to_s.floor() {
            self.pace_noise = 0.8 * self.pace_noise + 0.6 * self.noise.normal();
        }
        let debt = &self.spec.debt;
        self.is_paying = self.debt > 0.0 && (self.is_paying || self.debt >= debt.batch);
        if self.is_paying {
            let pace = (1.0 + debt.noise * self.pace_noise).max(0.0);
            self.debt =
                (self.debt - debt.paid_per_s * pace * (to_s - self.now_s).max(0.0)).max(0.0);
        }
        self.now_s = self.now_s.max(to_s);
    }
}

impl Tally {
    fn second(&mut self, at_s: f64) -> Option<&mut Second> {
        if at_s < self.begin_s || at_s >= self.end_s {
            return None;
        }
        self.seconds.get_mut((at_s - self.begin_s) as usize)
    }

    /// Records the age of the oldest waiting arrival at each second's end.
    fn wait(&mut self, due_s: f64, start_s: f64) {
        // First come, first served: up to the last start, an older arrival waited.
        let from_s = due_s.max(self.last_start_s);
        self.last_start_s = start_s;
        let mut border_s = self.begin_s + (from_s - self.begin_s).floor().max(0.0) + 1.0;
        while border_s < start_s && border_s <= self.end_s + 1e-9 {
            if let Some(second) = self.second(border_s - 0.5) {
                let age = Nanos(((border_s - due_s) * 1e9) as u64);
                second.backlog = second.backlog.max(age);
            }
            border_s += 1.0;
        }
    }

    fn done(&mut self, due_s: f64, ended_s: f64, limit_s: f64) {
        let is_late = ended_s - due_s > limit_s;
        if let Some(second) = self.second(ended_s) {
            second.ended += 1;
            second.late += u64::from(is_late);
        } else if due_s >= self.begin_s && ended_s >= self.end_s {
            self.censored += 1;
            self.censored_late += u64::from(self.end_s - due_s > limit_s);
        }
    }
}

fn earliest(free_s: &[f64]) -> usize {
    let mut best = 0;
    for (at, free) in free_s.iter().enumerate() {
        if *free < free_s[best] {
            best = at;
        }
    }
    best
}

/// Returns an exponential gap at this rate; infinite at rate 0.
fn exponential(noise: &mut Noise, per_s: f64) -> f64 {
    if per_s > 0.0 { -noise.uniform().ln() / per_s } else { f64::INFINITY }
}
