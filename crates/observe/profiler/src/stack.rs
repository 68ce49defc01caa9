//! The addresses of a sample's stack.

use linux_perf_data::linux_perf_event_reader::constants::{
    PERF_CONTEXT_KERNEL, PERF_CONTEXT_MAX, PERF_CONTEXT_USER,
};
use linux_perf_data::linux_perf_event_reader::{CpuMode, SampleRecord};

/// Addresses by which functions are found, from the sampled function to the root.
///
/// A caller's is the address before the return address, which may lie behind the end of the caller.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Addresses {
    /// In the kernel.
    pub(crate) kernel: Vec<u64>,
    /// In the process.
    pub(crate) user: Vec<u64>,
}

/// Returns the recorded addresses of a sample's stack.
pub(crate) fn addresses(sample: &SampleRecord<'_>) -> Addresses {
    let chain = sample.callchain;
    let values = (0..chain.map_or(0, |chain| chain.len())).filter_map(|at| chain?.get(at));
    let mut found = split(values);
    // A chain begins with the sampled function, and may be empty.
    if let (true, true, Some(ip)) = (found.kernel.is_empty(), found.user.is_empty(), sample.ip) {
        // An address of a guest or of a hypervisor lies in no file of the process.
        let is_kernel = sample.cpu_mode == CpuMode::Kernel;
        if is_kernel { found.kernel.push(ip) } else { found.user.push(ip) }
    }
    found
}

/// Splits a chain at the marks that state where the next addresses lie.
///
/// Source: perf_event_open(2), `PERF_SAMPLE_CALLCHAIN`.
fn split(chain: impl Iterator<Item = u64>) -> Addresses {
    let mut found = Addresses::default();
    let mut context = None;
    for value in chain {
        if value >= PERF_CONTEXT_MAX {
            context = Some(value);
            continue;
        }
        let list = match context {
            Some(PERF_CONTEXT_KERNEL) => &mut found.kernel,
            Some(PERF_CONTEXT_USER) => &mut found.user,
            // The processes of guests are not sampled.
            _ => continue,
        };
        list.push(if list.is_empty() { value } else { value.saturating_sub(1) });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_split_into_kernel_and_process() {
        let chain = [PERF_CONTEXT_KERNEL, 0x90, 0x80, PERF_CONTEXT_USER, 0x20, 0x10, 0];
        let found = split(chain.into_iter());
        assert_eq!(found, Addresses { kernel: vec![0x90, 0x7f], user: vec![0x20, 0xf, 0] });
    }

    #[test]
    fn addresses_of_guests_are_left_out() {
        let guest = linux_perf_data::linux_perf_event_reader::constants::PERF_CONTEXT_GUEST;
        assert_eq!(split([0x1, guest, 0x2].into_iter()), Addresses::default());
    }
}
