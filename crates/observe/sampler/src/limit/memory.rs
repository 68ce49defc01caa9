//! Memory of the control group of this process, and of those that enclose it.

use std::path::Path;

use model::{Bytes, SystemNeeds};

use super::process_limits::SMALLER;
use super::{Limit, Shortage};
use crate::control_group::CgroupDir;
use crate::memory_limit::{GroupLimit, tightest_limit};

pub(crate) static LIMIT: Limit = Limit { name: "memory", check };

fn check(needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    let needed = needs.memory.amount;
    let group = CgroupDir::of_process(std::process::id()).filter(|_| needed > 0);
    match group.and_then(|group| tightest_limit(&group.dir)) {
        Some(limit) if needed > limit.bytes.0 => Err(shortage(needs, &limit)),
        Some(_) | None => Ok(()),
    }
}

fn shortage(needs: &SystemNeeds, GroupLimit { bytes, dir }: &GroupLimit) -> Shortage {
    let needed = Bytes(needs.memory.amount);
    let mib = needed.0.div_ceil(1 << 20);
    Shortage {
        limit: LIMIT.name,
        reason: format!(
            "the server and its client may need {needed} of memory, and the control group {} \
             allows {bytes}",
            dir.display()
        ),
        remedy: format!(
            "raise its limit (where the container is started, `docker run \
             --memory={mib}m`), {SMALLER}{}",
            needs.memory.or_instead()
        ),
    }
}

#[cfg(test)]
mod tests {
    use model::Need;

    use super::*;

    #[test]
    fn a_server_without_memory_is_refused_with_the_figures() {
        let memory = Need { amount: 420 << 20, instead: "set x" };
        let needs = SystemNeeds { memory, ..SystemNeeds::default() };
        let limit = GroupLimit { bytes: Bytes(300 << 20), dir: "/g".into() };
        let text = shortage(&needs, &limit).to_string();
        assert_eq!(
            text,
            "the server and its client may need 420 MiB of memory, and the control group /g allows \
             300 MiB: raise its limit (where the container is started, `docker run \
             --memory=420m`), use a smaller cache or fewer clients, or set x"
        );
    }
}
