//! Identity of the linked redb.

use std::collections::BTreeMap;

use model::Identity;

/// Version of the linked crate; a test compares it with the lock file.
const VERSION: &str = "4.4.0";

/// Returns the identity of the linked crate.
pub(crate) fn identity() -> Identity {
    Identity {
        engine: "redb".to_owned(),
        version: VERSION.to_owned(),
        origin: "linked".to_owned(),
        sha256: None,
        facts: BTreeMap::from([("cargo_features".to_owned(), "std".to_owned())]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the version of `package` in the workspace's lock file.
    fn locked(package: &str) -> Option<String> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../Cargo.lock");
        let lock = std::fs::read_to_string(path).unwrap();
        let head = format!("name = \"{package}\"\nversion = \"");
        Some(lock.split_once(&head)?.1.split_once('"')?.0.to_owned())
    }

    #[test]
    fn version_is_that_of_the_lock_file() {
        assert_eq!(locked("redb").as_deref(), Some(VERSION));
    }
}
