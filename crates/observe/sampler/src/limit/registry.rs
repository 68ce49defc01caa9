//! Every limit, in the order of messages.

use std::path::Path;

use model::SystemNeeds;

use super::{LIMITS, Limit, Shortage};

/// Returns every limit.
pub fn limits() -> &'static [&'static Limit] {
    LIMITS
}

/// Returns what this host's limits deny a run with its data in that directory.
///
/// Limits that this process may raise are raised.
pub fn shortages(needs: &SystemNeeds, data: &Path) -> Vec<Shortage> {
    LIMITS.iter().filter_map(|limit| (limit.check)(needs, data).err()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_of_a_limit_is_registered_under_its_name() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/limit");
        let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let names = names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        let others = ["mod", "define", "registry"];
        let named: BTreeSet<String> = names.filter(|name| !others.contains(&&**name)).collect();
        let registered: BTreeSet<String> =
            limits().iter().map(|limit| limit.name.to_owned()).collect();
        assert_eq!(named, registered);
    }

    #[test]
    fn a_run_without_needs_lacks_nothing() {
        assert_eq!(shortages(&SystemNeeds::default(), Path::new("/nonexistent")), []);
    }
}
