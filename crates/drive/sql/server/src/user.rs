//! The account that server processes run under.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown, lchown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::unistd::{Uid, getegid, geteuid};
use rustix::rand::GetRandomFlags;
use trust::{Account, is_mapped};

use child::Role;

use crate::capabilities;
use crate::error::ServerError;

/// User that servers run as when the caller is root and may use no account of its own.
const UNPRIVILEGED: &str = "nobody";

/// Remedy for data that the account of a server cannot reach.
pub(crate) const MOVE_DATA: &str = "move the data with --data-dir, such as /var/tmp/assay-data";

/// Ids of accounts made up for a server: no user of a distribution, container or systemd has one.
///
/// Source: systemd, "Users, Groups, UIDs and GIDs on systemd Systems", the last unused range.
const OWN_IDS: std::ops::Range<u32> = 1_879_048_192..2_147_483_647;
/// Draws of an unused id: a collision is one in millions.
const DRAWS_MAX: usize = 8;

/// Returns whether an id is that of an account made up for a server, under which nothing else runs.
pub(crate) fn is_own_id(uid: u32) -> bool {
    OWN_IDS.contains(&uid)
}

/// The account of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its name, or what it is.
    pub name: String,
    pub(crate) uid: u32,
    gid: u32,
    /// Whether it is the user of this process.
    is_self: bool,
    /// The named user that set-up programs take themselves for, in a user namespace.
    alias: Option<u32>,
}

impl User {
    /// Returns the account of a name or a number; by default, for root, one that nothing else uses.
    ///
    /// The owner of a server's data stays their owner. Any other user runs servers under its own
    /// account. With `needs_name` set-up programs read their account's name; one without a name
    /// needs a user namespace for them. Where root is granted none, or the kernel maps no such id,
    /// its servers run as the unprivileged user of the system.
    ///
    /// # Errors
    /// When there is none of that name, for root, for root without the capabilities it needs, for
    /// an account that this process cannot become, and for one without a name that is granted no
    /// user namespace.
    pub fn find(name: Option<&str>, data: &Path, needs_name: bool) -> Result<Self, ServerError> {
        let own = geteuid();
        match name {
            Some(name) => Self::named(name, needs_name),
            None if !own.is_root() => Self::current(needs_name),
            None => {
                capabilities::check()?;
                let own = Self::own(data, needs_name);
                own.map_or_else(|| Self::named(UNPRIVILEGED, false), Ok)
            }
        }
    }

    fn named(name: &str, needs_name: bool) -> Result<Self, ServerError> {
        let Some(Account { name, uid, gid }) = Account::find(name) else {
            return Err(ServerError::fatal(format!(
                "there is no user `{name}` for servers to run as: name another user in \
                 ASSAY_SERVER_USER, or make the user with useradd"
            )));
        };
        if uid == 0 {
            let text = "servers do not run as root: name an unprivileged user in ASSAY_SERVER_USER";
            return Err(ServerError::fatal(text.to_owned()));
        }
        let own = geteuid();
        let is_self = uid == own.as_raw();
        let cannot = |reason: String| {
            ServerError::fatal(format!("servers cannot run as {name} (uid {uid}): {reason}"))
        };
        if !is_self && !own.is_root() {
            return Err(cannot(format!(
                "only root starts programs under another account, and Assay runs as uid {own}: \
                 leave ASSAY_SERVER_USER out, or run `sudo ASSAY_SERVER_USER={name} assay ...`"
            )));
        }
        if !is_self {
            capabilities::check()?;
        }
        if let Some(reason) = namespace_refusal(uid, gid).filter(|_| !is_self) {
            return Err(cannot(format!(
                "the user namespace that Assay runs in {reason}: run Assay outside of the \
                 namespace as an ordinary user, or in one that maps users and groups and allows \
                 setgroups, as rootless containers do"
            )));
        }
        let lacks_name = needs_name && name == uid.to_string();
        Self { name, uid, gid, is_self, alias: alias(uid, lacks_name) }.checked(lacks_name)
    }

    /// Returns the user of this process; a container may run under an id without a name.
    fn current(needs_name: bool) -> Result<Self, ServerError> {
        let (uid, gid) = (geteuid(), getegid());
        let name = nix::unistd::User::from_uid(uid).ok().flatten().map(|user| user.name);
        let lacks_name = needs_name && name.is_none();
        let alias = alias(uid.as_raw(), lacks_name);
        let name = name.unwrap_or_else(|| uid.to_string());
        let (uid, gid) = (uid.as_raw(), gid.as_raw());
        Self { name, uid, gid, is_self: true, alias }.checked(lacks_name)
    }

    /// Checks that set-up programs have a name for an account that lacks one.
    fn checked(self, lacks_name: bool) -> Result<Self, ServerError> {
        let Some(reason) = lacks_name.then(|| self.alias_error()).flatten() else {
            return Ok(self);
        };
        let Self { uid, gid, .. } = self;
        Err(ServerError::fatal(format!(
            "set-up programs of the server read the name of their account, uid {uid} has none, \
             and it cannot have one in a user namespace ({reason}{}): run Assay as an account that \
             /etc/passwd names, or add a line there: `assay:x:{uid}:{gid}::/tmp:/bin/sh`",
            limit_of_namespaces(&reason, gid)
        )))
    }

    /// Returns why set-up programs cannot take themselves for the named user, if so.
    fn alias_error(&self) -> Option<String> {
        if self.alias.is_none() {
            return Some(format!("no account is named {UNPRIVILEGED}"));
        }
        let mut args = self.set_up_args();
        args.push("true".into());
        match command(&args).output() {
            Ok(output) if output.status.success() => None,
            Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Some(format!("setpriv: {error}")),
        }
    }

    /// Returns the owner of `data`, or an account that nothing else uses; `None` without the right.
    fn own(data: &Path, needs_name: bool) -> Option<Self> {
        let owner = fs::symlink_metadata(data).ok().filter(|meta| meta.uid() != 0);
        let (uid, gid) = match owner {
            Some(meta) => (meta.uid(), meta.gid()),
            None => unused_id().map(|id| (id, id))?,
        };
        let name = "an account of its own".to_owned();
        let user = Self { name, uid, gid, is_self: false, alias: alias(uid, needs_name) };
        let is_refused = needs_name && OWN_IDS.contains(&uid) && user.alias_error().is_some();
        (!is_refused && namespace_refusal(uid, gid).is_none()).then_some(user)
    }

    /// Gives a file or directory to the user; follows no link.
    pub(crate) fn give(&self, path: &Path) -> io::Result<()> {
        if self.is_self { Ok(()) } else { lchown(path, Some(self.uid), Some(self.gid)) }
    }

    /// Lets the user read a file of this process that others cannot read.
    pub(crate) fn let_read(&self, file: &File) -> io::Result<()> {
        if self.is_self {
            return Ok(());
        }
        fchown(file, None, Some(self.gid))?;
        file.set_permissions(Permissions::from_mode(0o640))
    }

    /// Returns the command prefix that runs a program as the user and kills it with its parent.
    ///
    /// It can gain no right. The parent is the thread that starts it. Source: prctl(2),
    /// `PR_SET_PDEATHSIG`, `PR_SET_NO_NEW_PRIVS`.
    pub(crate) fn args(&self) -> Vec<OsString> {
        let mut args = vec!["setpriv".to_owned(), "--no-new-privs".to_owned()];
        args.extend(["--pdeathsig".to_owned(), "KILL".to_owned()]);
        if !self.is_self {
            args.extend(["--reuid".to_owned(), self.uid.to_string()]);
            args.extend(["--regid".to_owned(), self.gid.to_string(), "--clear-groups".to_owned()]);
        }
        args.push("--".to_owned());
        args.into_iter().map(OsString::from).collect()
    }

    /// Returns whether its set-up programs see a name for it, in a user namespace.
    pub(crate) const fn has_alias(&self) -> bool {
        self.alias.is_some()
    }

    /// Returns [`User::args`] for a set-up program, which may need a name of its account.
    ///
    /// A new namespace clears the signal at the parent's death: it is set once more.
    pub(crate) fn set_up_args(&self) -> Vec<OsString> {
        let mut args = self.args();
        if let Some(alias) = self.alias {
            let map = format!("--map-user={alias}");
            let more = ["unshare", "--user", &map, "--", "setpriv", "--pdeathsig", "KILL", "--"];
            args.extend(more.map(OsString::from));
        }
        args
    }

    /// Checks that the user can enter every directory above `paths`; each path comes with the
    /// remedy of the error.
    ///
    /// # Errors
    /// The first directory that is closed.
    pub(crate) fn check_reach(&self, paths: &[(&Path, &str)]) -> Result<(), ServerError> {
        let Some((dir, remedy)) = self.first_closed(paths)? else { return Ok(()) };
        let (user, dir) = (&self.name, dir.display());
        Err(ServerError::fatal(format!(
            "the server runs as {user}, which cannot enter {dir}: {remedy}, or allow it with \
             `chmod o+x {dir}`"
        )))
    }

    /// Returns the first directory that the user cannot enter, checked as that user.
    fn first_closed<'a>(
        &self,
        paths: &[(&Path, &'a str)],
    ) -> Result<Option<(PathBuf, &'a str)>, ServerError> {
        for (path, remedy) in paths {
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
                return Ok(Some((dir, remedy)));
            }
        }
        Ok(None)
    }

    /// Returns the account of servers if it can enter a directory for data, which need not exist.
    ///
    /// `name` and `needs_name` are those of [`User::find`].
    ///
    /// # Errors
    /// The reason, with the remedy.
    pub fn check_data_dir(
        dir: &Path,
        name: Option<&str>,
        needs_name: bool,
    ) -> Result<Self, ServerError> {
        // New data have no owner yet, whatever account owns the directory above them.
        let data = nearest(dir)?.join("data");
        let user = Self::find(name, &data, needs_name)?;
        user.check_reach(&[(&data, MOVE_DATA)])?;
        Ok(user)
    }
}

/// Returns a directory, or the nearest above it that exists.
fn nearest(dir: &Path) -> Result<PathBuf, ServerError> {
    let absolute = std::path::absolute(dir).map_err(ServerError::file(dir))?;
    let existing = absolute.ancestors().find(|dir| dir.exists());
    Ok(existing.unwrap_or(Path::new("/")).to_path_buf())
}

/// Returns the named user that set-up programs of an account take themselves for, if they need one.
fn alias(uid: u32, needs_name: bool) -> Option<u32> {
    let alias = nix::unistd::User::from_name(UNPRIVILEGED).ok().flatten();
    alias.map(|user| user.uid.as_raw()).filter(|alias| needs_name && *alias != uid)
}

/// Returns the limit behind an error of `unshare`, as the rest of a sentence.
///
/// Source: unshare(2), ENOSPC and EPERM; Linux, Documentation/admin-guide/sysctl/user.rst.
fn limit_of_namespaces(error: &str, gid: u32) -> &'static str {
    match error {
        _ if !is_mapped("gid_map", gid) => {
            "; the user namespace that Assay runs in does not map its group: start the namespace \
             with a map of groups (`unshare --map-group`)"
        }
        _ if error.contains("No space left") => {
            "; user.max_user_namespaces is 0 or used up: as root of the host, `sysctl -w \
             user.max_user_namespaces=10000`"
        }
        _ if error.contains("not permitted") => {
            "; a seccomp profile, or a setting of the kernel that `assay doctor` names, refuses it"
        }
        _ => "",
    }
}

/// Returns why the user namespace of this process lets it become no such account, if so.
///
/// Source: `user_namespaces(7)`, `/proc/PID/uid_map`, `/proc/PID/setgroups`.
fn namespace_refusal(uid: u32, gid: u32) -> Option<String> {
    let file = |name: &str| {
        let text = fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let maps = [("uid_map", [uid, geteuid().as_raw()]), ("gid_map", [gid, getegid().as_raw()])];
    let lacks =
        |(map, ids): &(&str, [u32; 2])| ids.iter().find(|id| !is_mapped(map, **id)).copied();
    if let Some((map, id)) = maps.iter().find_map(|map| Some((map.0, lacks(map)?))) {
        return Some(format!("does not map the number {id} (/proc/self/{map}: {})", file(map)));
    }
    let is_denied = file("setgroups") == "deny";
    is_denied.then(|| "forbids setgroups (/proc/self/setgroups: deny)".to_owned())
}

/// Returns an id of [`OWN_IDS`] that no user has; `None` when the kernel does not map them.
fn unused_id() -> Option<u32> {
    let is_unused = |id: &u32| matches!(nix::unistd::User::from_uid(Uid::from_raw(*id)), Ok(None));
    let ids = OWN_IDS.end - OWN_IDS.start;
    let draws = (0..DRAWS_MAX).filter_map(|_| random().map(|it| OWN_IDS.start + draw(it, ids)));
    draws.filter(is_unused).find(|id| is_mapped("uid_map", *id) && is_mapped("gid_map", *id))
}

fn draw(bytes: [u8; 16], below: u32) -> u32 {
    let [a, b, c, d, ..] = bytes;
    u32::from_le_bytes([a, b, c, d]) % below
}

/// Returns bytes from the kernel's random generator; `None` when it has none. Source: getrandom(2).
pub(crate) fn random() -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    let count = rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty()).ok()?;
    (count == bytes.len()).then_some(bytes)
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
    use super::*;
    use crate::testing::{is_root, maps_every_id};

    /// A place without data.
    const NOWHERE: &str = "/nonexistent/data";

    #[test]
    fn servers_run_as_an_unprivileged_user() {
        for (name, reason) in
            [("no-such-user", "there is no user"), ("root", "do not run as root"), ("0", "as root")]
        {
            let error = User::find(Some(name), Path::new(NOWHERE), false).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        let user = User::find(None, Path::new(NOWHERE), false).unwrap();
        assert_ne!(user.uid, 0);
        assert_eq!(user.is_self, !geteuid().is_root());
        let numbered = User::find(Some("4200000"), Path::new(NOWHERE), false);
        if geteuid().is_root() && is_mapped("uid_map", 4_200_000) {
            let User { name, uid, gid, .. } = numbered.unwrap();
            assert_eq!((&*name, uid, gid), ("4200000", 4_200_000, 4_200_000));
        } else {
            let error = numbered.unwrap_err().to_string();
            assert!(error.contains("servers cannot run as 4200000 (uid 4200000): "), "{error}");
        }
    }

    #[test]
    fn each_server_of_root_has_an_account_of_its_own() {
        if !maps_every_id() {
            return;
        }
        // What the kernel grants, tried as a user of the system.
        let probe = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "unshare", "--user"];
        let granted = Command::new("setpriv").args(probe).arg("true").status();
        if !granted.is_ok_and(|status| status.success()) {
            println!("skipped: the kernel grants users no namespaces");
            return;
        }
        let find = || User::find(None, Path::new(NOWHERE), true).unwrap();
        let (first, second) = (find(), find());
        assert!(OWN_IDS.contains(&first.uid) && first.uid != second.uid);
        let dir = tempfile::tempdir().unwrap();
        first.give(dir.path()).unwrap();
        assert_eq!(User::find(None, dir.path(), true).unwrap(), first, "the data's owner");
    }

    #[test]
    fn closed_parent_directory_is_named_with_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("below");
        fs::create_dir(&below).unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        let user = User::find(None, Path::new(NOWHERE), false).unwrap();
        user.check_reach(&[(Path::new("/bin/sh"), "")]).unwrap();
        assert_eq!(user.is_self, !geteuid().is_root());
        if !is_root() {
            return;
        }
        for data in [below.clone(), below.join("absent/too")] {
            let error = User::check_data_dir(&data, None, false).unwrap_err().to_string();
            assert!(error.contains("cannot enter") && error.contains("--data-dir"), "{error}");
        }
        User::check_data_dir(Path::new("/var/lib"), None, false).unwrap();
        let error = user.check_reach(&[(&below, "move it")]).unwrap_err().to_string();
        let remedy = format!("move it, or allow it with `chmod o+x {}`", dir.path().display());
        assert!(error.ends_with(&remedy), "{error}");
    }

    /// Variable of the test below, started again under another account.
    const ROLE: &str = "ASSAY_TEST_ACCOUNT";

    /// Runs the test below again, in `prefix`; returns its output, or `None` when it cannot run.
    fn under(prefix: &[&str]) -> Option<String> {
        let program = std::env::current_exe().unwrap();
        let test = "user::tests::accounts_that_servers_cannot_run_as_are_named_with_the_reason";
        let mut command = Command::new(prefix[0]);
        command.args(&prefix[1..]).arg(program).args([test, "--exact", "--nocapture"]);
        let output = command.env(ROLE, "1").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.contains("found: ").then_some(text)
    }

    /// Goal: who can run no server learns why; who has no name is set up all the same.
    /// Method: this test, started again as an account without a name, and in user namespaces.
    #[test]
    fn accounts_that_servers_cannot_run_as_are_named_with_the_reason() {
        if std::env::var_os(ROLE).is_some() {
            let other = User::find(Some(UNPRIVILEGED), Path::new(NOWHERE), true);
            println!("other: {}", other.map_or_else(|error| error.to_string(), |user| user.name));
            match User::find(None, Path::new(NOWHERE), true) {
                Err(error) => println!("found: {error}"),
                Ok(user) => {
                    let mut args = user.set_up_args();
                    args.extend(["id", "-un"].map(OsString::from));
                    let name = command(&args).output().unwrap().stdout;
                    println!("found: {} as {}", user.name, String::from_utf8_lossy(&name));
                }
            }
            return;
        }
        if !is_root() {
            return;
        }
        let unnamed = ["setpriv", "--reuid=123456", "--regid=0", "--clear-groups"];
        let Some(text) = under(&unnamed) else {
            println!("skipped: the test program lies in a closed directory");
            return;
        };
        let other = format!("cannot run as {UNPRIVILEGED} (uid 65534): ");
        assert!(text.contains(&format!("{other}only root starts")), "{text}");
        let Some(nested) = under(&["unshare", "--user", "--map-root-user"]) else {
            println!("skipped in part: the kernel grants no user namespaces");
            return;
        };
        assert!(text.contains(&format!("found: 123456 as {UNPRIVILEGED}")), "{text}");
        assert!(nested.contains(&format!("{other}the user namespace")), "{nested}");
        assert!(nested.contains("uid_map: 0 0 1)"), "{nested}");
        // Its group has no name there, so that it gets no namespace of its own.
        let denied = under(&[&unnamed[..], &["unshare", "--user", "--map-user=1234"]].concat());
        let denied = denied.unwrap_or_default();
        assert!(denied.contains("uid 1234 has none") && denied.contains("/etc/passwd"), "{denied}");
        assert!(denied.contains("does not map its group"), "{denied}");
    }
}
