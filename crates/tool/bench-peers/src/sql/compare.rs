//! Runs the SQL comparisons.

use std::path::Path;

use super::comparison::Comparison;
use super::host::Host;
use super::pairs::{Case, measure_pairs};
use super::registry::COMPARISONS;
use super::tables;
use super::work::{COUNTED, WORKS};
use crate::environment::{Side, is_installed, run};
use crate::instructions::{Counted, Probe, slope};
use crate::throughput::on_one_core;

/// Prints the table of each comparison, or why it is skipped.
///
/// # Errors
/// When a client or the server fails.
pub(crate) fn compare() -> Result<(), String> {
    let mut has_compared = false;
    for comparison in COMPARISONS {
        let Some(peer) = (comparison.find)() else {
            let (name, package) = (comparison.peer, comparison.package);
            println!("\nskipped {name}: not installed: install Debian's package `{package}`");
            continue;
        };
        has_compared |= on_one_core(|| compare_with(comparison, &peer))?;
    }
    if has_compared {
        print!("{}", tables::notes());
    }
    Ok(())
}

/// Compares one peer with our driver; returns `false` without a server.
fn compare_with(comparison: &Comparison, peer: &Path) -> Result<bool, String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let host = match Host::start(comparison)? {
        Ok(host) => host,
        Err(lack) => {
            println!("\nskipped {}: {lack}", comparison.peer);
            return Ok(false);
        }
    };
    let result = run_comparison(comparison, peer, &host, scratch.path());
    host.stop()?;
    result.map(|()| true)
}

fn run_comparison(
    comparison: &Comparison,
    peer: &Path,
    host: &Host,
    scratch: &Path,
) -> Result<(), String> {
    let mut args = vec![peer.display().to_string()];
    args.extend((comparison.fill)(host.endpoint())?);
    run(&args)?;
    print!("{}", tables::head(comparison, host.name()));
    for work in &WORKS {
        let case = Case { comparison, work, peer, host, scratch };
        print!("{}", tables::figure_rows(comparison, work, &measure_pairs(&case)?));
        if is_installed("valgrind") {
            print!("{}", tables::instructions_row(work, &count(&case)?));
        }
    }
    Ok(())
}

/// Counts instructions per statement.
fn count(case: &Case<'_>) -> Result<Counted, String> {
    let each = |side: Side| {
        let file = case.scratch.join(format!("{side:?}.callgrind"));
        let first_thread = match side {
            Side::Peer => 1,
            Side::Ours => 2,
        };
        let probe = Probe { file: &file, first_thread, program: env!("CARGO_PKG_NAME") };
        slope(probe, COUNTED, |statements| case.args(side, statements))
    };
    Ok(Counted { peer: each(Side::Peer)?, ours: each(Side::Ours)? })
}
