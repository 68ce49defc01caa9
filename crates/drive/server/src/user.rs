//! The account that server processes run under.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use child::Role;

use crate::error::ServerError;

/// User that servers run as when the caller is root and names no other.
const UNPRIVILEGED: &str = "nobody";

/// Capabilities that open closed directories to the user, weakest first.
///
/// `/root` is closed on most systems, and an administrator's cache lies below it. Containers
/// often grant only the second. Source: capabilities(7).
const CAPABILITIES: &[&str] = &["dac_read_search", "dac_override"];

/// A user of this system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    pub(crate) uid: u32,
    gid: u32,
    /// Whether it is the user of this process.
    is_self: bool,
    /// The capability it needs to reach its directories.
    pub(crate) capability: Option<&'static str>,
}

impl User {
    /// Returns the account `name`; by default an unprivileged one for root.
    ///
    /// Any other user runs servers under its own account.
    ///
    /// # Errors
    /// When there is none of that name, and for root.
    pub fn find(name: Option<&str>) -> Result<Self, ServerError> {
        let own = nix::unistd::geteuid();
        let found = match name {
            None if !own.is_root() => nix::unistd::User::from_uid(own),
            named => nix::unistd::User::from_name(named.unwrap_or(UNPRIVILEGED)),
        };
        let (name, uid, gid) = match found.ok().flatten() {
            Some(user) => (user.name, user.uid, user.gid),
            // A container may run under an id without a name.
            None if name.is_none() && !own.is_root() => {
                (own.to_string(), own, nix::unistd::getegid())
            }
            None => {
                let name = name.unwrap_or(UNPRIVILEGED);
                return Err(ServerError::fatal(format!(
                    "there is no user `{name}` for servers to run as: name another in \
                     ASSAY_SERVER_USER, or make it with useradd"
                )));
            }
        };
        if uid.is_root() {
            let text = "servers do not run as root: name an unprivileged user in ASSAY_SERVER_USER";
            return Err(ServerError::fatal(text.to_owned()));
        }
        let is_self = uid == own;
        Ok(Self { name, uid: uid.as_raw(), gid: gid.as_raw(), is_self, capability: None })
    }

    /// Gives a file or directory to the user.
    pub(crate) fn own(&self, path: &Path) -> io::Result<()> {
        if self.is_self { Ok(()) } else { chown(path, Some(self.uid), Some(self.gid)) }
    }

    /// Returns the command prefix that runs a program as the user and kills it with its parent.
    ///
    /// The parent is the thread that starts it. Source: prctl(2), `PR_SET_PDEATHSIG`.
    pub(crate) fn args(&self) -> Vec<OsString> {
        let mut args = vec!["setpriv".to_owned(), "--pdeathsig".to_owned(), "KILL".to_owned()];
        if !self.is_self {
            args.extend(["--reuid".to_owned(), self.uid.to_string()]);
            args.extend(["--regid".to_owned(), self.gid.to_string(), "--clear-groups".to_owned()]);
        }
        if let Some(capability) = self.capability {
            for set in ["--inh-caps", "--ambient-caps", "--bounding-set"] {
                args.extend([set.to_owned(), format!("-all,+{capability}")]);
            }
            // With these, access(2) heeds the capability too.
            let bits = "+no_setuid_fixup,+noroot".to_owned();
            args.extend(["--securebits".to_owned(), bits]);
        }
        args.push("--".to_owned());
        args.into_iter().map(OsString::from).collect()
    }

    /// Ensures that the user can enter every directory above `paths`, adding a capability if
    /// needed; each path comes with the text of the error.
    ///
    /// # Errors
    /// The first directory that stays closed.
    pub(crate) fn reach(&mut self, paths: &[(&Path, &'static str)]) -> Result<(), ServerError> {
        let Some((dir, what)) = self.first_closed(paths)? else { return Ok(()) };
        if !self.is_self {
            for capability in CAPABILITIES {
                let candidate = Self { capability: Some(capability), ..self.clone() };
                // A capability that is not granted opens nothing.
                if matches!(candidate.first_closed(paths), Ok(None)) {
                    *self = candidate;
                    return Ok(());
                }
            }
        }
        let (user, dir) = (&self.name, dir.display());
        Err(ServerError::fatal(format!(
            "user `{user}`, which runs the server, cannot enter {dir}: allow it with `chmod o+x \
             {dir}`, or move {what}"
        )))
    }

    /// Returns the first directory that the user cannot enter, checked as that user.
    fn first_closed(
        &self,
        paths: &[(&Path, &'static str)],
    ) -> Result<Option<(PathBuf, &'static str)>, ServerError> {
        for (path, what) in paths {
            let mut dirs: Vec<_> = path.ancestors().skip(1).collect();
            dirs.reverse();
            let script = r#"for dir; do [ -x "$dir" ] || { printf %s "$dir"; exit 0; }; done"#;
            let mut args = self.args();
            args.extend(["sh", "-c", script, "sh"].map(OsString::from));
            args.extend(dirs.iter().map(|dir| dir.as_os_str().to_owned()));
            let output = command(&args).output().map_err(ServerError::spawn)?;
            if !output.status.success() {
                let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                return Err(ServerError::spawn(io::Error::other(stderr)));
            }
            if !output.stdout.is_empty() {
                let dir = PathBuf::from(String::from_utf8_lossy(&output.stdout).into_owned());
                return Ok(Some((dir, what)));
            }
        }
        Ok(None)
    }
}

/// Builds a command that runs in `/`, which every user may enter.
pub(crate) fn command(args: &[OsString]) -> Command {
    let (program, arguments) = args.split_first().expect("a command has a program");
    let mut command = child::command(Role::Program, program);
    command.args(arguments).current_dir("/").stdin(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn servers_run_as_an_unprivileged_user() {
        for (name, reason) in [("no-such-user", "there is no user"), ("root", "do not run as root")]
        {
            let error = User::find(Some(name)).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        let user = User::find(None).unwrap();
        assert_ne!(user.uid, 0);
        assert_eq!(user.is_self, !nix::unistd::geteuid().is_root());
    }

    #[test]
    fn capability_opens_a_closed_parent_directory() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("below");
        fs::create_dir(&below).unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        let mut user = User::find(None).unwrap();
        user.reach(&[(Path::new("/bin/sh"), "")]).unwrap();
        assert_eq!(user.capability, None);
        if user.is_self {
            println!("skipped: only root can run servers as another user");
            return;
        }
        assert_eq!(
            user.first_closed(&[(&below, "it")]).unwrap(),
            Some((dir.path().to_owned(), "it"))
        );
        match user.reach(&[(&below, "it")]) {
            Ok(()) => assert!(user.capability.is_some()),
            Err(error) => assert!(
                error.to_string().contains(&format!("chmod o+x {}", dir.path().display())),
                "{error}"
            ),
        }
    }
}
