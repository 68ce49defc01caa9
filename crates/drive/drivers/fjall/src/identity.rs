//! Identity of the linked fjall.

use std::collections::BTreeMap;

use model::Identity;

/// Version of the linked crate; a test compares it with the lock file.
const VERSION: &str = "3.1.13";
/// Version of the linked `lsm-tree`, on which fjall is built.
const TREE_VERSION: &str = "3.1.10";

/// Returns the identity of the linked crate.
pub(crate) fn identity() -> Identity {
    Identity {
        engine: "fjall".to_owned(),
        version: VERSION.to_owned(),
        origin: "linked".to_owned(),
        sha256: None,
        facts: BTreeMap::from([
            ("lsm_tree_version".to_owned(), TREE_VERSION.to_owned()),
            ("compression".to_owned(), "none lz4".to_owned()),
            ("cargo_features".to_owned(), "lz4".to_owned()),
        ]),
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
    fn versions_are_those_of_the_lock_file() {
        assert_eq!(locked("fjall").as_deref(), Some(VERSION));
        assert_eq!(locked("lsm-tree").as_deref(), Some(TREE_VERSION));
    }
}
