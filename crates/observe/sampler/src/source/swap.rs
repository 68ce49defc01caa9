//! Swapping and direct reclaim of the host, from `/proc/vmstat`.

use std::path::Path;

use model::{Readings, metric};

use crate::error::SampleError;
use crate::kernel_file::{read_if_there, value_of};
use crate::sampler::Sampler;

/// Reads the host's accounts of memory shortage.
pub(crate) struct SwapSampler;

impl Sampler for SwapSampler {
    fn sample(&mut self) -> Result<Readings, SampleError> {
        let mut readings = Readings::new();
        if let Some(text) = read_if_there(Path::new("/proc/vmstat"))? {
            add_vmstat(&mut readings, &text, rustix::param::page_size() as u64);
        }
        Ok(readings)
    }
}

/// Adds the readings in the text of `/proc/vmstat`.
///
/// Allocations that stalled are counted by memory zone since Linux 4.10. What a control group
/// frees to stay below its own cap is in none of them: that is not the host's shortage.
///
/// Source: `proc_vmstat(5)`; Linux, mm/vmscan.c, `do_try_to_free_pages` (counted only where the
/// reclaim is not a control group's).
fn add_vmstat(readings: &mut Readings, text: &str, page_bytes: u64) {
    let bytes = |key| value_of(text, key)?.checked_mul(page_bytes);
    readings.set(metric::HOST_SWAP_IN_BYTES, bytes("pswpin"));
    readings.set(metric::HOST_SWAP_OUT_BYTES, bytes("pswpout"));
    let stalls = text.lines().filter(|line| line.starts_with("allocstall"));
    let counts = stalls.filter_map(|line| line.split_ascii_whitespace().nth(1)?.parse().ok());
    readings.set(metric::HOST_DIRECT_RECLAIMS, counts.reduce(|sum: u64, count| sum + count));
}

#[cfg(test)]
mod tests {
    use super::*;

    const VMSTAT: &str = "nr_free_pages 1021\npswpin 3\npswpout 5\nallocstall_dma 1\n\
        allocstall_normal 20\nallocstall_movable 300\npgsteal_direct 77\n";

    #[test]
    fn swap_is_in_bytes_and_stalls_are_of_all_zones() {
        let mut readings = Readings::new();
        add_vmstat(&mut readings, VMSTAT, 4096);
        assert_eq!(readings.value(metric::HOST_SWAP_IN_BYTES), Some(12_288.0));
        assert_eq!(readings.value(metric::HOST_SWAP_OUT_BYTES), Some(20_480.0));
        assert_eq!(readings.value(metric::HOST_DIRECT_RECLAIMS), Some(321.0));
    }

    #[test]
    fn an_old_kernel_counts_stalls_once_and_one_without_swap_omits_it() {
        let mut readings = Readings::new();
        add_vmstat(&mut readings, "allocstall 4\n", 4096);
        assert_eq!(readings, Readings::from([(metric::HOST_DIRECT_RECLAIMS.name.to_owned(), 4.0)]));
    }
}
