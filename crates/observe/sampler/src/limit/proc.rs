//! `/proc`: without it, no cost and no other process can be read.

use std::path::Path;

use model::SystemNeeds;

use super::{Limit, Shortage};

pub(crate) static LIMIT: Limit = Limit { name: "proc", check };

/// A file that every mounted `/proc` has. Source: proc(5).
const FILE: &str = "/proc/self/stat";

fn check(_needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    if Path::new(FILE).exists() {
        return Ok(());
    }
    Err(Shortage {
        limit: LIMIT.name,
        reason: "/proc is not mounted, so costs and processes cannot be read".to_owned(),
        remedy: "mount it with `mount -t proc proc /proc`".to_owned(),
    })
}
