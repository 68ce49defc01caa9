//! Why root does not use a directory.

use std::io;
use std::path::{Path, PathBuf};

use crate::account::Account;

/// A part of a path that an account without root's trust can replace, and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// It belongs to that account.
    #[error(
        "{} belongs to {_1}, which root does not trust: run as {}, or set ASSAY_SERVER_USER={} \
         to trust that account and run servers as it",
        _0.display(), _1.name, _1.name
    )]
    Owner(PathBuf, Account),
    /// It is a link that the account made.
    #[error(
        "{} is a link that another account made, {_1}: run as {}, or name the place that it leads \
         to",
        _0.display(), _1.name
    )]
    Link(PathBuf, Account),
    /// Those accounts can write it.
    #[error("{_1} can write {}: {}", _0.display(), closing(_0))]
    Shared(PathBuf, &'static str),
    /// Other accounts can make entries in it, which files by path need to be closed against.
    #[error("other accounts can make files in {}: name a directory below it", _0.display())]
    Sticky(PathBuf),
    /// What is made in it can be written by accounts of its default access control list.
    #[error(
        "new files in {} can be written by the accounts of its default access control list: remove \
         it with `setfacl -k {}`",
        _0.display(), _0.display()
    )]
    Default(PathBuf),
    /// It belongs to an account that has no number in this user namespace: any may be meant.
    #[error(
        "{} belongs to an account that the user namespace of Assay does not map, so that the \
         owner cannot be checked: run Assay outside of the namespace, or map the account \
         (/proc/self/uid_map)",
        _0.display()
    )]
    Unmapped(PathBuf),
    /// Access control lists are read through `/proc`, which is absent.
    #[error(
        "/proc is not mounted, so the accounts that can write {} cannot be checked: mount it with \
         `mount -t proc proc /proc`",
        _0.display()
    )]
    NoProc(PathBuf),
    /// Two dots follow a directory that does not exist.
    #[error("`..` follows {}, which does not exist: leave both out", _0.display())]
    Absent(PathBuf),
}

/// Returns the remedy for a directory that others can write; `/tmp` is for all accounts.
fn closing(dir: &Path) -> String {
    let mode = if dir == Path::new("/tmp") { "+t" } else { "go-w" };
    format!("close it with `chmod {mode} {}`", dir.display())
}

impl From<TrustError> for io::Error {
    fn from(error: TrustError) -> Self {
        Self::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_for_all_accounts_stays_one() {
        let text = |dir: &str| TrustError::Shared(dir.into(), "any account").to_string();
        assert!(text("/tmp").ends_with("can write /tmp: close it with `chmod +t /tmp`"));
        assert!(text("/data").ends_with("can write /data: close it with `chmod go-w /data`"));
    }
}
