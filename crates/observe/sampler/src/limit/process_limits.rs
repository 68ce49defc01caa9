//! Limits of `ulimit` on sizes and CPU time of a process; raised as far as the hard limits allow.

use std::path::Path;

use model::{Bytes, Nanos, Need, SystemNeeds};
use rustix::process::Resource;

use super::define::{raise, raise_command};
use super::{Limit, Shortage};

pub(crate) static LIMIT: Limit = Limit { name: "process_limits", check };

/// Stack of a thread that each process can have. Our choice: that of Rust's threads.
const STACK_BYTES: u64 = 2 << 20;

/// What the user may do where memory does not suffice.
pub(super) const SMALLER: &str = "use a smaller cache or fewer clients";

/// Size of the largest file next to the rows: logs that are written before them. Our choice.
pub const LOG_BYTES: u64 = 256 << 20;

/// A limit of this process that its children inherit, and what they need.
#[derive(Debug)]
struct ProcessLimit {
    resource: Resource,
    /// Its letter in `ulimit` and `prlimit`.
    letter: char,
    /// What a process needs, before the amount.
    subject: &'static str,
    need: Need,
}

/// Returns each limit. Source: getrlimit(2).
fn limits(needs: &SystemNeeds) -> [ProcessLimit; 5] {
    let limit = |resource, letter, subject, amount, instead| ProcessLimit {
        resource,
        letter,
        subject,
        need: Need { amount, instead },
    };
    let stack = if needs.threads > 0 { STACK_BYTES } else { 0 };
    let Need { amount, instead } = needs.address_bytes;
    [
        limit(Resource::Fsize, 'f', "a file of", needs.file_bytes, "use fewer rows"),
        limit(Resource::As, 'v', "an address space of", amount, instead),
        limit(Resource::Data, 'd', "private memory of", needs.data_bytes, SMALLER),
        limit(Resource::Stack, 's', "a stack of", stack, ""),
        limit(Resource::Cpu, 't', "CPU time of", needs.cpu_seconds, "use shorter steps"),
    ]
}

fn check(needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    limits(needs).iter().try_for_each(|limit| {
        raise(limit.resource, limit.need.amount).map_err(|allowed| limit.shortage(allowed))
    })
}

impl ProcessLimit {
    fn shortage(&self, allowed: u64) -> Shortage {
        let Self { letter, subject, need, .. } = self;
        let text = |amount: u64| match letter {
            't' => Nanos::from_secs(amount).to_string(),
            _ => Bytes(amount).to_string(),
        };
        Shortage {
            limit: LIMIT.name,
            reason: format!(
                "a process of the run may need {subject} {}, and its hard limit (`ulimit \
                 -H{letter}`) is {}",
                text(need.amount),
                text(allowed)
            ),
            remedy: format!(
                "raise the limit ({}){}",
                raise_command(*letter, "unlimited"),
                if *letter == 'f' && allowed < LOG_BYTES {
                    String::new()
                } else {
                    need.or_instead()
                }
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_names_the_need_the_limit_and_the_remedy() {
        let needs = SystemNeeds {
            threads: 1,
            file_bytes: 1 << 30,
            cpu_seconds: 90,
            ..SystemNeeds::default()
        };
        let text = |letter, allowed| {
            let limits = limits(&needs);
            let limit = limits.iter().find(|limit| limit.letter == letter).unwrap();
            limit.shortage(allowed).to_string()
        };
        assert_eq!(
            text('f', 512 << 20),
            "a process of the run may need a file of 1.00 GiB, and its hard limit (`ulimit -Hf`) \
             is 512 MiB: raise the limit (needs CAP_SYS_RESOURCE: `sudo prlimit --pid $$ \
             -f=unlimited`), or use fewer rows"
        );
        assert!(text('f', 1 << 20).ends_with("-f=unlimited`)"), "no rows would fit");
        assert!(
            text('t', 9).contains("CPU time of 1m30s, and its hard limit (`ulimit -Ht`) is 9.")
        );
        assert!(text('s', 1 << 20).ends_with("-s=unlimited`)"));
    }
}
