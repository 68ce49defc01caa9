//! Campaigns: faults and kills by the thousand, and a sample of them in every test run.
//!
//! `ASSAY_CAMPAIGN=long` runs all of them, as `make campaign` does. Each prints its count.
//!
//! To add a campaign: one file, and its line here; its length comes from [`scale`].

mod accounts;
mod attempts;
mod bundles;
mod fault_library;
mod faults;
mod kills;
mod moments;
mod power_cuts;
#[expect(dead_code, reason = "its other users are in `bad_days`")]
#[path = "../bad_days/sandbox.rs"]
mod sandbox;
mod scale;
mod server_kills;
#[expect(dead_code, reason = "its other users are in `bad_days`")]
#[path = "../bad_days/server_traces.rs"]
mod server_traces;
mod shared_loads;
