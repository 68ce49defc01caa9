//! Faults of a made-up machine, each with the one finding it provokes.

/// Faults of one file each: its path, its text, and the one finding.
pub(crate) const FAULTS: &[(&str, &str, &str)] = &[
    (
        "/sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq",
        "1900000",
        "cpu_clock: Sample CPU, base 2700 MHz, up to 2700 MHz on some CPUs, and up to 1900 MHz on others",
    ),
    (
        "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
        "powersave",
        "governor: the CPU frequency governor is performance, powersave",
    ),
    (
        "/sys/devices/system/cpu/cpufreq/boost",
        "1",
        "boost: the CPU may clock above its base frequency",
    ),
    (
        "/sys/devices/system/cpu/intel_pstate/no_turbo",
        "0",
        "boost: the CPU may clock above its base frequency",
    ),
    ("/sys/devices/system/cpu/smt/active", "1", "smt: cores run several threads at once"),
    (
        "/sys/devices/system/cpu/cpu0/cpuidle/state1/disable",
        "0",
        "idle_states: waking from C10 takes 890 us",
    ),
    (
        "/proc/cmdline",
        "quiet mitigations=off",
        "mitigations: the kernel was booted with mitigations=off",
    ),
    (
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "hpet",
        "clock_source: the kernel reads the clock hpet",
    ),
    (
        "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count",
        "12",
        "throttled: heat throttled a CPU 12 times since boot",
    ),
    (
        "/sys/class/hwmon/hwmon0/temp1_input",
        "85000",
        "temperature: a sensor is near its limit: coretemp temp1 85 C of 90 C",
    ),
    ("/sys/class/hwmon/hwmon0/fan2_input", "0", "fans: 1 of 2 fans do not turn"),
    ("/sys/devices/system/node/node1/meminfo", "", "numa: the machine has 2 NUMA nodes"),
    (
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "[always] madvise never",
        "huge_pages: the kernel may use huge pages for every large allocation",
    ),
    (
        "/proc/sys/vm/dirty_ratio",
        "40",
        "dirty_pages: 6.10 GiB of unwritten data may wait in memory",
    ),
    ("/proc/sys/vm/overcommit_memory", "2", "overcommit: the kernel refuses to overcommit memory"),
    (
        "/proc/sys/kernel/randomize_va_space",
        "0",
        "address_layout: every process has the same address layout",
    ),
    (
        "/proc/self/limits",
        "Max open files 1024 4096 files",
        "open_files: a process may open 1024 files",
    ),
    (
        "/proc/self/limits",
        "Max file size 1048576 unlimited bytes\nMax stack size 8388608 unlimited bytes\n\
         Max open files 1048576 1048576 files\n",
        "process_limits: limits: ulimit -f: 1.00 MiB",
    ),
    (
        "/proc/self/limits",
        "Max processes 100 100 processes",
        "thread_limit: `ulimit -u` allows this account 100 threads in all",
    ),
    (
        "/sys/fs/cgroup/user.slice/pids.max",
        "128",
        "thread_limit: /sys/fs/cgroup/user.slice/pids.max allows 8 more threads",
    ),
    ("/proc/sys/fs/aio-nr", "64000", "aio_events: fs.aio-max-nr is 65536, and 1536 are free"),
    (
        "/proc/sys/kernel/io_uring_disabled",
        "2",
        "io_uring: kernel.io_uring_disabled is 2: no process may use it",
    ),
    (
        "/proc/sys/kernel/perf_event_paranoid",
        "3",
        "perf: kernel.perf_event_paranoid=3: the kernel refuses CPU profiles to this account",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "user_namespaces: kernel.unprivileged_userns_clone=0",
    ),
    (
        "/proc/self/status",
        "Uid:\t0\t0\t0\t0\nCapEff:\t000001f7bffdffde\n",
        "capabilities: root lacks CAP_CHOWN (servers), CAP_KILL (servers), CAP_SYS_RAWIO (health \
         of a SATA drive)",
    ),
    (
        "/proc/sys/kernel/osrelease",
        "5.10.0-8-amd64",
        "locked_memory: a process may lock 64.0 KiB, and io_uring counts as locked memory",
    ),
    (
        "/proc/self/environ",
        "PATH=/bin\0HOME=\0",
        "cache_dir: neither XDG_CACHE_HOME nor HOME is set",
    ),
    (
        "/sys/fs/cgroup/user.slice/cpu.max",
        "150000 100000",
        "cpu_limit: the quota of /sys/fs/cgroup/user.slice leaves this process 1.5 CPUs",
    ),
    (
        "/sys/fs/cgroup/user.slice/memory.max",
        "1073741824",
        "memory_limit: the control group of this process may use 1.00 GiB of memory",
    ),
    (
        "/proc/stat",
        "cpu  100 0 100 780 0 0 0 20 0 0\n",
        "steal: other guests took 2.0 % of the CPU since boot",
    ),
    (
        "/proc/pressure/cpu",
        "some avg10=0.00 avg60=12.5 avg300=0.00 total=1",
        "cpu_pressure: tasks waited for a CPU during 12.5 % of the last minute",
    ),
    ("/proc/44/comm", "cron", "cron: cron runs and has these daily jobs: dpkg"),
    (
        "/etc/systemd/logind.conf.d/z.conf",
        "RemoveIPC=yes",
        "remove_ipc: systemd-logind removes the shared memory of a regular user when the last \
         session of the user ends",
    ),
    (
        "/sys/module/pcie_aspm/parameters/policy",
        "default performance [powersave]",
        "aspm: the policy for PCIe links is powersave",
    ),
    (
        "DISK/../../../current_link_width",
        "2",
        "link: the link runs at 16.0 GT/s PCIe x2, and the drive supports 16.0 GT/s PCIe x4",
    ),
    ("DISK/slaves/sda/x", "", "layers: nvme0n1 is a device mapper"),
    ("DISK/md/degraded", "1", "layers: nvme0n1 lacks 1 of its drives"),
    (
        "/proc/self/mountinfo",
        "27 1 259:1 / / rw,noatime - overlay none rw",
        "file_system: the data directory /data is on overlay",
    ),
    (
        "/proc/self/mountinfo",
        "27 1 259:1 / / rw,relatime - ext4 /dev/x rw",
        "mount_options: relatime: a read may write the time of access",
    ),
    (
        "/proc/self/mountinfo",
        "27 1 259:1 / / rw,noatime - ext4 /dev/x rw,nobarrier",
        "mount_options: nobarrier: an fsync does not reach the medium",
    ),
    (
        "/proc/self/mountinfo",
        "27 1 259:1 / / rw,noatime - ext4 /dev/x rw,discard",
        "mount_options: discard: removing a file sends TRIM commands, and other requests wait for \
         them",
    ),
    (
        "DISK/queue/read_ahead_kb",
        "8192",
        "queue_settings: read-ahead is 8192 KiB, and 128 by default",
    ),
    ("DISK/queue/scheduler", "none [bfq]", "scheduler: the scheduler of an SSD is bfq"),
    ("DISK/device/queue_depth", "1", "queue_depth: the drive accepts 1 requests at once"),
    ("DISK/queue/iostats", "0", "queue_settings: iostats is 0: the kernel does not count requests"),
    (
        "DISK/queue/write_cache",
        "write through",
        "write_cache: the kernel treats the cache as write through",
    ),
    ("DISK/queue/nomerges", "2", "merges: nomerges is 2"),
    ("DISK/queue/discard_max_bytes", "0", "trim: the device does not support TRIM"),
    (
        "DISK/device/firmware_rev",
        "3B2QGXA7",
        "firmware: Samsung SSD 980 PRO 1TB 3B2QGXA7 has a known fault",
    ),
];

/// Faults that programs report: the program, its output, and the one finding.
pub(crate) const REPORTED: &[(&str, (&str, &str), &str)] = &[
    (
        "smartctl",
        ("_used\": 3", "_used\": 95"),
        "wear: the drive has used up 95 % of its rated \
                                                 writes",
    ),
    (
        "smartctl",
        ("spare\": 100", "spare\": 8"),
        "spare: 8 % of the spare blocks are left, and the drive warns at 10 %",
    ),
    ("smartctl", ("errors\": 0", "errors\": 7"), "media_errors: the drive has 7 media errors"),
    (
        "smartctl",
        ("passed\": true", "passed\": false"),
        "media_errors: the drive reports that it is failing",
    ),
    (
        "smartctl",
        ("temp_time\": 0", "temp_time\": 31"),
        "drive_heat: the drive was above its warning temperature for 31 minutes so far",
    ),
    (
        "setpriv",
        ("util-linux 2.38.1", "toybox 0.8.9"),
        "setpriv: setpriv is of another kind: setpriv from toybox 0.8.9",
    ),
    (
        "systemctl",
        ("systemd-tmpfiles-clean.timer", "apt-daily.timer"),
        "timers: these timers will start work during runs: apt-daily.timer",
    ),
    (
        "dmesg",
        ("Linux version 6.1", "blk_update_request: I/O error, dev sda"),
        "kernel_log: [    0.0] blk_update_request: I/O error, dev sda (such lines: 1)",
    ),
    (
        "dmesg",
        ("Linux version 6.1", "TSC found unstable after boot"),
        "kernel_log: [    0.0] TSC found unstable after boot (such lines: 1)",
    ),
];
