//! Searches on simulated engines with a known result.
//!
//! The default tests run a few seeds of each; all seeds, as a table: `cargo test --release -p
//! search --test truth -- --ignored --nocapture`.

#![expect(clippy::cast_possible_truncation, reason = "counts of a simulation are small")]
#![expect(clippy::cast_sign_loss, reason = "times of a simulation are not negative")]

mod clients;
mod rates;
mod scenarios;
mod server;

use model::validity::SearchRecord;
use search::{Next, Search};

use crate::server::Server;

/// Runs a search to its end.
fn run(search: &mut dyn Search, server: &mut Server) -> SearchRecord {
    while let Next::Probe(probe) = search.next() {
        search.observe(&server.run(&probe));
    }
    search.record().clone()
}
