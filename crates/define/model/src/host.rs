//! The machine of a run, as recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cpu_count::CpuCount;
use crate::doctor::HostCheck;
use crate::units::Bytes;

/// Kernel clock sources that are read without a system call.
///
/// Source: Linux, Documentation/admin-guide/kernel-parameters.txt, `clocksource=`, and vdso(7).
pub const CHEAP_CLOCK_SOURCES: &[&str] =
    &["tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "riscv_clocksource"];

/// Facts of the machine; `None` when unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// CPU model as the kernel names it.
    pub cpu_model: Option<String>,
    /// CPUs this process may use: the logical ones, or what a control group's quota leaves of them.
    pub cpus: CpuCount,
    /// Physical cores online; fewer than logical CPUs with SMT.
    pub cores: Option<u32>,
    /// Whether cores run several threads at once (SMT, hyper-threading).
    pub is_smt_on: Option<bool>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
    /// Physical memory.
    pub memory_bytes: Bytes,
    /// Kernel name, release and machine.
    pub kernel: String,
    /// Operating system's pretty name.
    pub os: Option<String>,
    /// Kernel clock source (`tsc`, `kvm-clock`, ...).
    pub clocksource: Option<String>,
    /// CPU frequency governor.
    pub governor: Option<String>,
    /// Whether turbo boost is on.
    pub is_turbo_on: Option<bool>,
    /// Hypervisor flag of the CPU.
    pub is_virtual: Option<bool>,
    /// Device the data directory lies on (`vda`).
    pub device: Option<String>,
    /// Device model or kind (`virtio`, `Samsung SSD 990`).
    pub device_model: Option<String>,
    /// File system of the data directory (`ext4`).
    pub filesystem: Option<String>,
    /// Transparent huge page setting.
    pub huge_pages: Option<String>,
    /// Control group version: 1 or 2.
    pub cgroup_version: Option<u8>,
    /// Fingerprint of CPU, memory, device and kernel class; identifies a history.
    pub fingerprint: String,
    /// What quick checks of `assay doctor` read; empty in older manifests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doctor: Vec<HostCheck>,
}

impl Host {
    /// Returns the known settings that may change between experiments on one machine, by name.
    pub fn settings(&self) -> BTreeMap<&str, &str> {
        let known = [
            ("kernel", Some(self.kernel.as_str())),
            ("governor", self.governor.as_deref()),
            ("huge_pages", self.huge_pages.as_deref()),
        ];
        let known = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let checks =
            self.doctor.iter().filter_map(|one| Some((&*one.check, one.value.as_deref()?)));
        known.chain(checks).collect()
    }
}
