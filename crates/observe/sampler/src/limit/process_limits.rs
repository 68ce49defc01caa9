//! Limits of `ulimit` on sizes and CPU time of a process; raised as far as the hard limits allow.

use std::path::Path;

use model::{Bytes, Nanos, SystemNeeds};
use rustix::process::Resource;

use super::define::raise;
use super::{Limit, Shortage};

pub(crate) static LIMIT: Limit = Limit { name: "process_limits", check };

/// Stack of a thread that each process can have. Our choice: that of Rust's threads.
const STACK_BYTES: u64 = 2 << 20;

/// A limit of this process that its children inherit.
#[derive(Debug)]
struct ProcessLimit {
    resource: Resource,
    /// Its letter in `ulimit`.
    letter: char,
    /// What a process needs, before the amount.
    subject: &'static str,
    need: fn(&SystemNeeds) -> u64,
    /// Returns the amount as text.
    text: fn(u64) -> String,
    /// What the user may do without the limit being raised.
    instead: fn(&SystemNeeds) -> &'static str,
}

/// Each limit. Source: getrlimit(2).
static PROCESS_LIMITS: [ProcessLimit; 5] = [
    ProcessLimit {
        resource: Resource::Fsize,
        letter: 'f',
        subject: "a file of",
        need: |needs| needs.file_bytes,
        text: bytes,
        instead: |_| "use fewer rows",
    },
    ProcessLimit {
        resource: Resource::As,
        letter: 'v',
        subject: "an address space of",
        need: |needs| needs.address_bytes.amount,
        text: bytes,
        instead: |needs| needs.address_bytes.instead,
    },
    ProcessLimit {
        resource: Resource::Data,
        letter: 'd',
        subject: "private memory of",
        need: |needs| needs.data_bytes,
        text: bytes,
        instead: |_| SMALLER,
    },
    ProcessLimit {
        resource: Resource::Stack,
        letter: 's',
        subject: "a stack of",
        need: |needs| if needs.threads > 0 { STACK_BYTES } else { 0 },
        text: bytes,
        instead: |_| "",
    },
    ProcessLimit {
        resource: Resource::Cpu,
        letter: 't',
        subject: "CPU time of",
        need: |needs| needs.cpu_seconds,
        text: |seconds| Nanos::from_secs(seconds).to_string(),
        instead: |_| "use shorter steps",
    },
];

/// What the user may do where memory does not suffice.
pub(super) const SMALLER: &str = "use a smaller cache or fewer clients";

fn bytes(amount: u64) -> String {
    Bytes(amount).to_string()
}

fn check(needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    PROCESS_LIMITS.iter().try_for_each(|limit| {
        let need = (limit.need)(needs);
        raise(limit.resource, need).map_err(|allowed| limit.shortage(needs, allowed))
    })
}

impl ProcessLimit {
    fn shortage(&self, needs: &SystemNeeds, allowed: u64) -> Shortage {
        let Self { letter, subject, text, .. } = self;
        let instead = match (self.instead)(needs) {
            "" => String::new(),
            instead => format!(", or {instead}"),
        };
        Shortage {
            limit: LIMIT.name,
            reason: format!(
                "a process of the run may need {subject} {}, and its hard limit (`ulimit \
                 -H{letter}`) is {}",
                text((self.need)(needs)),
                text(allowed)
            ),
            remedy: format!(
                "raise it where the shell that runs assay gets it (`ulimit -{letter} \
                 unlimited`){instead}"
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
            let limit = PROCESS_LIMITS.iter().find(|limit| limit.letter == letter).unwrap();
            limit.shortage(&needs, allowed).to_string()
        };
        assert_eq!(
            text('f', 1 << 20),
            "a process of the run may need a file of 1.00 GiB, and its hard limit (`ulimit -Hf`) \
             is 1.00 MiB: raise it where the shell that runs assay gets it (`ulimit -f \
             unlimited`), or use fewer rows"
        );
        assert!(
            text('t', 9).contains("CPU time of 1m30s, and its hard limit (`ulimit -Ht`) is 9.")
        );
        assert!(text('s', 1 << 20).ends_with("(`ulimit -s unlimited`)"));
    }
}
