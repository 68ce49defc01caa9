//! The machine of a run, as recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cpu_count::CpuCount;
use crate::doctor::HostCheck;
use crate::guarantee::DurabilityBasis;
use crate::number::float;
use crate::units::Bytes;

/// Kernel clock sources that are read without a system call.
///
/// Source: Linux, Documentation/admin-guide/kernel-parameters.txt, `clocksource=`, and vdso(7).
pub const CHEAP_CLOCK_SOURCES: &[&str] =
    &["tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "riscv_clocksource"];

/// Largest difference of the memory that one machine reports, as a share of it.
///
/// Our choice: kernels, crash kernels and balloons set aside a few per cent; machines that are sold
/// with other memory differ by more.
const MEMORY_TOLERANCE: f64 = 1.0 / 16.0;

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
    /// Memory this process may use: the physical one, or what the limits of control groups leave.
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
    /// The file system of the data directory as a basis of durability; absent in older manifests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<DurabilityBasis>,
    /// Where the data and the results lie; absent in older manifests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<DataPlace>>,
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

/// Where an experiment's data and its results lie.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataPlace {
    /// Directory of the data.
    pub path: String,
    /// Its file system, with device and mount point: `ext4 /dev/vda at /`.
    pub filesystem: String,
    /// Whether the user named the directory.
    pub is_named: bool,
    /// File system of the results, when it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results_filesystem: Option<String>,
}

/// A machine of a fleet, on which a run was done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Name that the scheduler or the file of hosts gives it.
    pub name: String,
    /// Its facts.
    pub host: Host,
}

impl Host {
    /// Returns whether both are of one class: CPU, memory, device and kernel.
    ///
    /// Fingerprints round memory; it is compared as reported, so that no rounding separates a
    /// machine from itself.
    pub fn is_same_machine(&self, other: &Self) -> bool {
        fn class(host: &Host) -> impl Iterator<Item = &str> {
            let is_memory = |part: &str| {
                let size = part.strip_suffix("gib").or_else(|| part.strip_suffix("mib"));
                size.is_some_and(|size| size.parse::<u64>().is_ok())
            };
            host.fingerprint.split('_').filter(move |part| !is_memory(part))
        }
        let [one, two] = [self, other].map(|host| host.memory_bytes.0);
        let tolerance = MEMORY_TOLERANCE * float(one.max(two));
        self.fingerprint == other.fingerprint
            || class(self).eq(class(other)) && float(one.abs_diff(two)) <= tolerance
    }

    /// Returns the known settings that may change between experiments on one machine, by name.
    pub fn settings(&self) -> BTreeMap<&str, &str> {
        let known = [
            ("kernel", Some(self.kernel.as_str())),
            ("governor", self.governor.as_deref()),
            ("huge_pages", self.huge_pages.as_deref()),
        ];
        let known = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let checks = self.doctor.iter().filter_map(|one| Some((&*one.check, one.setting()?)));
        known.chain(checks).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_at_a_rounding_edge_is_the_same_machine() {
        let host = |class: &str, memory_kib: u64| {
            let gib = (memory_kib + (1 << 19)) >> 20;
            Host {
                fingerprint: format!("xeon_2cpu_{gib}gib_{class}"),
                memory_bytes: Bytes(memory_kib << 10),
                ..Host::default()
            }
        };
        let edge = (16 << 20) - (1 << 19);
        let (below, above) = (host("nvme", edge - 1), host("nvme", edge + 1));
        assert_ne!(below.fingerprint, above.fingerprint);
        assert!(below.is_same_machine(&above) && above.is_same_machine(&below));
        assert!(!below.is_same_machine(&host("sda", edge)), "another device");
        assert!(!below.is_same_machine(&host("nvme", 24 << 20)), "another memory");
    }
}
