//! Memory of the control group of this process, and of those that enclose it.

use std::path::Path;

use model::{Bytes, SystemNeeds};

use super::process_limits::SMALLER;
use super::{Limit, Shortage};
use crate::memory_limit::{GroupLimit, least_memory};

pub(crate) static LIMIT: Limit = Limit { name: "memory", check };

fn check(needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    let limit = Some(needs.memory.amount).filter(|needed| *needed > 0).and_then(|_| least_memory());
    match limit {
        Some(limit) if needs.memory.amount > limit.free().0 => Err(shortage(needs, &limit)),
        Some(_) | None => Ok(()),
    }
}

fn shortage(needs: &SystemNeeds, limit: &GroupLimit) -> Shortage {
    let needed = Bytes(needs.memory.amount);
    let mib = (needed.0 + limit.bytes.0 - limit.free().0).div_ceil(1 << 20);
    Shortage {
        limit: LIMIT.name,
        reason: format!("the engine and its client may need {needed} of memory, and {limit}"),
        remedy: format!(
            "raise the limit of the group (start the container with `docker run \
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
    fn an_engine_without_memory_is_refused_with_the_figures() {
        let memory = Need { amount: 420 << 20, instead: "set x" };
        let needs = SystemNeeds { memory, ..SystemNeeds::default() };
        let mut limit = GroupLimit { bytes: Bytes(320 << 20), held: Bytes(0), dir: "/g".into() };
        let text = shortage(&needs, &limit).to_string();
        assert_eq!(
            text,
            "the engine and its client may need 420 MiB of memory, and the control group /g \
             allows 320 MiB: raise the limit of the group (start the container with `docker run \
             --memory=420m`), use a smaller cache or fewer clients, or set x"
        );
        limit.held = Bytes(40 << 20);
        let text = shortage(&needs, &limit).to_string();
        assert!(text.contains("allows 320 MiB, of which other processes hold 40.0 MiB: raise"));
        assert!(text.contains("--memory=460m"), "{text}");
    }
}
