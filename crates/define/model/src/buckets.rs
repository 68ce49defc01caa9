//! Service times in ten buckets: those of insert benchmark reports, and finer ones.

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

/// The same for embedded engines, most of whose operations take less than 256 us.
///
/// Our choice: 1, 2 and 5 of each decade below 100 us. A published share is of responses within
/// 10 us [Callaghan 2022-07-20].
pub const FINE_BOUNDS: [Nanos; BUCKETS - 1] = [
    Nanos(1_000),
    Nanos(2_000),
    Nanos(5_000),
    Nanos(10_000),
    Nanos(20_000),
    Nanos(50_000),
    Nanos(100_000),
    Nanos(1_000_000),
    Nanos(10_000_000),
];

/// Operations per bucket, by kind of operation.
pub type Buckets = BTreeMap<OpKind, [u64; BUCKETS]>;
