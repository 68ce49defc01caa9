//! A made-up machine: a folder with `/proc`, `/sys` and `/etc`, and outputs of programs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use doctor::{Machine, Source, Space, examine};
use model::CheckResult;

const DISK: &str = "/sys/devices/pci0/0000:01:00.0/nvme/nvme0/nvme0n1";
const SMART: &str = r#"{"smart_status": {"passed": true}, "nvme_smart_health_information_log":
    {"percentage_used": 3, "available_spare": 100, "available_spare_threshold": 10,
     "media_errors": 0, "warning_temp_time": 0, "critical_warning": 0}}"#;
const XFS_INFO: &str = "meta-data=/dev/nvme0n1 isize=512 agcount=4\n   = sectsz=512 attr=2\n\
    data = bsize=4096 blocks=122096646, imaxpct=25\n";

/// Files of a machine on which nothing is found, by path.
const CLEAN: &[(&str, &str)] = &[
    ("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Sample CPU\n"),
    ("/proc/cmdline", "root=/dev/sda1 quiet"),
    ("/proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\n"),
    ("/proc/meminfo", "MemTotal:       16000000 kB\n"),
    ("/proc/swaps", "Filename Type Size Used Priority\n"),
    ("/proc/pressure/cpu", "some avg10=0.00 avg60=0.10 avg300=0.00 total=1\n"),
    ("/proc/self/cgroup", "0::/user.slice/one\n"),
    (
        "/proc/self/limits",
        "Max open files            1048576              1048576   files\n\
         Max locked memory         65536                65536     bytes\n",
    ),
    (
        "/proc/self/mountinfo",
        "27 1 259:1 / / rw,noatime shared:1 - xfs /dev/nvme0n1p1 rw,inode64\n\
         30 27 0:25 / /dev/shm rw - tmpfs tmpfs rw,size=8g\n\
         31 27 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    ),
    ("/proc/self/environ", "PATH=/bin\0HOME=/root\0"),
    ("/proc/self/status", "Name:\tassay\nUid:\t7\t7\t7\t7\nCapEff:\t0\nSeccomp:\t0\n"),
    ("/proc/1/comm", "systemd\n"),
    ("/proc/1/stat", "1 (systemd) S 0 1 1 0 -1 4 1 1 0 0 50 50 0 0 20 0 1 0 1 1 1\n"),
    ("/proc/7/stat", "7 (indexer (x)) S 0 1 1 0 -1 4 1 1 0 0 50 50 0 0 20 0 1 0 1 1 1\n"),
    ("/proc/sys/vm/swappiness", "60\n"),
    ("/proc/sys/vm/dirty_ratio", "20\n"),
    ("/proc/sys/vm/dirty_background_ratio", "10\n"),
    ("/proc/sys/vm/dirty_bytes", "0\n"),
    ("/proc/sys/vm/overcommit_memory", "0\n"),
    ("/proc/sys/kernel/randomize_va_space", "2\n"),
    ("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
    ("/proc/sys/kernel/io_uring_disabled", "0\n"),
    ("/proc/sys/kernel/perf_event_paranoid", "2\n"),
    ("/proc/sys/fs/aio-max-nr", "65536\n"),
    ("/proc/sys/fs/aio-nr", "2561\n"),
    ("/proc/sys/user/max_user_namespaces", "60000\n"),
    ("/etc/systemd/logind.conf", "[Login]\n#RemoveIPC=yes\nRemoveIPC=no\n"),
    ("/etc/cron.daily/dpkg", ""),
    ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
    ("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "2700000\n"),
    ("/sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "2700000\n"),
    ("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2700000\n"),
    ("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C10\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "890\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n"),
    ("/sys/devices/system/cpu/cpufreq/boost", "0\n"),
    ("/sys/devices/system/cpu/smt/active", "0\n"),
    ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n"),
    ("/sys/devices/system/node/node0/meminfo", ""),
    ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm\n"),
    ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("/sys/fs/cgroup/user.slice/one/cpu.max", "max 100000\n"),
    ("/sys/fs/cgroup/user.slice/memory.max", "max\n"),
    ("/sys/fs/cgroup/user.slice/pids.max", "4096\n"),
    ("/sys/fs/cgroup/user.slice/pids.current", "120\n"),
    ("/sys/module/pcie_aspm/parameters/policy", "default [performance] powersave powersupersave\n"),
    ("/sys/class/hwmon/hwmon0/name", "coretemp\n"),
    ("/sys/class/hwmon/hwmon0/temp1_input", "45000\n"),
    ("/sys/class/hwmon/hwmon0/temp1_max", "90000\n"),
    ("/sys/class/hwmon/hwmon0/fan1_input", "1200\n"),
    ("DISK/nvme0n1p1/partition", "1\n"),
    ("DISK/../../../current_link_speed", "16.0 GT/s PCIe\n"),
    ("DISK/../../../max_link_speed", "16.0 GT/s PCIe\n"),
    ("DISK/../../../current_link_width", "4\n"),
    ("DISK/../../../max_link_width", "4\n"),
    ("DISK/device/model", "Samsung SSD 980 PRO 1TB\n"),
    ("DISK/device/firmware_rev", "5B2QGXA7\n"),
    ("DISK/queue/scheduler", "[none] mq-deadline\n"),
    ("DISK/queue/nr_requests", "1023\n"),
    ("DISK/queue/read_ahead_kb", "128\n"),
    ("DISK/queue/max_sectors_kb", "1280\n"),
    ("DISK/queue/write_cache", "write back\n"),
    ("DISK/queue/nomerges", "0\n"),
    ("DISK/queue/rotational", "0\n"),
    ("DISK/queue/logical_block_size", "512\n"),
    ("DISK/queue/physical_block_size", "512\n"),
    ("DISK/queue/minimum_io_size", "512\n"),
    ("DISK/queue/optimal_io_size", "0\n"),
    ("DISK/queue/discard_max_bytes", "2199023255040\n"),
];

/// A made-up machine: its folder, and what is not in files.
pub(crate) struct Made {
    folder: tempfile::TempDir,
    pub(crate) outputs: BTreeMap<&'static str, Result<String, String>>,
    pub(crate) clock_read_ns: f64,
    pub(crate) context_switch_ns: Option<f64>,
    pub(crate) space: Space,
    pub(crate) takes_direct_io: Option<bool>,
    /// A file that is replaced while the doctor waits.
    pub(crate) later: Option<(PathBuf, &'static str)>,
}

impl Machine for Made {
    fn output(&self, program: &str, _: &[&str]) -> Result<String, String> {
        let missing = || Err(format!("{program} is not installed"));
        self.outputs.get(program).cloned().unwrap_or_else(missing)
    }

    fn clock_read_ns(&self) -> f64 {
        self.clock_read_ns
    }

    fn context_switch_ns(&self) -> Option<f64> {
        self.context_switch_ns
    }

    fn space(&self, _: &Path) -> Option<Space> {
        Some(self.space).filter(|space| space.total > 0)
    }

    fn takes_direct_io(&self, _: &Path) -> Option<bool> {
        self.takes_direct_io
    }

    fn wait(&self, _: Duration) {
        self.later.iter().for_each(|(path, text)| fs::write(path, text).unwrap());
    }
}

impl Made {
    /// Returns a machine on which nothing is found.
    pub(crate) fn clean() -> Self {
        let made = Self::empty();
        CLEAN.iter().for_each(|(path, text)| made.write(path, text));
        let link = |to: &str, path: &str| {
            let path = made.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(made.path(to), path).unwrap();
        };
        link("DISK/nvme0n1p1", "/sys/dev/block/259:1");
        Self {
            outputs: BTreeMap::from([
                ("smartctl", Ok(SMART.to_owned())),
                (
                    "systemctl",
                    Ok("systemd-tmpfiles-clean.timer loaded active waiting\n".to_owned()),
                ),
                ("dmesg", Ok("[    0.0] Linux version 6.1\n".to_owned())),
                ("xfs_info", Ok(XFS_INFO.to_owned())),
                ("setpriv", Ok("setpriv from util-linux 2.38.1\n".to_owned())),
                ("perf", Ok("perf version 6.1.0\n".to_owned())),
            ]),
            clock_read_ns: 25.0,
            context_switch_ns: Some(1_500.0),
            space: Space { total: 100 << 30, free: 60 << 30 },
            takes_direct_io: Some(true),
            ..made
        }
    }

    /// Returns a machine without any file or program.
    pub(crate) fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            outputs: BTreeMap::new(),
            clock_read_ns: 0.0,
            context_switch_ns: None,
            space: Space { total: 0, free: 0 },
            takes_direct_io: None,
            later: None,
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        let path = path.replace("DISK/../../..", "/sys/devices/pci0/0000:01:00.0");
        self.folder.path().join(path.replace("DISK", DISK).trim_start_matches('/'))
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Mounts one more file system: its point, options, kind, source and options of its own.
    pub(crate) fn mount(&self, system: &str) {
        let path = "/proc/self/mountinfo";
        let before = fs::read_to_string(self.path(path)).unwrap();
        self.write(path, &format!("{before}41 27 0:50 / {system}\n"));
    }

    pub(crate) fn source(self) -> Source {
        let root = self.folder.path().to_owned();
        Source::at(&root, Path::new("/data"), Box::new(self))
    }

    pub(crate) fn results(self) -> Vec<CheckResult> {
        examine(&self.source())
    }
}
