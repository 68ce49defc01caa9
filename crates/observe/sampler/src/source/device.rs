//! The counters of the device the data lies on.

use model::{Metric, Readings, metric};

use crate::block_device::BlockDevice;
use crate::kernel_file::read;
use crate::targets::{RunTargets, Sampler};

/// Bytes of a sector in the block layer's counters, whatever the device's own.
/// Source: Linux, Documentation/block/stat.rst.
const SECTOR_BYTES: u64 = 512;

/// Microseconds of the block layer's unit of time.
const MS: u64 = 1_000;

/// Counters of merges, times, discards and flushes: metric, position in the line, factor.
const OTHERS: [(Metric, usize, u64); 13] = [
    (metric::DEVICE_READ_MERGES, 1, 1),
    (metric::DEVICE_READ_US, 3, MS),
    (metric::DEVICE_WRITE_MERGES, 5, 1),
    (metric::DEVICE_WRITE_US, 7, MS),
    (metric::DEVICE_IN_FLIGHT, 8, 1),
    (metric::DEVICE_BUSY_US, 9, MS),
    (metric::DEVICE_QUEUE_US, 10, MS),
    (metric::DEVICE_DISCARDS, 11, 1),
    (metric::DEVICE_DISCARD_MERGES, 12, 1),
    (metric::DEVICE_DISCARD_BYTES, 13, SECTOR_BYTES),
    (metric::DEVICE_DISCARD_US, 14, MS),
    (metric::DEVICE_FLUSHES, 15, 1),
    (metric::DEVICE_FLUSH_US, 16, MS),
];

/// Starts the sampler.
pub(crate) fn start(targets: &RunTargets<'_>) -> Option<Sampler> {
    let device = targets.local_device()?;
    Some(Box::new(move |_| sample(&device)))
}

/// Reads the device's counters.
fn sample(device: &BlockDevice) -> Readings {
    readings(&read(device.sys_dir.join("stat")).unwrap_or_default())
}

/// Returns the readings in the text of a block device's `stat`.
///
/// Source: [Linux block stat]: reads, merged, sectors, ms, writes, merged,
/// sectors, ms, in flight, ms busy, ms queued, 4 of discards (since 4.18), flushes, ms (5.5).
fn readings(text: &str) -> Readings {
    let fields: Vec<u64> =
        text.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    let field = |index: usize, scale: u64| fields.get(index).map(|value| value * scale);
    let mut readings = Readings::new();
    readings.set(metric::DEVICE_READS, field(0, 1));
    readings.set(metric::DEVICE_READ_BYTES, field(2, SECTOR_BYTES));
    readings.set(metric::DEVICE_WRITES, field(4, 1));
    readings.set(metric::DEVICE_WRITE_BYTES, field(6, SECTOR_BYTES));
    for (metric, index, scale) in OTHERS {
        readings.set(metric, field(index, scale));
    }
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_become_bytes_and_milliseconds_microseconds() {
        let text = "  350137    34674 26379986   647490    81295    59967 15675240    88614        \
                    0    46360   743827    24368       37  7466640     5248    15515     2473\n";
        let readings = readings(text);
        assert_eq!(readings.value(metric::DEVICE_READS), Some(350_137.0));
        assert_eq!(readings.value(metric::DEVICE_READ_BYTES), Some(26_379_986.0 * 512.0));
        assert_eq!(readings.value(metric::DEVICE_WRITES), Some(81_295.0));
        assert_eq!(readings.value(metric::DEVICE_WRITE_BYTES), Some(15_675_240.0 * 512.0));
        assert_eq!(readings.value(metric::DEVICE_BUSY_US), Some(46_360_000.0));
        assert_eq!(readings.value(metric::DEVICE_FLUSHES), Some(15_515.0));
        for (metric, value) in [
            (metric::DEVICE_READ_MERGES, 34_674.0),
            (metric::DEVICE_READ_US, 647_490_000.0),
            (metric::DEVICE_WRITE_MERGES, 59_967.0),
            (metric::DEVICE_WRITE_US, 88_614_000.0),
            (metric::DEVICE_IN_FLIGHT, 0.0),
            (metric::DEVICE_QUEUE_US, 743_827_000.0),
            (metric::DEVICE_DISCARDS, 24_368.0),
            (metric::DEVICE_DISCARD_MERGES, 37.0),
            (metric::DEVICE_DISCARD_BYTES, 7_466_640.0 * 512.0),
            (metric::DEVICE_DISCARD_US, 5_248_000.0),
            (metric::DEVICE_FLUSH_US, 2_473_000.0),
        ] {
            assert_eq!(readings.value(metric), Some(value), "{metric}");
        }
        assert_eq!(readings.len(), 17);
    }

    #[test]
    fn an_old_kernel_does_not_report_flushes() {
        let readings = readings("1 2 3 4 5 6 7 8 9 10 11\n");
        assert_eq!(readings.value(metric::DEVICE_BUSY_US), Some(10_000.0));
        assert!(!readings.has(metric::DEVICE_DISCARDS));
        assert!(!readings.has(metric::DEVICE_FLUSHES));
    }
}
