//! The counters of the device the data lies on.

use model::{Readings, metric};

use crate::block_device::BlockDevice;
use crate::kernel_file::read;

/// Bytes of a sector in the block layer's counters, whatever the device's own.
/// Source: Linux, Documentation/block/stat.rst.
const SECTOR_BYTES: u64 = 512;

/// Reads the device's counters.
pub(crate) fn sample(device: &BlockDevice) -> Readings {
    readings(&read(device.sys_dir.join("stat")).unwrap_or_default())
}

/// Returns the readings in the text of a block device's `stat`.
///
/// Source: Linux, Documentation/block/stat.rst: reads, merged, sectors, ms, writes, merged,
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
    readings.set(metric::DEVICE_BUSY_US, field(9, 1000));
    readings.set(metric::DEVICE_FLUSHES, field(15, 1));
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
    }

    #[test]
    fn an_old_kernel_does_not_report_flushes() {
        let readings = readings("1 2 3 4 5 6 7 8 9 10 11\n");
        assert_eq!(readings.value(metric::DEVICE_BUSY_US), Some(10_000.0));
        assert!(!readings.has(metric::DEVICE_FLUSHES));
    }
}
