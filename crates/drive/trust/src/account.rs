//! Accounts by name or number, and those that root trusts.

use std::fmt;
use std::fs::read_to_string;
use std::sync::OnceLock;

use nix::unistd::{Uid, User, getegid, geteuid, getgroups};
use rustix::fs::Mode;
use rustix::process::umask;

/// Accounts of this process that root trusts next to itself.
static NAMED: OnceLock<Vec<Account>> = OnceLock::new();

/// An account of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its name, or its number where it has no name.
    pub name: String,
    /// Its number.
    pub uid: u32,
    /// Number of its primary group.
    pub gid: u32,
}

impl Account {
    /// Returns the account of a name or a number; `None` when there is no such name.
    ///
    /// A number needs no name: a container runs under any. Its group then has the same number.
    pub fn find(text: &str) -> Option<Self> {
        let named = User::from_name(text).ok().flatten();
        named.map(Self::of_user).or_else(|| Self::of_number(text))
    }

    /// Returns the account of a number in decimal digits; one may be the name of another account.
    pub fn of_number(text: &str) -> Option<Self> {
        // The largest one stands for no account. Source: chown(2).
        text.parse().ok().filter(|uid| *uid != u32::MAX).map(Self::of)
    }

    /// Returns the account of this process.
    pub fn of_this_process() -> Self {
        Self::of(geteuid().as_raw())
    }

    /// Returns whether it has no name, as accounts of containers may have none.
    pub fn is_nameless(&self) -> bool {
        self.name == self.uid.to_string()
    }

    /// Returns whether a number stands for every account that the user namespace does not map.
    ///
    /// Source: user_namespaces(7), "Unmapped user and group IDs".
    pub(crate) fn is_unmapped(uid: u32) -> bool {
        let unmapped = read_to_string("/proc/sys/kernel/overflowuid").unwrap_or_default();
        unmapped.trim() == uid.to_string() && !is_mapped("uid_map", uid)
    }

    /// Returns the account of a number.
    pub(crate) fn of(uid: u32) -> Self {
        let named = User::from_uid(Uid::from_raw(uid)).ok().flatten();
        named.map_or_else(|| Self { name: uid.to_string(), uid, gid: uid }, Self::of_user)
    }

    fn of_user(user: User) -> Self {
        Self { name: user.name, uid: user.uid.as_raw(), gid: user.gid.as_raw() }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (uid {})", self.name, self.uid)
    }
}

/// Returns whether the user namespace has an id, by its map `uid_map` or `gid_map`.
///
/// Source: `user_namespaces(7)`, `/proc/PID/uid_map`.
pub fn is_mapped(map: &str, id: u32) -> bool {
    let text = read_to_string(format!("/proc/self/{map}")).unwrap_or_default();
    text.lines().any(|line| {
        let fields: Vec<u32> =
            line.split_ascii_whitespace().filter_map(|field| field.parse().ok()).collect();
        matches!(fields[..], [first, _, count] if id >= first && id - first < count)
    })
}

/// Begins a process: as root it trusts these accounts too, and makes nothing that others can write.
///
/// A later call changes nothing.
pub fn begin(named: Vec<Account>) {
    if geteuid().is_root() {
        umask(umask(Mode::empty()) | Mode::WGRP | Mode::WOTH);
    }
    NAMED.get_or_init(|| named);
}

/// The accounts and groups whose directories root uses.
#[derive(Debug, Clone)]
pub(crate) struct Trusted {
    pub(crate) uids: Vec<u32>,
    pub(crate) gids: Vec<u32>,
}

impl Trusted {
    /// Returns those of this process: itself, root, and the accounts that [`begin`] got.
    ///
    /// Groups are those of the process, as a container has one for its volumes, and the primary
    /// ones of trusted accounts.
    pub(crate) fn of_process() -> Self {
        let named = NAMED.get().map(Vec::as_slice).unwrap_or_default();
        let mut gids: Vec<u32> =
            getgroups().unwrap_or_default().iter().map(|gid| gid.as_raw()).collect();
        gids.push(getegid().as_raw());
        Self { uids: vec![0, geteuid().as_raw()], gids }.with(named)
    }

    /// Adds accounts with their primary groups.
    pub(crate) fn with(mut self, accounts: &[Account]) -> Self {
        let accounts = accounts.iter().filter(|account| !Account::is_unmapped(account.uid));
        self.uids.extend(accounts.clone().map(|account| account.uid));
        self.gids.extend(accounts.map(|account| account.gid));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_a_name_or_a_number() {
        let root = Account::find("root").unwrap();
        assert_eq!((root.uid, Account::find("0")), (0, Some(root.clone())));
        assert_eq!(root.to_string(), "root (uid 0)");
        let unnamed = Account { name: "4200000".to_owned(), uid: 4_200_000, gid: 4_200_000 };
        assert_eq!(Account::find("4200000"), Some(unnamed));
        for text in ["", "-1", "4294967295", "4294967296", "no-such-user", "0x0"] {
            assert_eq!(Account::find(text), None, "{text}");
        }
    }
}
