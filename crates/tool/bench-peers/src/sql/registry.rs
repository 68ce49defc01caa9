//! The SQL comparisons.

use super::comparison::Comparison;
use super::{pgbench, sysbench};

/// All comparisons.
pub(super) const COMPARISONS: [&Comparison; 2] = [&pgbench::COMPARISON, &sysbench::COMPARISON];
