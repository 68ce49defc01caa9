//! Service times in ten buckets, as the insert benchmark's reports have them.

use std::collections::BTreeMap;

use crate::capability::OpKind;
use crate::units::Nanos;

/// Number of buckets.
pub const BUCKETS: usize = 10;

/// Inclusive upper bounds of all buckets but the last, which has none.
///
/// Source: [Callaghan mytools], response-time histograms of the insert benchmark.
pub const BUCKET_BOUNDS: [Nanos; BUCKETS - 1] = [
    Nanos(256_000),
    Nanos(1_000_000),
    Nanos(4_000_000),
    Nanos(16_000_000),
    Nanos(64_000_000),
    Nanos(256_000_000),
    Nanos(1_000_000_000),
    Nanos(4_000_000_000),
    Nanos(16_000_000_000),
];

/// Operations per bucket, by kind of operation.
pub type Buckets = BTreeMap<OpKind, [u64; BUCKETS]>;
