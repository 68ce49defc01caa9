//! Privileges that an ordinary account may lack, each with the command that grants it.
//!
//! The page `docs/guide/privileges.md` has a row for each.

use std::fmt;

/// A privilege that a part of Assay needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Privilege {
    /// What the kernel requires.
    pub need: &'static str,
    /// The command that grants it, in the shell that runs Assay; parts in capitals are filled in.
    pub grant: &'static str,
}

impl fmt::Display for Privilege {
    /// Writes the rest of a sentence whose subject needs the privilege.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "needs {}: `{}`", self.need, self.grant)
    }
}

/// Makes control groups of version 1.
pub const CONTROL_GROUPS_V1: Privilege = Privilege {
    need: "writable control groups of memory, cpuacct and blkio",
    grant: "for c in memory cpuacct blkio; do d=/sys/fs/cgroup/$c/assay; sudo mkdir -p $d; \
            sudo chown -R $USER $d; echo $$ | sudo tee $d/cgroup.procs; done",
};
/// Makes control groups of version 2.
pub const CONTROL_GROUPS_V2: Privilege = Privilege {
    need: "a delegated control group",
    grant: "systemd-run --user --scope -p Delegate=yes assay run ...",
};
/// Counts the IO of a control group of version 2.
pub const IO_CONTROLLER: Privilege = Privilege {
    need: "a delegated IO controller",
    grant: "sudo systemctl edit user@.service # [Service] Delegate=cpu io memory pids",
};
/// Raises hard limits of processes.
pub const HARD_LIMITS: Privilege =
    Privilege { need: "CAP_SYS_RESOURCE", grant: "sudo prlimit --pid $$ --LIMIT=AMOUNT" };
/// Opens a block device.
pub const BLOCK_DEVICE: Privilege = Privilege {
    need: "an account that may open the device",
    grant: "sudo chown $USER DEVICE",
};
/// Finds the processes of other accounts that have a device open.
pub const OTHER_PROCESSES: Privilege = Privilege {
    need: "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
    grant: "sudo assay device ...",
};
/// Traces the block layer.
pub const TRACER: Privilege =
    Privilege { need: "root and a writable tracefs", grant: "sudo assay device ..." };
/// Reads the kernel's log.
pub const KERNEL_LOG: Privilege = Privilege {
    need: "CAP_SYSLOG or kernel.dmesg_restrict=0",
    grant: "sudo sysctl -w kernel.dmesg_restrict=0",
};
/// Reads the health of a drive.
pub const DRIVE_HEALTH: Privilege = Privilege {
    need: "CAP_SYS_RAWIO (SATA) or CAP_SYS_ADMIN (NVMe)",
    grant: "sudo assay doctor",
};
