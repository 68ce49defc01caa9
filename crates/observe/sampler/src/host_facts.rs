//! Facts of the host of a run.

use std::collections::BTreeSet;
use std::path::Path;

use model::{Bytes, Host};

use crate::block_device::{BlockDevice, nearest_existing};
use crate::control_group::CgroupDir;
use crate::cpus::usable_cpus;
use crate::kernel_file::{bytes_of, read_trimmed};
use crate::memory_limit::usable_memory;
use crate::mount::{holding, mounts};
use crate::storage_basis::storage_basis;

/// The kernel's directory of CPUs.
const SYS_CPU: &str = "/sys/devices/system/cpu";

/// Returns the facts of this machine and of the device of `data_dir`.
pub fn host_facts(data_dir: &Path) -> Host {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let device = BlockDevice::under(data_dir).ok();
    let mounts = mounts();
    let mount = holding(&mounts, &nearest_existing(data_dir));
    let mut host = Host {
        cpu_model: cpu_model(&cpuinfo),
        cpus: usable_cpus(),
        cores: cores(Path::new(SYS_CPU)),
        is_smt_on: read_trimmed(format!("{SYS_CPU}/smt/active")).and_then(|text| flag(&text)),
        numa_nodes: read_trimmed("/sys/devices/system/node/online").and_then(|text| listed(&text)),
        memory_bytes: usable_memory(Bytes(bytes_of(&meminfo, "MemTotal").unwrap_or_default())),
        kernel: kernel(),
        os: read_trimmed("/etc/os-release").and_then(|text| pretty_name(&text)),
        clocksource: read_trimmed(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        governor: read_trimmed("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        is_turbo_on: is_turbo_on(
            read_trimmed("/sys/devices/system/cpu/intel_pstate/no_turbo").as_deref(),
            read_trimmed("/sys/devices/system/cpu/cpufreq/boost").as_deref(),
        ),
        is_virtual: is_virtual(&cpuinfo),
        device_model: device.as_ref().and_then(BlockDevice::model),
        device: device.map(|device| device.name),
        filesystem: mount.map(|mount| mount.kind.clone()),
        storage: storage_basis(data_dir),
        data: None,
        huge_pages: read_trimmed("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| chosen(&text)),
        cgroup_version: CgroupDir::of_process(std::process::id()).map(|group| group.version()),
        fingerprint: String::new(),
        doctor: Vec::new(),
    };
    host.fingerprint = fingerprint(&host);
    host
}

/// Returns the machine class: CPU, CPU count, memory, device and kernel, as one word.
///
/// Memory is rounded to GiB (below one to MiB, as limits of containers are) and the kernel is
/// shortened to its first two numbers, so that a reboot or a bug fix release does not begin a new
/// history. Where no device is known, the file system stands for it.
fn fingerprint(host: &Host) -> String {
    let cpu = host.cpu_model.as_deref().unwrap_or("unknown cpu");
    let cpu = cpu.replace("(R)", "").replace("(TM)", "");
    let memory = match host.memory_bytes.0 {
        small @ 1.. if small < Bytes::GIB.0 => format!("{}mib", small / Bytes::MIB.0),
        bytes => format!("{}gib", bytes.saturating_add(Bytes::GIB.0 / 2) / Bytes::GIB.0),
    };
    let device = host.device_model.as_ref().or(host.device.as_ref()).or(host.filesystem.as_ref());
    let device = device.map_or("unknown device", String::as_str);
    let parts = [
        slug(&cpu),
        format!("{}cpu", host.cpus),
        memory,
        slug(device),
        slug(&kernel_class(&host.kernel)),
    ];
    parts.join("_")
}

/// Returns a kernel name with only the first two numbers of its release.
fn kernel_class(kernel: &str) -> String {
    let parts = kernel.split_ascii_whitespace().map(|part| {
        let mut numbers = part.splitn(3, '.');
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(major), Some(minor), Some(_rest)) => format!("{major}.{minor}"),
            _ => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// Returns the text in lower case with a single hyphen for each run of other characters.
fn slug(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let parts = text.split(|c: char| !is_plain(c)).filter(|part| !part.is_empty());
    parts.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// Returns the kernel's name, release and machine.
fn kernel() -> String {
    let name = rustix::system::uname();
    let parts = [name.sysname(), name.release(), name.machine()];
    parts.map(|part| part.to_string_lossy().into_owned()).join(" ")
}

/// Returns the value of a line `key : value` of `/proc/cpuinfo`, of the first CPU.
fn cpu_field<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim())
    })
}

/// Returns the CPU's model; ARM kernels report only numbers.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    if let Some(model) = cpu_field(cpuinfo, "model name") {
        return Some(model.to_owned());
    }
    let implementer = cpu_field(cpuinfo, "CPU implementer")?;
    let part = cpu_field(cpuinfo, "CPU part")?;
    Some(format!("implementer {implementer} part {part}"))
}

/// Returns whether the CPU reports a hypervisor; only x86 does.
fn is_virtual(cpuinfo: &str) -> Option<bool> {
    let flags = cpu_field(cpuinfo, "flags")?;
    Some(flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

/// Returns whether turbo boost is on, from Intel's `no_turbo` or the generic `boost`.
fn is_turbo_on(no_turbo: Option<&str>, boost: Option<&str>) -> Option<bool> {
    match no_turbo.and_then(flag) {
        Some(is_off) => Some(!is_off),
        None => boost.and_then(flag),
    }
}

/// Returns a switch of the kernel: 0 is off.
fn flag(text: &str) -> Option<bool> {
    text.parse::<u8>().ok().map(|number| number != 0)
}

/// Returns the system's name in the text of `os-release`.
fn pretty_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"').to_owned())
}

/// Returns the choice in brackets: `madvise` of `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// Returns the number of cores under `/sys/devices/system/cpu`; `None` where it is not reported.
///
/// CPUs of one core name the same list of CPUs: each list is a core. Of CPUs that are offline there
/// is no list.
///
/// Source: Linux, Documentation/admin-guide/cputopology.rst (`core_cpus_list`, before Linux 5.3
/// `thread_siblings_list`).
fn cores(sys_cpu: &Path) -> Option<u32> {
    let entries = std::fs::read_dir(sys_cpu).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_cpu = |name: &String| {
        name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let siblings = |name: String| {
        let dir = sys_cpu.join(name).join("topology");
        read_trimmed(dir.join("core_cpus_list"))
            .or_else(|| read_trimmed(dir.join("thread_siblings_list")))
    };
    let cores: BTreeSet<String> = names.filter(is_cpu).filter_map(siblings).collect();
    u32::try_from(cores.len()).ok().filter(|count| *count > 0)
}

/// Returns how many numbers a list of the kernel names: 5 in `0-3,8`.
///
/// Source: Linux, Documentation/core-api/printk-formats.rst, `%*pbl`.
fn listed(text: &str) -> Option<u32> {
    let of_part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    text.trim().split(',').try_fold(0_u32, |sum, part| sum.checked_add(of_part(part)?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use model::CpuCount;

    use super::*;

    #[test]
    fn this_machine_has_facts() {
        let dir = tempfile::tempdir().unwrap();
        let host = host_facts(&dir.path().join("not/made/yet"));
        assert!(host.cpus > CpuCount::default() && host.memory_bytes > Bytes::MIB, "{host:?}");
        assert!(host.kernel.starts_with("Linux "), "{host:?}");
        assert!(host.filesystem.is_some(), "{host:?}");
        // What the kernel lists is known; no machine has none.
        let is_listed = |path: &str| Path::new("/sys/devices/system").join(path).exists();
        let has_topology = is_listed("cpu/cpu0/topology/thread_siblings_list");
        assert_eq!(host.cores.is_some_and(|cores| cores >= 1), has_topology, "{host:?}");
        let has_nodes = is_listed("node/online");
        assert_eq!(host.numa_nodes.is_some_and(|nodes| nodes >= 1), has_nodes, "{host:?}");
        assert_eq!(host.fingerprint.split('_').count(), 5, "{host:?}");
        // Other facts, as of the clock, may change meanwhile.
        assert_eq!(host.fingerprint, host_facts(dir.path()).fingerprint);
    }

    #[test]
    fn bug_fix_releases_and_missing_pages_do_not_change_the_fingerprint() {
        let host = |release: &str, kib: u64| Host {
            cpu_model: Some("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz".to_owned()),
            cpus: CpuCount::of(2),
            memory_bytes: Bytes(kib * 1024),
            kernel: format!("Linux {release} x86_64"),
            device_model: Some("Samsung SSD 990 PRO".to_owned()),
            ..Host::default()
        };
        let one = fingerprint(&host("6.1.0-18-amd64", 24_684_084));
        assert_eq!(
            one,
            "intel-xeon-cpu-e5-2686-v4-2.30ghz_2cpu_24gib_samsung-ssd-990-pro_linux-6.1-x86-64"
        );
        assert_eq!(one, fingerprint(&host("6.1.44-fc", 24_684_000)));
        assert_ne!(one, fingerprint(&host("6.2.0", 24_684_084)));
        assert_ne!(one, fingerprint(&host("6.1.0", 16_000_000)));
        let capped = Host { cpus: CpuCount::of_quota(150, 100), ..host("6.1.0", 24_684_084) };
        assert!(fingerprint(&capped).contains("_1.5cpu_"));
        assert!(fingerprint(&host("6.1.0", 512 << 10)).contains("_512mib_"));
    }

    #[test]
    fn an_unknown_machine_still_has_a_fingerprint() {
        let host = Host { kernel: "Linux 6.1.0 aarch64".to_owned(), ..Host::default() };
        assert_eq!(fingerprint(&host), "unknown-cpu_0cpu_0gib_unknown-device_linux-6.1-aarch64");
    }

    #[test]
    fn x86_and_aarch64_name_their_cpus_differently() {
        let x86 = "processor\t: 0\nmodel name\t: AMD EPYC 7763\nflags\t\t: fpu hypervisor lm\n";
        assert_eq!(cpu_model(x86).as_deref(), Some("AMD EPYC 7763"));
        assert_eq!(is_virtual(x86), Some(true));
        let aarch64 =
            "processor\t: 0\nFeatures\t: fp\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu_model(aarch64).as_deref(), Some("implementer 0x41 part 0xd0c"));
        assert_eq!(is_virtual(aarch64), None);
    }

    #[test]
    fn turbo_has_two_switches_of_opposite_sense() {
        assert_eq!(is_turbo_on(Some("1"), None), Some(false));
        assert_eq!(is_turbo_on(Some("0"), None), Some(true));
        assert_eq!(is_turbo_on(None, Some("1")), Some(true));
        assert_eq!(is_turbo_on(None, None), None);
    }

    #[test]
    fn brackets_mark_the_choice() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("no choice"), None);
        let os = "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(pretty_name(os).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
    }

    #[test]
    fn cpus_that_name_the_same_siblings_are_one_core() {
        let sys = tempfile::tempdir().unwrap();
        assert_eq!(cores(sys.path()), None);
        let file = |cpu: &str, name: &str, text: &str| {
            let dir = sys.path().join(cpu).join("topology");
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(name), text).unwrap();
        };
        for (cpu, siblings) in [("cpu0", "0,2\n"), ("cpu1", "1,3\n"), ("cpu2", "0,2\n")] {
            file(cpu, "core_cpus_list", siblings);
        }
        file("cpu3", "thread_siblings_list", "1,3\n");
        file("cpufreq", "core_cpus_list", "7\n");
        fs::create_dir(sys.path().join("cpu4")).unwrap();
        assert_eq!(cores(sys.path()), Some(2));
        assert_eq!(cores(&sys.path().join("not there")), None);
    }

    #[test]
    fn lists_of_the_kernel_are_counted() {
        assert_eq!(listed("0\n"), Some(1));
        assert_eq!(listed("0-3,8"), Some(5));
        assert_eq!(listed("3-0"), None);
        assert_eq!(listed(""), None);
    }
}
