//! Interleaved pairs of both clients on one server.

use std::path::Path;

use super::comparison::{Comparison, Done};
use super::host::Host;
use super::ours::{Job, OURS_SQL};
use super::work::{FEW, Work};
use super::{cpu, echo};
use crate::environment::{Side, own_args, run};
use crate::interval::{Median, median};
use crate::throughput::PAIRS;

/// One statement, executed by both clients on one server.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    /// The comparison.
    pub(super) comparison: &'a Comparison,
    /// The statement.
    pub(super) work: &'a Work,
    /// The peer's program.
    pub(super) peer: &'a Path,
    /// The server.
    pub(super) host: &'a Host,
    /// A directory for files.
    pub(super) scratch: &'a Path,
}

impl Case<'_> {
    /// Returns the command line of one side.
    pub(super) fn args(&self, side: Side, statements: u64) -> Result<Vec<String>, String> {
        let (endpoint, statement) = (self.host.endpoint(), self.work.statement);
        match side {
            Side::Peer => {
                let mut args = vec![self.peer.display().to_string()];
                let executed = (statement, statements);
                args.extend((self.comparison.args)(endpoint, executed, self.scratch)?);
                Ok(args)
            }
            Side::Ours => {
                let job = Job {
                    peer: self.comparison.peer.to_owned(),
                    statement,
                    statements,
                    endpoint: endpoint.clone(),
                };
                own_args(OURS_SQL, &job)
            }
        }
    }

    /// Runs one side and measures client and server CPU.
    fn run_once(&self, side: Side, statements: u64) -> Result<ProcessRun, String> {
        let args = self.args(side, statements)?;
        let (client, server) = (cpu::of_children_us(), self.host.cpu_us()?);
        let printed = run(&args)?;
        let client = cpu::of_children_us() - client;
        let server = self.host.cpu_us()? - server;
        let done: Done = match side {
            Side::Peer => (self.comparison.parse)(&printed)?,
            Side::Ours => serde_json::from_str(&printed).map_err(|error| error.to_string())?,
        };
        if done.statements != statements {
            let name = self.name(side);
            return Err(format!("{name} executed {} statements of {statements}", done.statements));
        }
        Ok(ProcessRun { client, server, per_s: done.per_s })
    }

    fn name(&self, side: Side) -> &'static str {
        match side {
            Side::Peer => self.comparison.peer,
            Side::Ours => "our client",
        }
    }

    /// Measures one side once: a short process, and a long one.
    fn sample(&self, side: Side) -> Result<Sample, String> {
        let few = self.run_once(side, FEW)?;
        let many = self.run_once(side, self.work.many)?;
        let statements = (self.work.many - FEW) as f64;
        let client_us = (many.client - few.client) / statements;
        Ok(Sample {
            client_us,
            server_us: (many.server - few.server) / statements,
            per_s: many.per_s,
            start_ms: (few.client - client_us * FEW as f64) / 1e3,
        })
    }
}

/// The cost of one client process.
#[derive(Debug, Clone, Copy)]
struct ProcessRun {
    /// CPU of the client, us.
    client: f64,
    /// CPU of the server meanwhile, us.
    server: f64,
    /// Statements per second.
    per_s: f64,
}

/// One sample of one side.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// CPU of the client, us per statement.
    client_us: f64,
    /// CPU of the server, us per statement.
    server_us: f64,
    /// Statements per second.
    per_s: f64,
    /// CPU of the client's start and end, ms.
    start_ms: f64,
}

/// One figure of both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figure {
    /// The peer's.
    pub(super) peer: Median,
    /// Ours.
    pub(super) ours: Median,
    /// Ours divided by the peer's, pair by pair.
    pub(super) ratio: Median,
}

/// Results of all pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairedFigures {
    /// CPU of the client, us per statement.
    pub(super) client_us: Figure,
    /// CPU of the server, us per statement.
    pub(super) server_us: Figure,
    /// Statements per second.
    pub(super) per_s: Figure,
    /// CPU of the client's start and end, ms.
    pub(super) start_ms: Figure,
    /// CPU of an exchange without work, in place of our client, us.
    pub(super) exchange_us: Figure,
}

/// Measures both sides in the order ABBA, so that a drift affects both alike.
///
/// # Errors
/// When a client fails, or executed another number of statements.
pub(super) fn measure_pairs(case: &Case<'_>) -> Result<PairedFigures, String> {
    let (mut peer, mut ours, mut exchanges) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let sides = if pair % 2 == 0 { [Side::Peer, Side::Ours] } else { [Side::Ours, Side::Peer] };
        for side in sides {
            let sample = case.sample(side)?;
            match side {
                Side::Peer => peer.push(sample),
                Side::Ours => ours.push(sample),
            }
        }
        exchanges.push(echo::exchange_us()?);
    }
    let of_all = |samples: &[Sample], of: fn(&Sample) -> f64| samples.iter().map(of).collect();
    let figure = |of: fn(&Sample) -> f64| figure(of_all(&peer, of), of_all(&ours, of));
    Ok(PairedFigures {
        client_us: figure(|sample| sample.client_us),
        server_us: figure(|sample| sample.server_us),
        per_s: figure(|sample| sample.per_s),
        start_ms: figure(|sample| sample.start_ms),
        exchange_us: self::figure(of_all(&peer, |sample| sample.client_us), exchanges),
    })
}

fn figure(peer: Vec<f64>, ours: Vec<f64>) -> Figure {
    let ratios = ours.iter().zip(&peer).map(|(ours, peer)| ours / peer).collect();
    Figure { peer: median(peer), ours: median(ours), ratio: median(ratios) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_per_pair() {
        // The machine is twice as slow in every second pair: no ratio shows it.
        let peer = vec![4.0, 8.0, 4.0, 8.0, 4.0, 8.0];
        let ours = vec![3.0, 6.0, 3.0, 6.0, 3.0, 6.0];
        let found = figure(peer, ours);
        assert_eq!((found.ratio.low, found.ratio.value, found.ratio.high), (0.75, 0.75, 0.75));
        assert_eq!((found.peer.value, found.ours.value), (6.0, 4.5));
    }
}
