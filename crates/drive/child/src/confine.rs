//! Confines a child to the files that it needs, with Landlock; a library with seccomp too.
//!
//! The kernel checks a path when a file is opened, created, renamed or removed, and the rights stay
//! with the open file. So reads and writes of open files cost what they cost without it.
//!
//! Source: [Linux Landlock], security/landlock, "File descriptor access rights".

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

use crate::syscalls::refuse_syscalls;

/// The restrictions that are requested: those of Linux 6.12. An older kernel enforces fewer.
///
/// Later ones (sockets at paths) are not among them: no test has tried them.
const REQUESTED: ABI = ABI::V6;

/// The levels of Landlock, the newest first.
const LEVELS: [ABI; 6] = [ABI::V6, ABI::V5, ABI::V4, ABI::V3, ABI::V2, ABI::V1];

/// What every program reads: programs, libraries, the loader's cache, time zones, names.
///
/// Our choice, after the file system hierarchy of Linux and of Nix and Guix. No file in it is
/// secret: those of `/etc` are named one by one.
const SYSTEM: &[&str] = &[
    "/bin",
    "/etc/alternatives",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/gnu/store",
    "/lib",
    "/lib64",
    "/nix/store",
    "/proc",
    "/sbin",
    "/sys",
    "/usr",
];

/// Devices without data.
const DEVICES: &[&str] = &["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// Shared memory, which servers need. Other programs of the account have theirs there: no library
/// of a stranger reaches it.
const SHARED_MEMORY: &str = "/dev/shm";

/// Capabilities that a confined library of root has: to lock memory, and to read its files below
/// directories that are closed to others (of the account that called `sudo`, for instance).
///
/// Landlock decides which files it opens. Files opened by a handle, which need the same capability,
/// are refused.
const REMAINING: CapabilitySet = CapabilitySet::IPC_LOCK.union(CapabilitySet::DAC_READ_SEARCH);

/// What a confined child may reach, besides the files that every program reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// The command that confines itself and becomes the one that follows it.
    launcher: Vec<OsString>,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    is_library: bool,
}

impl Confinement {
    /// Returns the confinement to system files, put into effect by `launcher`.
    pub fn by(launcher: Vec<OsString>) -> Self {
        Self { launcher, ..Self::default() }
    }

    /// Adds files and directories that are read, libraries in them loaded and programs run.
    pub fn reading(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.read.extend(paths);
        self
    }

    /// Adds files and directories that are read and written.
    pub fn writing(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.write.extend(paths);
        self
    }

    /// Takes away TCP, shared memory, most capabilities of root and the system calls that Landlock
    /// does not mediate, if the process loads a library.
    pub fn of_library(self, is_library: bool) -> Self {
        Self { is_library, ..self }
    }

    /// Returns whether the process loads a library.
    pub fn is_of_library(&self) -> bool {
        self.is_library
    }

    /// Returns the arguments before the command that is confined: the launcher, and its own.
    pub fn args(&self) -> Vec<OsString> {
        let mut args = self.launcher.clone();
        let mut add = |flag: &str, path: &PathBuf| {
            // A path that is relative is another one in another directory.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            args.extend([flag.into(), path.into_os_string()]);
        };
        self.read.iter().for_each(|path| add("--read", path));
        self.write.iter().for_each(|path| add("--write", path));
        if self.is_library {
            args.push("--library".into());
        }
        args.push("--".into());
        args
    }

    /// Becomes a program that is confined; returns only with an error.
    ///
    /// Threads that run already are not confined: to be called before there are any. On a kernel
    /// without Landlock the files are open to it.
    ///
    /// Source: [Linux Landlock], userspace-api/landlock, "Enforcing a ruleset".
    pub fn become_program(&self, program: &OsString, args: &[OsString]) -> io::Error {
        if let Err(error) = self.enforce() {
            return error;
        }
        // What it writes to a directory of temporary files is among its data.
        let temporary = self.write.first().map(|dir| ("TMPDIR", dir));
        Command::new(program).args(args).envs(temporary).exec()
    }

    fn enforce(&self) -> io::Result<()> {
        if self.is_library {
            drop_capabilities()?;
        }
        self.restrict().map_err(io::Error::other)?;
        if self.is_library { refuse_syscalls() } else { Ok(()) }
    }

    fn restrict(&self) -> Result<(), RulesetError> {
        let (read, all) = (AccessFs::from_read(REQUESTED), AccessFs::from_all(REQUESTED));
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut ruleset =
            Ruleset::default().handle_access(all)?.scope(Scope::from_all(REQUESTED))?;
        if self.is_library {
            ruleset = ruleset.handle_access(AccessNet::from_all(REQUESTED))?;
        }
        let shared_memory = (!self.is_library).then_some(SHARED_MEMORY);
        let rules = ruleset
            .create()?
            .add_rules(path_beneath_rules(paths(SYSTEM), read))?
            .add_rules(path_beneath_rules(&self.read, read))?
            .add_rules(path_beneath_rules(paths(DEVICES), all))?
            .add_rules(path_beneath_rules(shared_memory, all))?
            .add_rules(path_beneath_rules(&self.write, all))?;
        rules.restrict_self().map(drop)
    }
}

/// Takes from root, for the program that follows, the capabilities that lead out of a confinement.
///
/// Those that this process may drop from its bounding set go there too. Without the right to, as in
/// a container, none comes back either: no program gains one.
///
/// Source: capabilities(7), "Capability bounding set"; `PR_SET_NO_NEW_PRIVS`(2const), "any other
/// thread".
fn drop_capabilities() -> io::Result<()> {
    let dropped = CapabilitySet::all().difference(REMAINING).iter();
    for error in dropped.filter_map(|one| remove_capability_from_bounding_set(one).err()) {
        if ![Errno::INVAL, Errno::PERM].contains(&error) {
            return Err(error.into());
        }
    }
    set_no_new_privs(true)?;
    let permitted = capabilities(None)?.permitted.intersection(REMAINING);
    let inheritable = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: permitted, permitted, inheritable })?)
}

/// Returns the level of Landlock that the kernel offers and Assay requests; `None` without it.
pub fn landlock_level() -> Option<String> {
    let is_offered = |level: &ABI| {
        let access: BitFlags<AccessFs> = AccessFs::from_all(*level);
        let needed = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let mut needed = needed.handle_access(access);
        if *level >= ABI::V4 {
            needed = needed.and_then(|it| it.handle_access(AccessNet::from_all(ABI::V4)));
        }
        if *level >= ABI::V6 {
            needed = needed.and_then(|it| it.scope(Scope::from_all(ABI::V6)));
        }
        needed.and_then(Ruleset::create).is_ok()
    };
    LEVELS.into_iter().find(is_offered).map(|level| level.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn paths_of_a_confinement_are_absolute_arguments_of_its_launcher() {
        let confinement = Confinement::by(vec!["assay".into(), "confined".into()])
            .reading(["/a".into()])
            .writing(["b".into()])
            .of_library(true);
        let args = confinement.args();
        let here = std::env::current_dir().unwrap().join("b").into_os_string();
        let b = here.to_str().unwrap();
        assert_eq!(args, ["assay", "confined", "--read", "/a", "--write", b, "--library", "--"]);
    }

    #[test]
    fn no_directory_with_secrets_is_open_to_a_confined_program() {
        let secret =
            ["/etc", "/root", "/home", "/etc/shadow", "/etc/ssl", "/etc/ssl/private", "/var"];
        let opened = |path: &str| SYSTEM.iter().any(|open| Path::new(path).starts_with(open));
        assert!(!secret.iter().any(|path| opened(path)));
    }

    /// Goal: memory that other programs of the account share is closed to a library.
    /// Method: the confinement binds one thread, and ends with it.
    #[test]
    fn a_library_reaches_no_shared_memory() {
        let makes_file = |is_library: Option<bool>| {
            let confined = move || {
                if let Some(is_library) = is_library {
                    Confinement::default().of_library(is_library).restrict().unwrap();
                }
                tempfile::tempfile_in(SHARED_MEMORY).is_ok()
            };
            std::thread::spawn(confined).join().unwrap()
        };
        if landlock_level().is_none() || !makes_file(None) {
            return println!("skipped: the kernel offers no Landlock, or no shared memory");
        }
        assert!(makes_file(Some(false)) && !makes_file(Some(true)));
    }

    /// Goal: what is taken is taken from the process too, and comes back by no program.
    #[test]
    fn a_library_of_root_keeps_two_capabilities() {
        let left = std::thread::spawn(|| {
            drop_capabilities().unwrap();
            (capabilities(None).unwrap(), rustix::thread::no_new_privs().unwrap())
        });
        let (left, gains_none) = left.join().unwrap();
        assert!(REMAINING.contains(left.permitted) && REMAINING.contains(left.effective));
        assert!(left.inheritable.is_empty() && gains_none);
    }

    /// Goal: the capabilities by which root reaches files and processes of others are gone.
    #[test]
    fn a_library_of_root_cannot_change_files_or_processes_of_others() {
        for one in [
            CapabilitySet::CHOWN,
            CapabilitySet::DAC_OVERRIDE,
            CapabilitySet::FOWNER,
            CapabilitySet::KILL,
            CapabilitySet::SETUID,
            CapabilitySet::SYS_ADMIN,
            CapabilitySet::SYS_NICE,
            CapabilitySet::SYS_PTRACE,
            CapabilitySet::SYS_RESOURCE,
        ] {
            assert!(!REMAINING.intersects(one), "{one:?}");
        }
    }
}
