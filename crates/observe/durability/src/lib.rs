//! Measures what a store loses of its acknowledged changes in a crash.
//!
//! It simulates crashes, and never ranks: a store in memory needs no disk, so no throughput comes
//! from here. The parent (`campaign`) starts a host of cuts (`host`) in namespaces of its own.
//! For each cut the host starts the store in a child (`store`), which writes the changes of its
//! clients (`history`) and acknowledges each in a file. At a drawn moment the host stops the
//! child, takes from the file system what was not synced (`crashfs`), and kills. A second child
//! opens the store again and compares its rows with what was acknowledged (`oracle`).
//!
//! Invariants: a store that is known to lose is convicted, and one that is known to lose nothing
//! acquitted, before any verdict (`calibrate`); nothing is mounted or running after the host has
//! ended, however it ends.

mod acknowledgements;
mod calibrate;
mod campaign;
mod children;
mod error;
mod history;
mod host;
mod message;
mod namespace;
mod oracle;
mod place;
mod serve;
mod store;

pub use calibrate::calibrate;
pub use campaign::{CampaignRequest, Conditions, run_campaign};
pub use error::CutError;
pub use host::Kinds;
pub use namespace::check_level;
pub use serve::serve;
