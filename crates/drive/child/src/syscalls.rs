//! Refuses system calls that Landlock does not mediate, with a seccomp filter.
//!
//! Landlock checks paths that are opened, created, renamed or removed. Modes, owners, times and
//! attributes of files, sockets other than of TCP, objects of System V IPC and limits of other
//! processes are outside of it: a library that root loads could make a file of root set-user-id.
//!
//! The kernel runs no filter for a call that the filter always allows, reads and writes included.
//!
//! Source: [Linux Landlock], "Current limitations"; seccomp(2); Linux, kernel/seccomp.c,
//! `seccomp_cache_check_allow` (Linux 5.11).

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::io;

use libc::c_long;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter, sock_filter,
};

/// System calls that are refused whatever their arguments are.
///
/// `io_uring` executes operations that no filter sees, `setxattr` among them. Numbers that the C
/// library's list lacks are the same on every architecture. Source: Linux,
/// scripts/syscall.tbl, 452 and later.
const REFUSED: &[c_long] = &[
    // Modes, owners, times and attributes of files.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
    libc::SYS_mknodat,
    libc::SYS_open_by_handle_at,
    // Names in directories that it may not read.
    libc::SYS_inotify_add_watch,
    libc::SYS_fanotify_init,
    libc::SYS_io_uring_setup,
    // Mounts, roots and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    // A socket of any kind: of UDP or MPTCP, which Landlock does not mediate, or at a path, behind
    // which a service of root may listen. Those of a pair stay.
    libc::SYS_socket,
    // Objects that any process of the account finds by a key or name.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Other processes, and the kernel.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_syslog,
];

const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_SETATTR: c_long = 469;

/// System calls that only the older architecture has.
#[cfg(target_arch = "x86_64")]
const REFUSED_OLDER: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_mknod,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_OLDER: &[c_long] = &[];

/// A system call that is refused where one of its arguments compares so with a value.
struct RefusedArgument {
    call: c_long,
    index: u8,
    comparison: SeccompCmpOp,
    value: u64,
}

const fn with(call: c_long, index: u8, comparison: SeccompCmpOp, value: u64) -> RefusedArgument {
    RefusedArgument { call, index, comparison, value }
}

/// Calls on another process than the calling one, whose id is 0, on its process group, which may
/// have others, and on all of the account; a lease, for which every open of the file waits; and
/// `ioctl` requests that change flags, attributes, verity and encryption of a file opened to read.
///
/// An id other than 0 may be that of a thread of the engine, which a filter cannot decide: engines
/// lower the priority of their threads where they can, and go on where they cannot.
///
/// Source: setpriority(2), ioprio_set(2), ioctl_iflags(2); Linux, include/uapi/linux/fs.h,
/// fsverity.h and fscrypt.h.
const REFUSED_ARGUMENTS: &[RefusedArgument] = &[
    with(libc::SYS_prlimit64, 0, Ne, 0),
    with(libc::SYS_sched_setaffinity, 0, Ne, 0),
    with(libc::SYS_sched_setscheduler, 0, Ne, 0),
    with(libc::SYS_sched_setparam, 0, Ne, 0),
    with(libc::SYS_sched_setattr, 0, Ne, 0),
    with(libc::SYS_setpriority, 1, Ne, 0),
    with(libc::SYS_setpriority, 0, Ne, PRIO_PROCESS),
    with(libc::SYS_ioprio_set, 1, Ne, 0),
    with(libc::SYS_ioprio_set, 0, Ne, IOPRIO_WHO_PROCESS),
    with(libc::SYS_fcntl, 1, Eq, F_SETLEASE),
    with(libc::SYS_ioctl, 1, Eq, FS_IOC_SETVERSION),
    with(libc::SYS_ioctl, 1, Eq, FS_IOC32_SETVERSION),
    with(libc::SYS_ioctl, 1, Eq, FS_IOC_SETFLAGS),
    with(libc::SYS_ioctl, 1, Eq, FS_IOC32_SETFLAGS),
    with(libc::SYS_ioctl, 1, Eq, FS_IOC_FSSETXATTR),
    with(libc::SYS_ioctl, 1, Eq, FS_IOC_ENABLE_VERITY),
    with(libc::SYS_ioctl, 1, Eq, FS_IOC_SET_ENCRYPTION_POLICY),
];

/// Flags of `clone` that make a namespace. In one of users, a process has every capability.
///
/// Source: clone(2), user_namespaces(7).
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

const PRIO_PROCESS: u64 = 0;
const IOPRIO_WHO_PROCESS: u64 = 1;
const F_SETLEASE: u64 = 1024;
const FS_IOC_SETVERSION: u64 = 0x4008_7602;
const FS_IOC32_SETVERSION: u64 = 0x4004_7602;
const FS_IOC_SETFLAGS: u64 = 0x4008_6602;
const FS_IOC32_SETFLAGS: u64 = 0x4004_6602;
const FS_IOC_FSSETXATTR: u64 = 0x401c_5820;
const FS_IOC_ENABLE_VERITY: u64 = 0x4080_6685;
const FS_IOC_SET_ENCRYPTION_POLICY: u64 = 0x800c_6613;

/// Error of a refused call. Source: errno(3), `EPERM`.
const PERMISSION: u32 = 1;
/// Error of a call that the kernel does not have. Source: errno(3), `ENOSYS`.
const ABSENT: u32 = 38;
/// Number of `clone3` on every architecture. Source: Linux, scripts/syscall.tbl.
const CLONE3: u32 = 435;

/// Refuses calls of the x32 interface, whose numbers the rules do not have, and hides `clone3`.
///
/// The flags of `clone3` lie in memory, where no filter reads them. The C library uses `clone`
/// where the kernel does not have it.
///
/// Source: Linux, include/uapi/linux/bpf_common.h, seccomp.h and arch/x86 unistd.h,
/// `__X32_SYSCALL_BIT`; glibc, `__clone_internal`.
const BY_NUMBER: [sock_filter; 5] = [
    // Load the number of the call.
    sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 },
    // Skip the next instruction where it is below the bit.
    sock_filter { code: 0x35, jt: 0, jf: 1, k: 0x4000_0000 },
    // Return the error.
    sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | PERMISSION },
    // Skip the next instruction where it is another number.
    sock_filter { code: 0x15, jt: 0, jf: 1, k: CLONE3 },
    // Return the error.
    sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | ABSENT },
];

/// Refuses them to this thread and to what it starts, for ever.
///
/// # Errors
/// When the kernel has no such filters, or the architecture is not known.
pub(crate) fn refuse_syscalls() -> io::Result<()> {
    let program = program().map_err(io::Error::other)?;
    apply_filter(&program).map_err(io::Error::other)
}

fn program() -> Result<BpfProgram, seccompiler::BackendError> {
    let always = REFUSED.iter().chain(REFUSED_OLDER);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        always.map(|call| (*call, Vec::new())).collect();
    let namespaces = NAMESPACES.map(|flag| {
        let flag = u64::from(flag.cast_unsigned());
        with(libc::SYS_clone, 0, MaskedEq(flag), flag)
    });
    for argument in REFUSED_ARGUMENTS.iter().chain(&namespaces) {
        let RefusedArgument { call, index, comparison, value } = argument;
        let (length, comparison) = (SeccompCmpArgLen::Dword, comparison.clone());
        let condition = SeccompCondition::new(*index, length, comparison, *value)?;
        rules.entry(*call).or_default().push(SeccompRule::new(vec![condition])?);
    }
    let (allowed, refused) = (SeccompAction::Allow, SeccompAction::Errno(PERMISSION));
    let filter = SeccompFilter::new(rules, allowed, refused, ARCH.try_into()?)?;
    let program: BpfProgram = filter.try_into()?;
    Ok([&BY_NUMBER[..], &program].concat())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv6Addr, TcpListener, UdpSocket};
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::{UnixDatagram, UnixStream};
    use std::process::Command;
    use std::{fs, thread};

    use rustix::fs::{AtFlags, Timespec, Timestamps, UTIME_NOW, XattrFlags};
    use rustix::io::Errno;
    use rustix::process::{Resource, Rlimit, getpid, getpriority_process, setpriority_process};
    use rustix::process::{prlimit, setpriority_pgrp, setpriority_user, setrlimit};
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::*;

    /// Goal: none of the system calls that lead past Landlock succeeds, and others do.
    /// Method: the filter binds one thread, and ends with it.
    #[test]
    fn a_library_changes_no_mode_time_attribute_or_limit_of_others() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_owned();
        let free = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, free.clone()).unwrap();
        let refusals = thread::spawn(move || {
            refuse_syscalls().unwrap();
            let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
            let times = Timestamps { last_access: now, last_modification: now };
            let parent = rustix::process::getppid();
            let limit: Rlimit = rustix::process::getrlimit(Resource::Nofile);
            let cpus: CpuSet = sched_getaffinity(None).unwrap();
            // Its own limits, priority and CPUs it may set.
            setrlimit(Resource::Nofile, limit).unwrap();
            sched_setaffinity(None, &cpus).unwrap();
            setpriority_process(None, getpriority_process(None).unwrap()).unwrap();
            fs::write(&path, "it writes").unwrap();
            UnixStream::pair().unwrap();
            let made = |error: Option<io::Error>| match error.and_then(|it| it.raw_os_error()) {
                Some(number) => Err(Errno::from_raw_os_error(number)),
                None => Ok(()),
            };
            [
                rustix::fs::chmod(&path, rustix::fs::Mode::from(0o4755)),
                rustix::fs::fchmod(file.as_file(), rustix::fs::Mode::from(0o644)),
                rustix::fs::chown(&path, None, None),
                rustix::fs::utimensat(rustix::fs::CWD, &path, &times, AtFlags::empty()),
                rustix::fs::setxattr(&path, "user.assay", b"x", XattrFlags::empty()),
                rustix::fs::removexattr(&path, "user.assay"),
                rustix::fs::ioctl_setflags(file.as_file(), rustix::fs::IFlags::empty()),
                prlimit(parent, Resource::Nofile, limit).map(drop),
                sched_setaffinity(parent, &cpus),
                setpriority_process(Some(getpid()), 0),
                setpriority_pgrp(None, 0),
                setpriority_user(rustix::process::Uid::ROOT, 0),
                made(UnixDatagram::unbound().err()),
                made(UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).err()),
                made(TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).err()),
            ]
        });
        let refusals = refusals.join().unwrap();
        assert_eq!(refusals, [Err(Errno::PERM); 15]);
        assert_eq!(free.mode() & 0o7777, 0o600);
    }

    /// Goal: no way leads into a namespace, in which a library would have every capability; threads
    /// and processes begin as before.
    /// Method: Perl, under the filter, makes the calls and prints their errors.
    #[test]
    fn a_library_makes_no_namespace_and_still_has_threads() {
        const CALLS: &str = "print join ' ', map { my ($call, @args) = map { 0 + $_ } split /,/; \
                             syscall($call, @args) == -1 ? 0 + $! : 'done' } @ARGV";
        let clone = |flag| format!("{},{},0,0,0,0", libc::SYS_clone, flag | libc::SIGCHLD);
        let unshare = |flag| format!("{},{flag}", libc::SYS_unshare);
        let lease = format!("{},0,{F_SETLEASE},1", libc::SYS_fcntl);
        let calls = [&NAMESPACES.map(clone)[..], &NAMESPACES.map(unshare), &[lease]].concat();
        let hidden = format!("{CLONE3},0,0");
        let confined = thread::spawn(move || {
            refuse_syscalls().unwrap();
            let thread = thread::spawn(|| 7).join().unwrap();
            let perl = Command::new("perl").args(["-e", CALLS]).args(calls).arg(hidden).output();
            assert_eq!(thread, 7);
            perl
        });
        let Ok(perl) = confined.join().unwrap() else {
            return println!("skipped in part: no perl");
        };
        let expected =
            format!("{}{ABSENT}", format!("{PERMISSION} ").repeat(2 * NAMESPACES.len() + 1));
        assert_eq!(String::from_utf8_lossy(&perl.stdout), expected);
    }
}
