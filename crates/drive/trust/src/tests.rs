//! Directories that other accounts prepare.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use tempfile::TempDir;

use crate::account::{Account, Trusted};
use crate::dir::{Dir, Entries, check_trusted};

/// An account of no user, and one that the test trusts.
const OTHER: u32 = 65_533;
const FRIEND: u32 = 65_532;

/// A directory of root in which the tests of one claim plant things.
struct Place(TempDir);

impl Place {
    /// Makes it; `None` without the right to make files of other accounts.
    fn new() -> Option<Self> {
        let place = Self(tempfile::tempdir().unwrap());
        if geteuid().is_root() {
            return Some(place);
        }
        println!("skipped: only root can make files of other accounts");
        None
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes a directory of that owner and mode.
    fn dir(&self, name: &str, (uid, gid): (u32, u32), mode: u32) {
        fs::create_dir(self.at(name)).unwrap();
        chown(self.at(name), Some(uid), Some(gid)).unwrap();
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Makes a link of that owner.
    fn link(&self, name: &str, target: &str, uid: u32) {
        symlink(target, self.at(name)).unwrap();
        lchown(self.at(name), Some(uid), None).unwrap();
    }

    /// Returns why a path is refused; an empty text when it is not.
    ///
    /// It is checked and made with the same result, and a refusal makes nothing.
    fn refusal(&self, name: &str) -> String {
        let trusted = Trusted::of_process().with(&[Account::of(FRIEND)]);
        let checked = check_trusted(&trusted, &self.at(name), Entries::Closed);
        let made = Dir::make_trusted(&trusted, &self.at(name), Entries::Closed, false);
        let text = |error: io::Error| error.to_string();
        let (checked, made) = (checked.map_err(text), made.map_err(text));
        assert_eq!(checked.as_ref().err(), made.as_ref().err(), "{name}");
        if let Ok(made) = made {
            assert_eq!(made.path(), fs::canonicalize(self.at(name)).unwrap());
            assert_eq!(
                made.file().metadata().unwrap().ino(),
                fs::metadata(made.path()).unwrap().ino()
            );
        }
        checked.err().unwrap_or_default()
    }
}

#[test]
fn a_directory_that_an_untrusted_account_can_replace_is_refused() {
    let Some(place) = Place::new() else { return };
    for (name, (owner, mode), expected) in [
        ("own", ((0, 0), 0o755), ""),
        ("foreign", ((OTHER, OTHER), 0o755), "belongs to 65533 (uid 65533)"),
        ("friend", ((FRIEND, FRIEND), 0o700), ""),
        ("open", ((0, 0), 0o777), "any account can write"),
        ("sticky", ((0, 0), 0o1777), ""),
        ("foreign-sticky", ((OTHER, 0), 0o1777), "belongs to"),
        ("group", ((0, OTHER), 0o775), "a group of other accounts can write"),
        ("own-group", ((0, 0), 0o775), ""),
        ("friend-group", ((0, FRIEND), 0o2775), ""),
    ] {
        place.dir(name, owner, mode);
        for below in ["new", "deep/er"] {
            let refusal = place.refusal(&format!("{name}/{below}"));
            assert_eq!(refusal.is_empty(), expected.is_empty(), "{name}: {refusal}");
            assert!(refusal.contains(expected), "{name}: {refusal}");
            assert_eq!(place.at(name).join(below).exists(), expected.is_empty(), "{name}");
        }
    }
    let refusal = place.refusal("foreign/new");
    let foreign = place.at("foreign").display().to_string();
    let remedies = ["run as 65533", "ASSAY_SERVER_USER=65533", &foreign];
    assert!(remedies.iter().all(|text| refusal.contains(text)), "{refusal}");
}

#[test]
fn a_sticky_directory_has_entries_of_trusted_accounts_only() {
    let Some(place) = Place::new() else { return };
    place.dir("sticky", (0, 0), 0o1777);
    place.dir("sticky/theirs", (OTHER, OTHER), 0o777);
    place.dir("victim", (0, 0), 0o755);
    place.link("sticky/link", "../victim", OTHER);
    place.link("sticky/own", "../victim", 0);
    assert!(place.refusal("sticky").contains("name a directory below it"));
    assert!(place.refusal("sticky/theirs/x").contains("belongs to"));
    assert!(place.refusal("sticky/link/x").contains("is a link that another account made"));
    assert_eq!(place.refusal("sticky/own/x"), "");
    assert!(place.at("victim/x").is_dir());
    let trusted = Trusted::of_process();
    check_trusted(&trusted, &place.at("sticky"), Entries::Shared).unwrap();
}

#[test]
fn each_link_of_a_chain_and_each_directory_it_passes_is_checked() {
    let Some(place) = Place::new() else { return };
    place.dir("target", (0, 0), 0o755);
    place.dir("theirs", (OTHER, OTHER), 0o755);
    place.link("theirs/second", "../target", 0);
    place.link("first", "theirs/second", 0);
    place.link("through", "theirs/../target", 0);
    place.link("absolute", place.at("target").to_str().unwrap(), 0);
    place.link("chain", "./absolute", FRIEND);
    place.link("loop", "loop", 0);
    assert!(place.refusal("first/x").contains("theirs belongs to"));
    assert!(place.refusal("through/x").contains("theirs belongs to"));
    assert!(place.refusal("loop/x").contains("symbolic links"));
    assert_eq!(place.refusal("chain/x"), "");
    assert!(place.at("target/x").is_dir());
}

/// Goal: an absent part hides nothing of what follows it.
#[test]
fn two_dots_after_an_absent_directory_are_refused() {
    let Some(place) = Place::new() else { return };
    place.dir("evil", (OTHER, OTHER), 0o755);
    assert!(place.refusal("nope/../evil/zz").contains("nope, which does not exist"));
    assert!(!place.at("nope").exists() && !place.at("evil/zz").exists());
    place.dir("there", (0, 0), 0o755);
    assert!(place.refusal("there/../evil/zz").contains("evil belongs to"));
    assert_eq!(place.refusal("there/../fine/zz"), "");
}

/// Goal: a list that gives an account the right to write counts, even on a directory of root; so
/// does one of what is made in it.
#[test]
fn a_directory_with_an_access_control_list_is_refused() {
    let Some(place) = Place::new() else { return };
    place.dir("listed", (0, 0), 0o775);
    place.dir("inherited", (0, 0), 0o755);
    // Version 2; the owner, an account, the group, the mask, others. Source: acl(5), Linux
    // include/uapi/linux/posix_acl_xattr.h.
    let entries =
        [(1, 7, u32::MAX), (2, 7, OTHER), (4, 5, u32::MAX), (16, 7, u32::MAX), (32, 5, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend([u16::to_le_bytes(tag), u16::to_le_bytes(rights)].concat());
        list.extend(u32::to_le_bytes(id));
    }
    let set = |dir: &str, list_name: &str| {
        let name = format!("system.posix_acl_{list_name}");
        rustix::fs::setxattr(place.at(dir), name, &list, rustix::fs::XattrFlags::empty())
    };
    if let Err(error) = set("listed", "access") {
        println!("skipped: the file system has no access control lists: {error}");
        return;
    }
    assert!(place.refusal("listed/x").contains("access control list can write"));
    set("inherited", "default").unwrap();
    assert!(place.refusal("inherited/x").contains("default access control list"));
    assert!(!place.at("inherited/x").exists());
}

#[test]
fn a_file_is_checked_as_a_directory_is() {
    let Some(place) = Place::new() else { return };
    fs::write(place.at("file"), "x").unwrap();
    let trusted = Trusted::of_process();
    let checked = || check_trusted(&trusted, &place.at("file"), Entries::Closed);
    checked().unwrap();
    assert!(Dir::make_trusted(&trusted, &place.at("file"), Entries::Closed, false).is_err());
    assert!(Dir::make_trusted(&trusted, &place.at("file/x"), Entries::Closed, false).is_err());
    fs::set_permissions(place.at("file"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(checked().is_err());
    let device = check_trusted(&trusted, Path::new("/dev/null"), Entries::Closed);
    assert!(device.unwrap_err().to_string().contains("Not a directory"));
    chown(place.at("file"), Some(OTHER), None).unwrap();
    assert!(checked().unwrap_err().to_string().contains("belongs to"));
}

#[test]
fn only_directories_that_were_made_are_opened_to_all() {
    let place = tempfile::tempdir().unwrap();
    let closed = place.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let made = Dir::create_open(&closed.join("a/b")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&closed), 0o700);
    if geteuid().is_root() {
        assert_eq!((mode(made.path()), mode(&closed.join("a"))), (0o755, 0o755));
    }
}
