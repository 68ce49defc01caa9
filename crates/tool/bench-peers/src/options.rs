//! Differences between the OPTIONS files of both clients' databases.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::environment::{Environment, Side, run};
use crate::task::WORKS;

/// Operations that create a database.
const SOME: u64 = 1000;

/// Returns the options in which the clients' databases differ, as `name=value` of either side.
pub(crate) fn differences(environment: &Environment) -> Result<Vec<String>, String> {
    let writes = WORKS.iter().find(|work| work.kind.is_write());
    let work = writes.ok_or("no work that writes")?;
    let mut sides = Vec::new();
    for side in [Side::Peer, Side::Ours] {
        let args = environment.args(side, work, SOME)?;
        run(&args)?;
        sides.push(newest(&environment.data_dir(side, work))?);
    }
    Ok(differing(&sides[0], &sides[1]))
}

/// Returns the text of the newest OPTIONS file of a database.
fn newest(dir: &Path) -> Result<String, String> {
    let entries = fs::read_dir(dir).map_err(|error| error.to_string())?;
    let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let newest = files.filter(|name| name.starts_with("OPTIONS-")).max();
    let newest = newest.ok_or_else(|| format!("no OPTIONS file in {}", dir.display()))?;
    fs::read_to_string(dir.join(newest)).map_err(|error| error.to_string())
}

fn differing(peer: &str, ours: &str) -> Vec<String> {
    let lines = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    };
    let (peer, ours) = (lines(peer), lines(ours));
    let theirs = peer.difference(&ours).map(|line| format!("db_bench {line}"));
    theirs.chain(ours.difference(&peer).map(|line| format!("ours {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_differences_are_reported() {
        let (peer, ours) = ("# db_bench\n  a=1\n  b=2\n", "# us\na=1\nb=3\n");
        assert_eq!(differing(peer, ours), ["db_bench b=2", "ours b=3"]);
    }
}
