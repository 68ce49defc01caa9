//! Runs the SQL comparisons.

use std::path::Path;

use model::Endpoint;
use server::STOP_WITHIN;

use super::application::application;
use super::peer::{Peer, ROWS};
use super::{host, pgbench, sysbench};
use crate::ours::Task;
use crate::pairs::{CPU, Case, Side, print_head};
use crate::process::{Result, own_args, pin_to_one_core, run};

/// Prints the table of each comparison, or why it is skipped.
///
/// # Errors
/// When a client or the server fails.
pub(crate) fn compare() -> Result<()> {
    pin_to_one_core()?;
    for peer in [&pgbench::PEER, &sysbench::PEER] {
        let found = match (peer.find)() {
            Ok(program) => host::start(peer)?.map(|host| (program, host)),
            Err(lack) => Err(lack),
        };
        match found {
            Ok((program, (build, mut running, _data))) => {
                let result = compare_with(peer, &program, (&build, &running.endpoint));
                running.stop(STOP_WITHIN)?;
                result?;
            }
            Err(lack) => println!("\nskipped {}: {lack}", peer.name),
        }
    }
    Ok(())
}

fn compare_with(peer: &Peer, program: &Path, (build, endpoint): (&str, &Endpoint)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let scratch = scratch.path();
    let with_program = |mut args: Vec<String>| {
        args.insert(0, program.display().to_string());
        args
    };
    run(&with_program((peer.fill)(endpoint, scratch)?))?;
    let about = format!(
        "on {build}: one client, unix socket, prepared statements, {ROWS} rows, all cached,\ncommits \
         not synced; client and server on one CPU."
    );
    print_head(peer.name, &about);
    for statement in (peer.statements)() {
        let (name, operations) = (statement.name, statement.count);
        let targets: &[_] = if statement.is_update { &[] } else { &[(CPU, peer.target)] };
        let args = |side: Side, operations: u64| match side {
            Side::Peer => {
                Ok(with_program((peer.args)(endpoint, (&statement, operations), scratch)?))
            }
            Side::Ours => {
                let application = Box::new(application(&statement)?);
                let (dialect, endpoint) = (peer.dialect, Box::new(endpoint.clone()));
                own_args(&Task::Sql { application, dialect, operations, endpoint }, scratch)
            }
        };
        let (args, parse) = (&args, peer.parse);
        Case { name, peer: peer.name, operations, args, parse, targets, scratch }.compare()?;
    }
    Ok(())
}
