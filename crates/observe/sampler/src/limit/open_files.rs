//! Open files of a process, `ulimit -n`; raised as far as the hard limit allows.

use std::path::Path;

use model::SystemNeeds;
use rustix::process::Resource;

use super::define::{raise, raise_command};
use super::{Limit, Shortage};

pub(crate) static LIMIT: Limit = Limit { name: "open_files", check };

fn check(needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    raise(Resource::Nofile, needs.open_files).map_err(|allowed| shortage(needs, allowed))
}

fn shortage(needs: &SystemNeeds, allowed: u64) -> Shortage {
    let files = needs.open_files;
    // Each client has a file or more.
    let is_by_clients = files.saturating_sub(allowed) < needs.clients.into();
    let instead = if is_by_clients { ", or use fewer clients" } else { "" };
    Shortage {
        limit: LIMIT.name,
        reason: format!(
            "a process of the run may need {files} open files, and its hard limit (`ulimit -Hn`) \
             is {allowed}"
        ),
        remedy: format!(
            "raise the limit ({}, `docker run --ulimit nofile={files}`){instead}",
            raise_command('n', files)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_clients_are_the_remedy_where_they_need_the_files() {
        let text = |open_files| {
            let needs = SystemNeeds { clients: 40, open_files, ..SystemNeeds::default() };
            shortage(&needs, 64).to_string()
        };
        let files = text(100);
        assert!(
            files.contains("100 open files") && files.contains("`ulimit -Hn`) is 64"),
            "{files}"
        );
        assert!(files.contains("-n=100`") && files.ends_with("fewer clients"), "{files}");
        assert!(text(256).ends_with("nofile=256`)"), "not by clients: {}", text(256));
    }
}
