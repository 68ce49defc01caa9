//! Privileges that an ordinary account may lack, each with the command that grants it.
//!
//! The page `docs/guide/privileges.md` has a row for each.

use std::fmt;

/// A privilege that a part of Assay needs: what the kernel requires, and a command that grants it.
///
/// The command is for the shell that runs Assay; its parts in capitals are filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Privilege(pub &'static str, pub &'static str);

impl fmt::Display for Privilege {
    /// Writes the rest of a sentence whose subject needs the privilege.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "needs {}: `{}`", self.0, self.1)
    }
}

impl Privilege {
    /// Makes control groups of version 1.
    pub const CONTROL_GROUPS_V1: Self = Self(
        "writable control groups of memory, cpuacct and blkio",
        "for c in memory cpuacct blkio; do d=/sys/fs/cgroup/$c/assay; sudo mkdir -p $d; \
         sudo chown -R $USER $d; echo $$ | sudo tee $d/cgroup.procs; done",
    );
    /// Makes control groups of version 2.
    pub const CONTROL_GROUPS_V2: Self =
        Self("a delegated control group", "systemd-run --user --scope -p Delegate=yes assay ...");
    /// Counts the IO of a control group of version 2.
    pub const IO_CONTROLLER: Self = Self(
        "a delegated IO controller",
        "sudo systemctl edit user@.service # [Service] Delegate=cpu io memory pids",
    );
    /// Raises hard limits of processes.
    pub const HARD_LIMITS: Self = Self("CAP_SYS_RESOURCE", "sudo prlimit --pid $$ -LIMIT=AMOUNT");
    /// Opens a block device.
    pub const BLOCK_DEVICE: Self = Self("access to the device", "sudo chown $USER DEVICE");
    /// Finds the processes of other accounts that have a device open.
    pub const OTHER_PROCESSES: Self =
        Self("CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH", "sudo assay device ...");
    /// Traces the block layer.
    pub const TRACER: Self = Self(
        "root and a writable tracefs",
        "sudo mount -t tracefs tracefs /sys/kernel/tracing; sudo assay device ...",
    );
    /// Reads the kernel's log.
    pub const KERNEL_LOG: Self =
        Self("CAP_SYSLOG or kernel.dmesg_restrict=0", "sudo sysctl -w kernel.dmesg_restrict=0");
    /// Samples the stacks of processes, and of the kernel.
    pub const PROFILES: Self = Self(
        "CAP_PERFMON or, for processes of this account, kernel.perf_event_paranoid=1",
        "sudo sysctl -w kernel.perf_event_paranoid=1",
    );
    /// Reads the health of a drive.
    pub const DRIVE_HEALTH: Self =
        Self("CAP_SYS_RAWIO (SATA) or CAP_SYS_ADMIN (NVMe)", "sudo assay doctor");
}
