//! The duels, one after the other.

use std::path::Path;

use super::duel::{DUELS, Duel};
use super::host::Host;
use super::race::{Match, race};
use super::tables;
use super::work::{COUNTED, WORKS};
use crate::instructions::{Counted, Probe, slope};
use crate::setting::{Side, is_installed, run};
use crate::throughput::on_one_core;

/// Compares and prints each duel's table, or why not.
///
/// # Errors
/// When a client or the server fails.
pub(crate) fn compare() -> Result<(), String> {
    let mut has_compared = false;
    for duel in DUELS {
        let Some(peer) = (duel.find)() else {
            let (name, package) = (duel.peer, duel.package);
            println!("\nskipped {name}: it is not here: install Debian's package `{package}`");
            continue;
        };
        has_compared |= on_one_core(|| fight(duel, &peer))?;
    }
    if has_compared {
        print!("{}", tables::notes());
    }
    Ok(())
}

/// Compares one peer with our driver; returns whether there was a server to do it on.
fn fight(duel: &Duel, peer: &Path) -> Result<bool, String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let host = match Host::start(duel)? {
        Ok(host) => host,
        Err(lack) => {
            println!("\nskipped {}: {lack}", duel.peer);
            return Ok(false);
        }
    };
    let told = on(duel, peer, &host, scratch.path());
    host.stop()?;
    told.map(|()| true)
}

fn on(duel: &Duel, peer: &Path, host: &Host, scratch: &Path) -> Result<(), String> {
    let mut words = vec![peer.display().to_string()];
    words.extend((duel.fill)(host.endpoint())?);
    run(&words)?;
    print!("{}", tables::head(duel, host.name()));
    for work in &WORKS {
        let contest = Match { duel, work, peer, host, scratch };
        print!("{}", tables::race_rows(duel, work, &race(&contest)?));
        if is_installed("valgrind") {
            print!("{}", tables::instructions_row(work, &count(&contest)?));
        }
    }
    Ok(())
}

/// Counts instructions per statement.
fn count(contest: &Match<'_>) -> Result<Counted, String> {
    let each = |side: Side| {
        let file = contest.scratch.join(format!("{side:?}.callgrind"));
        let first_thread = match side {
            Side::Peer => 1,
            Side::Ours => 2,
        };
        let probe = Probe { file: &file, first_thread, program: env!("CARGO_PKG_NAME") };
        slope(probe, COUNTED, |statements| contest.words(side, statements))
    };
    Ok(Counted { peer: each(Side::Peer)?, ours: each(Side::Ours)? })
}
