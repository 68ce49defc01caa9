//! The mark of an experiment that this account began here.
//!
//! A manifest may come from a stranger: in one file, or in a directory that was copied. What is
//! this account's own has a mark that only its key makes, and the key is in no archive. So what
//! has no mark is a stranger's: imported, copied, changed by hand, or begun by an older Assay.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use model::Manifest;
use sha2::Sha256;
use trust::{Dir, Entries};

use crate::checksum::hex;
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::MANIFEST;
use crate::limits::JSON_BYTES_MAX;
use crate::regular;
use crate::replace::{json, replace};

/// File of the mark: a line for each manifest that the experiment has had.
const OWN: &str = "own";
/// Bytes of a key. Source: RFC 2104, section 3: those of the hash, or more.
const KEY_BYTES: usize = 32;

/// The key of this account, which marks its own experiments.
pub struct OwnKey(Hmac<Sha256>);

impl OwnKey {
    /// Returns the key in a file; `None` without one, or when another account can know or replace
    /// it.
    pub fn read(path: &Path) -> Option<Self> {
        trust::check(path, Entries::Closed).ok()?;
        let mut file = regular::open(path).ok()?;
        let meta = file.metadata().ok()?;
        // Another file of this account, moved here, has a content that others may know.
        let is_a_key = meta.len() == KEY_BYTES as u64 && meta.nlink() == 1;
        let is_own = meta.uid() == rustix::process::geteuid().as_raw()
            && meta.mode() & 0o077 == 0
            && is_a_key;
        let mut key = [0; KEY_BYTES];
        file.read_exact(&mut key).ok().filter(|()| is_own)?;
        Hmac::new_from_slice(&key).ok().map(Self)
    }

    /// Returns the key in a file, which is made where it is absent.
    ///
    /// # Errors
    /// When it cannot be made, or another account can know it.
    pub fn obtain(path: &Path) -> io::Result<Self> {
        let make = || {
            let dir = path.parent().unwrap_or(Path::new("."));
            Dir::create(dir, Entries::Closed)?;
            let mut key = [0; KEY_BYTES];
            File::open("/dev/urandom")?.read_exact(&mut key)?;
            // Made with mode 0600; another process may be first.
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            file.write_all(&key)?;
            file.persist_noclobber(path).map_err(|error| error.error).map(drop)
        };
        if let Some(key) = Self::read(path) {
            return Ok(key);
        }
        let made = make();
        let closed = "other accounts can read the file, or it contains no key: remove the file";
        let made = made.err().filter(|error| error.kind() != io::ErrorKind::AlreadyExists);
        Self::read(path).ok_or_else(|| made.unwrap_or_else(|| io::Error::other(closed)))
    }

    fn mark(&self, manifest: &[u8]) -> String {
        hex(&self.0.clone().chain_update(manifest).finalize().into_bytes())
    }
}

impl ExperimentDir {
    /// Marks the experiment as this account's own, with this manifest, which may yet be written.
    ///
    /// # Errors
    /// When the mark cannot be written: the experiment counts as a stranger's.
    pub fn mark_own(&self, key: &OwnKey, manifest: &Manifest) -> Result<(), ArchiveError> {
        let path = self.path().join(OWN);
        let before = regular::read(&path, JSON_BYTES_MAX).unwrap_or_default();
        let line = key.mark(&json(manifest)) + "\n";
        replace(&path, &[&before, line.as_bytes()].concat())
    }

    /// Returns whether this account began the experiment here, with exactly this manifest.
    pub fn is_own(&self, key: &OwnKey, manifest: &Manifest) -> bool {
        // One that was unpacked comes from a file.
        let read = |name: &str| regular::read(&self.path().join(name), JSON_BYTES_MAX).ok();
        let Some((text, marks)) = read(MANIFEST).zip(read(OWN)) else { return false };
        let mark = key.mark(&text);
        let is_marked = marks.split(|byte| *byte == b'\n').any(|line| line == mark.as_bytes());
        is_marked && serde_json::from_slice::<Manifest>(&text).is_ok_and(|read| read == *manifest)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

    use super::*;
    use crate::Results;

    /// Goal: only an experiment that the key has marked, unchanged since, is one's own.
    #[test]
    fn only_what_the_key_has_marked_is_own() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schema-1");
        let mut manifest = Results::at(&fixture).find("quick").unwrap().manifest().unwrap();
        let place = tempfile::tempdir().unwrap();
        let [key, other] = ["a/key", "b/key"].map(|name| OwnKey::obtain(&place.path().join(name)));
        let (key, other) = (key.unwrap(), other.unwrap());
        let dir = Results::at(place.path()).create(&mut manifest).unwrap();
        assert!(!dir.is_own(&key, &manifest), "nothing has marked it");
        dir.mark_own(&key, &manifest).unwrap();
        assert!(dir.is_own(&key, &manifest) && !dir.is_own(&other, &manifest));
        let mut longer = manifest.clone();
        longer.plan.experiment.question.push('?');
        dir.mark_own(&key, &longer).unwrap();
        assert!(dir.is_own(&key, &manifest), "a kill may leave the earlier manifest");
        assert!(!dir.is_own(&key, &longer), "it is not the manifest in the file");
        dir.extend(&longer).unwrap();
        assert!(dir.is_own(&key, &longer) && !dir.is_own(&key, &manifest));
        let path = dir.path().join(MANIFEST);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen('?', "!", 1)).unwrap();
        let changed = dir.manifest().unwrap();
        assert!(!dir.is_own(&key, &changed), "its manifest was changed");
    }

    #[test]
    fn a_key_that_others_can_read_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        OwnKey::obtain(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(OwnKey::read(&path).is_none());
        let error = OwnKey::obtain(&path).err().unwrap().to_string();
        assert!(error.contains("key"), "{error}");
        for text in ["short", &"a page of this account".repeat(9)] {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            assert!(OwnKey::obtain(&path).is_err());
        }
    }

    /// Goal: root makes no key where another account's link leads, and trusts none that it moved.
    #[test]
    fn a_key_in_a_directory_of_another_account_is_none() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can make directories of another account");
            return;
        }
        const OTHER: u32 = 65_533;
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for name in ["victim", "theirs"] {
            fs::create_dir(at(name)).unwrap();
        }
        symlink("victim", at("link")).unwrap();
        lchown(at("link"), Some(OTHER), None).unwrap();
        assert!(OwnKey::obtain(&at("link/key")).is_err());
        assert!(fs::read_dir(at("victim")).unwrap().next().is_none());
        OwnKey::obtain(&at("theirs/key")).unwrap();
        lchown(at("theirs"), Some(OTHER), None).unwrap();
        assert!(OwnKey::read(&at("theirs/key")).is_none());
    }
}
