//! As whom a server runs, and how it becomes that.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::ServerError;

/// User that servers run as when the caller is root and names no other.
const UNPRIVILEGED: &str = "nobody";

/// Capabilities that let the user reach what lies below a closed directory, weakest first.
///
/// `/root` is closed on most systems, and the cache of an administrator lies below it. Containers
/// often have the second only. Source: capabilities(7).
const KEYS: &[&str] = &["dac_read_search", "dac_override"];

/// A user of this system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    uid: u32,
    gid: u32,
    /// Whether it is the one who asks.
    is_self: bool,
    /// What it needs to reach its directories.
    key: Option<&'static str>,
}

impl User {
    /// Returns as whom servers run: `name`, else `nobody` for root and oneself for anybody else.
    ///
    /// # Errors
    /// [`ServerError::NoUser`] when there is none of that name, [`ServerError::Root`] for root.
    pub fn find(name: Option<&str>) -> Result<Self, ServerError> {
        let own = nix::unistd::geteuid();
        let found = match name {
            None if !own.is_root() => nix::unistd::User::from_uid(own),
            named => nix::unistd::User::from_name(named.unwrap_or(UNPRIVILEGED)),
        };
        let wanted = name.map_or_else(|| UNPRIVILEGED.to_owned(), str::to_owned);
        let Some(user) = found.ok().flatten() else {
            if name.is_none() && !own.is_root() {
                // A container may run under an id that nobody has named.
                let (uid, gid) = (own.as_raw(), nix::unistd::getegid().as_raw());
                return Ok(Self { name: uid.to_string(), uid, gid, is_self: true, key: None });
            }
            return Err(ServerError::NoUser(wanted));
        };
        if user.uid.is_root() {
            return Err(ServerError::Root);
        }
        let (uid, gid) = (user.uid.as_raw(), user.gid.as_raw());
        Ok(Self { name: user.name, uid, gid, is_self: user.uid == own, key: None })
    }

    /// Returns how the user reaches its directories, when that takes more than its own rights.
    #[must_use]
    pub const fn key(&self) -> Option<&'static str> {
        self.key
    }

    /// Returns the user's number.
    pub(crate) const fn uid(&self) -> u32 {
        self.uid
    }

    /// Gives a file or directory to the user.
    pub(crate) fn own(&self, path: &Path) -> io::Result<()> {
        if self.is_self { Ok(()) } else { chown(path, Some(self.uid), Some(self.gid)) }
    }

    /// Returns the words before a command that run it as the user and end it with its parent.
    ///
    /// The parent is the thread that starts it. Source: prctl(2), `PR_SET_PDEATHSIG`.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let mut words = vec!["setpriv".to_owned(), "--pdeathsig".to_owned(), "KILL".to_owned()];
        if !self.is_self {
            words.extend(["--reuid".to_owned(), self.uid.to_string()]);
            words.extend(["--regid".to_owned(), self.gid.to_string(), "--clear-groups".to_owned()]);
        }
        if let Some(key) = self.key {
            for set in ["--inh-caps", "--ambient-caps", "--bounding-set"] {
                words.extend([set.to_owned(), format!("-all,+{key}")]);
            }
            // With these, access(2) heeds the capability too.
            let bits = "+no_setuid_fixup,+noroot".to_owned();
            words.extend(["--securebits".to_owned(), bits]);
        }
        words.push("--".to_owned());
        words.into_iter().map(OsString::from).collect()
    }

    /// Sees to it that the user can enter every directory above `paths`; each comes with what to
    /// say of it when that cannot be.
    ///
    /// # Errors
    /// [`ServerError::Unreachable`] with the first directory that stays closed.
    pub(crate) fn reach(&mut self, paths: &[(&Path, &'static str)]) -> Result<(), ServerError> {
        let Some((dir, what)) = self.closed(paths)? else { return Ok(()) };
        if !self.is_self {
            for key in KEYS {
                let with_key = Self { key: Some(key), ..self.clone() };
                // A system that does not give the capability is one without it.
                if matches!(with_key.closed(paths), Ok(None)) {
                    *self = with_key;
                    return Ok(());
                }
            }
        }
        Err(ServerError::Unreachable { user: self.name.clone(), dir, what })
    }

    /// Returns the first directory that the user cannot enter, as the kernel sees it.
    fn closed(
        &self,
        paths: &[(&Path, &'static str)],
    ) -> Result<Option<(PathBuf, &'static str)>, ServerError> {
        for (path, what) in paths {
            let mut dirs: Vec<_> = path.ancestors().skip(1).collect();
            dirs.reverse();
            let script = r#"for dir; do [ -x "$dir" ] || { printf %s "$dir"; exit 0; }; done"#;
            let mut words = self.words();
            words.extend(["sh", "-c", script, "sh"].map(OsString::from));
            words.extend(dirs.iter().map(|dir| dir.as_os_str().to_owned()));
            let output = command(&words).output().map_err(spawn_error)?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                let source = io::Error::other(said);
                return Err(spawn_error(source));
            }
            if !output.stdout.is_empty() {
                let dir = PathBuf::from(String::from_utf8_lossy(&output.stdout).into_owned());
                return Ok(Some((dir, what)));
            }
        }
        Ok(None)
    }
}

/// Returns a command of words, in a directory that everybody may enter.
pub(crate) fn command(words: &[OsString]) -> Command {
    let (program, arguments) = words.split_first().expect("a command has a program");
    let mut command = Command::new(program);
    command.args(arguments).current_dir("/").stdin(Stdio::null());
    command
}

/// Returns that `setpriv` cannot be used.
pub(crate) fn spawn_error(source: io::Error) -> ServerError {
    ServerError::Spawn { program: "setpriv".into(), source, package: "util-linux" }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn servers_run_as_nobody_special() {
        assert!(matches!(User::find(Some("no-such-user")), Err(ServerError::NoUser(_))));
        assert!(matches!(User::find(Some("root")), Err(ServerError::Root)));
        let user = User::find(None).unwrap();
        assert_ne!(user.uid, 0);
        assert_eq!(user.is_self, !nix::unistd::geteuid().is_root());
    }

    #[test]
    fn what_lies_below_a_closed_directory_is_reached() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("below");
        fs::create_dir(&below).unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        let mut user = User::find(None).unwrap();
        user.reach(&[(Path::new("/bin/sh"), "")]).unwrap();
        assert_eq!(user.key, None);
        if user.is_self {
            println!("skipped: only root can run servers as somebody else");
            return;
        }
        assert_eq!(user.closed(&[(&below, "it")]).unwrap(), Some((dir.path().to_owned(), "it")));
        match user.reach(&[(&below, "it")]) {
            Ok(()) => assert!(user.key.is_some()),
            Err(error) => assert!(
                error.to_string().contains(&format!("chmod o+x {}", dir.path().display())),
                "{error}"
            ),
        }
    }
}
