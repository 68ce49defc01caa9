//! Open files of a process, `ulimit -n`; raised as far as the hard limit allows.

use std::path::Path;

use model::SystemNeeds;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Limit, Shortage};

pub(crate) static LIMIT: Limit = Limit { name: "open_files", check };

fn check(needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    let now = getrlimit(Resource::Nofile);
    let Some(raised) = allow(needs, &now)? else { return Ok(()) };
    let refused = |_| shortage(needs, now.current);
    setrlimit(Resource::Nofile, raised).map_err(refused)
}

/// Returns the limit to set; `None` where so many files are allowed now.
fn allow(needs: &SystemNeeds, now: &Rlimit) -> Result<Option<Rlimit>, Shortage> {
    let files = needs.open_files;
    match (now.current, now.maximum) {
        (None, _) => Ok(None),
        (Some(soft), _) if files <= soft => Ok(None),
        (_, Some(hard)) if files > hard => Err(shortage(needs, Some(hard))),
        (_, maximum) => Ok(Some(Rlimit { current: Some(files), maximum })),
    }
}

fn shortage(needs: &SystemNeeds, allowed: Option<u64>) -> Shortage {
    let files = needs.open_files;
    // Each client has a file or more.
    let is_by_clients = files.saturating_sub(allowed.unwrap_or_default()) < needs.clients.into();
    let instead = if is_by_clients { ", or use fewer clients" } else { "" };
    let allowed = allowed.map_or_else(|| "fewer".to_owned(), |limit| limit.to_string());
    Shortage {
        limit: LIMIT.name,
        reason: format!(
            "a process of the run may need {files} open files, and its hard limit (`ulimit -Hn`) \
             is {allowed}"
        ),
        remedy: format!(
            "raise it where the shell that runs assay gets it (`ulimit -n {files}`, `docker run \
             --ulimit nofile={files}`){instead}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_raised_to_the_need_and_never_beyond_the_hard_one() {
        let limit = |current, maximum| Rlimit { current, maximum };
        let needs = |open_files| SystemNeeds { clients: 40, open_files, ..SystemNeeds::default() };
        let allow = |files, now: &Rlimit| allow(&needs(files), now);
        assert_eq!(allow(64, &limit(Some(64), Some(64))), Ok(None));
        assert_eq!(allow(1 << 30, &limit(None, None)), Ok(None));
        let raised = allow(100, &limit(Some(64), Some(4096))).unwrap().unwrap();
        assert_eq!((raised.current, raised.maximum), (Some(100), Some(4096)));
        let raised = allow(100, &limit(Some(64), None)).unwrap().unwrap();
        assert_eq!((raised.current, raised.maximum), (Some(100), None));
        let text = allow(100, &limit(Some(32), Some(64))).unwrap_err().to_string();
        assert!(text.contains("100 open files") && text.contains("`ulimit -Hn`) is 64"), "{text}");
        assert!(text.contains("`ulimit -n 100`") && text.ends_with("fewer clients"), "{text}");
        let text = allow(256, &limit(Some(64), Some(64))).unwrap_err().to_string();
        assert!(text.ends_with("nofile=256`)"), "not by clients: {text}");
    }
}
