//! One operation by a peer and by our client: costs side by side.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::callgrind::per_operation;
use crate::process::{Result, children_cpu_us, path_of, run};

/// Pairs, half of them in each order.
const PAIRS: usize = 12;
/// Operations of the shorter process of the CPU slope: start-up and warm-up cancel.
const FEW: u64 = 2_000;

/// Figures of a sample, each a cost per operation.
pub(crate) const WALL: &str = "wall time, us";
pub(crate) const CPU: &str = "client CPU, us";
const INSTRUCTIONS: &str = "instructions, user space";
pub(crate) const OWN: &str = "instructions of its own program, not of a library";

/// One of the two clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Peer,
    Ours,
}

/// The result of a client's process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Operations executed without an error.
    pub(crate) operations: u64,
    /// Operations per second, without start-up.
    pub(crate) per_s: f64,
}

/// One kind of operation, executed by both clients.
pub(crate) struct Case<'a> {
    /// Its name in the report.
    pub(crate) name: &'a str,
    /// The peer's program.
    pub(crate) peer: &'a str,
    /// Operations of the longer process: one to four seconds.
    pub(crate) operations: u64,
    /// Returns the command line of one side.
    pub(crate) args: &'a dyn Fn(Side, u64) -> Result<Vec<String>>,
    /// Parses what the peer printed.
    pub(crate) parse: fn(&str) -> Result<Done>,
    /// Figures with a target: our cost relative to the peer's, at most.
    pub(crate) targets: &'a [(&'a str, f64)],
    /// A directory for files.
    pub(crate) scratch: &'a Path,
}

/// Prints the head of a table of cases.
pub(crate) fn print_head(peer: &str, about: &str) {
    println!(
        "\n{peer} and our client {about}\nCosts of one operation: medians of {PAIRS} pairs in the \
         order ABBA on one core, with an interval of at\nleast 95 % for the median ratio; CPU is \
         user and system of the whole process, as the slope between two\noperation counts, and so \
         are instructions (callgrind).\n\n\
         | operation | figure | {peer} | ours | ours / {peer} | interval | target |\n\
         |---|---|--:|--:|--:|---|---|"
    );
}

impl Case<'_> {
    /// Measures both sides in the order ABBA, so that a drift affects both alike, and prints the
    /// rows.
    pub(crate) fn compare(&self) -> Result<()> {
        let (mut peer, mut ours) = (Vec::new(), Vec::new());
        for pair in 0..PAIRS {
            let sides = [(Side::Peer, &mut peer), (Side::Ours, &mut ours)];
            let sides: &mut dyn Iterator<Item = _> = match pair % 2 {
                0 => &mut sides.into_iter(),
                _ => &mut sides.into_iter().rev(),
            };
            for (side, samples) in sides {
                samples.push(self.sample(side)?);
            }
        }
        for (at, figure) in [WALL, CPU].into_iter().enumerate() {
            let of = |samples: &[[f64; 2]]| samples.iter().map(|sample| sample[at]).collect();
            self.print_row(figure, of(&peer), of(&ours));
        }
        if let Err(lack) = path_of("valgrind", "valgrind") {
            println!("| {} | {INSTRUCTIONS} | not counted: {lack} | | | | |", self.name);
            return Ok(());
        }
        let (peer, ours) = (self.count(Side::Peer)?, self.count(Side::Ours)?);
        self.print_row(INSTRUCTIONS, vec![peer[0]], vec![ours[0]]);
        // A peer's own part means something where both leave the same work to a library.
        if self.targets.iter().any(|(name, _)| *name == OWN) {
            self.print_row(OWN, vec![peer[1]], vec![ours[1]]);
        }
        Ok(())
    }

    /// Measures one side once: wall time and CPU of an operation, us.
    fn sample(&self, side: Side) -> Result<[f64; 2]> {
        let (few, _) = self.run_once(side, FEW)?;
        let (many, per_s) = self.run_once(side, self.operations)?;
        Ok([1e6 / per_s, (many - few) / (self.operations - FEW) as f64])
    }

    /// Runs one side; returns its CPU time, us, and its operations per second.
    fn run_once(&self, side: Side, operations: u64) -> Result<(f64, f64)> {
        let args = (self.args)(side, operations)?;
        let before = children_cpu_us()?;
        let printed = run(&args)?;
        let cpu_us = children_cpu_us()? - before;
        let done: Done = match side {
            Side::Peer => (self.parse)(&printed)?,
            Side::Ours => serde_json::from_str(&printed)?,
        };
        if done.operations != operations {
            let name = if side == Side::Peer { self.peer } else { "our client" };
            return Err(format!("{name} did {} of {operations} operations", done.operations).into());
        }
        Ok((cpu_us, done.per_s))
    }

    /// Counts instructions per operation.
    ///
    /// Our first thread is left out: it starts and ends the others, and its clock's calibration
    /// spins for a time, not for a count.
    fn count(&self, side: Side) -> Result<[f64; 2]> {
        let program = match side {
            Side::Peer => (self.peer, 1),
            Side::Ours => (env!("CARGO_PKG_NAME"), 2),
        };
        per_operation(self.scratch, program, |operations| (self.args)(side, operations))
    }

    fn print_row(&self, figure: &str, peer: Vec<f64>, ours: Vec<f64>) {
        let target = self.targets.iter().find(|(name, _)| *name == figure);
        println!("| {} | {figure} | {} |", self.name, cells(peer, ours, target.map(|it| it.1)));
    }
}

/// Formats both sides' medians, the ratio pair by pair, and the verdict on its target.
fn cells(peer: Vec<f64>, ours: Vec<f64>, target: Option<f64>) -> String {
    let ratios = ours.iter().zip(&peer).map(|(ours, peer)| ours / peer).collect();
    let Median { value, low, high } = median(ratios);
    let verdict = target.map_or_else(|| "-".to_owned(), |most| verdict((low, value, high), most));
    let [peer, ours] = [peer, ours].map(|values| median(values).value);
    format!("{peer:.2} | {ours:.2} | {value:.3} | {low:.3} to {high:.3} | {verdict}")
}

/// Formats the verdict on a target: met by the whole interval, by part of it, or missed.
fn verdict((low, value, high): (f64, f64, f64), most: f64) -> String {
    match most {
        most if high <= most => "met".to_owned(),
        most if low <= most => format!("open: the interval contains {most}"),
        most => format!("MISSED by {:.3}", value - most),
    }
}

/// A median with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Median {
    value: f64,
    low: f64,
    high: f64,
}

/// Least coverage probability of the interval.
const CONFIDENCE: f64 = 0.95;

/// Returns the median of at least six independent values.
///
/// The interval lies between two order statistics, as narrow as the confidence permits, for any
/// distribution of the values.
/// Source: W. Conover, 1999, "Practical Nonparametric Statistics", 3rd edition, section 3.2.
fn median(mut values: Vec<f64>) -> Median {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let value = f64::midpoint(values[(count - 1) / 2], values[count / 2]);
    let rank = rank(count);
    Median { value, low: values[rank], high: values[count - 1 - rank] }
}

/// Returns how many values lie outside the interval on each side.
fn rank(count: usize) -> usize {
    // P(the median lies below the value of rank r) = P(Binomial(count, 1/2) <= r), both ends.
    let mut chance = 0.5f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let (mut outside, mut rank) = (2.0 * chance, 0);
    loop {
        chance *= (count - rank) as f64 / (rank + 1) as f64;
        outside += 2.0 * chance;
        if outside > 1.0 - CONFIDENCE {
            return rank;
        }
        rank += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_is_met_by_the_whole_interval_only() {
        assert_eq!(verdict((0.6, 0.7, 0.8), 1.0), "met");
        assert_eq!(verdict((0.9, 0.97, 1.1), 1.0), "open: the interval contains 1");
        assert_eq!(verdict((0.58, 0.62, 0.7), 0.5), "MISSED by 0.120");
    }

    #[test]
    fn ratios_are_per_pair() {
        // The machine is twice as slow in every second pair: no ratio shows it.
        let peer = vec![4.0, 8.0, 4.0, 8.0, 4.0, 8.0];
        let ours = vec![3.0, 6.0, 3.0, 6.0, 3.0, 6.0];
        assert_eq!(cells(peer, ours, None), "6.00 | 4.50 | 0.750 | 0.750 to 0.750 | -");
        assert_eq!(
            cells(vec![8.0], vec![2.0], Some(0.3)),
            "8.00 | 2.00 | 0.250 | 0.250 to 0.250 | met"
        );
    }

    #[test]
    fn ranks_equal_the_published_table() {
        // Source: Conover 1999, table A3 (binomial, p = 0.5): the largest r with P(X <= r) at
        // most 0.025, less one for a count from zero.
        let ranks = [6, 8, 9, 12, 15, 20].map(rank);
        assert_eq!(ranks, [0, 0, 1, 2, 3, 5]);
    }

    #[test]
    fn median_lies_within_its_interval() {
        let values = (1u32..=12).rev().map(f64::from).collect();
        assert_eq!(median(values), Median { value: 6.5, low: 3.0, high: 10.0 });
    }
}
