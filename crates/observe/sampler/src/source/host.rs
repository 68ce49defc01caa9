//! The host's CPU, context switches, IO pressure, dirty pages and swapping.

use model::{Readings, metric};

use crate::kernel_file::{bytes_of, read, value_of};
use crate::targets::{RunTargets, Sampler};

/// Starts the sampler.
pub(crate) fn start(_: &RunTargets<'_>) -> Option<Sampler> {
    Some(Box::new(|_| sample()))
}

/// Reads the host's accounts.
pub fn sample() -> Readings {
    let mut readings = Readings::new();
    if let Some(text) = read("/proc/stat") {
        add_stat(&mut readings, &text, rustix::param::clock_ticks_per_second());
    }
    if let Some(text) = read("/proc/pressure/io") {
        readings.set(metric::HOST_IO_PRESSURE_US, pressure_us(&text));
    }
    if let Some(text) = read("/proc/vmstat") {
        add_vmstat(&mut readings, &text, rustix::param::page_size() as u64);
    }
    readings.set(metric::DIRTY_BYTES, dirty_bytes());
    readings
}

/// Returns the dirty page cache of the host, if it is reported.
pub fn dirty_bytes() -> Option<u64> {
    bytes_of(&read("/proc/meminfo")?, "Dirty")
}

/// Adds the readings in the text of `/proc/stat`.
///
/// Source: Linux, Documentation/filesystems/proc.rst, section 1.8: user, nice, system, idle,
/// iowait, irq, softirq, steal, guest, guest_nice; guest time is part of user time.
fn add_stat(readings: &mut Readings, text: &str, ticks_per_s: u64) {
    readings.set(metric::HOST_CONTEXT_SWITCHES, value_of(text, "ctxt"));
    let Some(cpu) = text.lines().find_map(|line| line.strip_prefix("cpu ")) else { return };
    let ticks: Vec<u64> = cpu.split_ascii_whitespace().map_while(|t| t.parse().ok()).collect();
    let micros = |ticks: u64| ticks * 1_000_000 / ticks_per_s.max(1);
    if let [user, nice, system, _idle, _iowait, irq, softirq, ..] = ticks[..] {
        let busy = user + nice + system + irq + softirq;
        readings.set(metric::HOST_CPU_BUSY_US, micros(busy));
        readings.set(metric::HOST_SOFTIRQ_US, micros(softirq));
    }
    readings.set(metric::HOST_STEAL_US, ticks.get(7).copied().map(micros));
}

/// Returns the total of the `some` line of `/proc/pressure/io`, us.
fn pressure_us(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
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

    const STAT: &str = "cpu  43770 1048 8243 288239 1272 5 169 140 60 0\n\
        cpu0 20436 495 3427 146751 192 0 20 64 0 0\nintr 458874 0 0\nctxt 721567\n";

    #[test]
    fn busy_leaves_out_idle_waiting_and_stolen_time_and_counts_guests_once() {
        let mut readings = Readings::new();
        add_stat(&mut readings, STAT, 100);
        assert_eq!(readings.value(metric::HOST_CPU_BUSY_US), Some(532_350_000.0));
        assert_eq!(readings.value(metric::HOST_STEAL_US), Some(1_400_000.0));
        assert_eq!(readings.value(metric::HOST_SOFTIRQ_US), Some(1_690_000.0));
        assert_eq!(readings.value(metric::HOST_CONTEXT_SWITCHES), Some(721_567.0));
    }

    #[test]
    fn an_old_kernel_does_not_report_steal() {
        let mut readings = Readings::new();
        add_stat(&mut readings, "cpu  10 0 10 100 1 0 5\n", 100);
        let known = [metric::HOST_CPU_BUSY_US.name, metric::HOST_SOFTIRQ_US.name];
        assert_eq!(readings.keys().collect::<Vec<_>>(), known);
    }

    #[test]
    fn pressure_is_the_total_of_some_waiters() {
        let text = "some avg10=1.67 avg60=1.02 avg300=0.76 total=10864008\n\
                    full avg10=0.31 avg60=0.39 avg300=0.54 total=9481955\n";
        assert_eq!(pressure_us(text), Some(10_864_008));
        assert_eq!(pressure_us(""), None);
    }

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
