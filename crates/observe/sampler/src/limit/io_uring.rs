//! Whether the kernel lets processes use `io_uring`.

use std::path::Path;

use model::SystemNeeds;

use super::{Limit, Shortage};
use crate::kernel_file::read;

pub(crate) static LIMIT: Limit = Limit { name: "io_uring", check };

/// Returns why the kernel refuses `io_uring`, as far as its settings state it.
///
/// A seccomp profile states nothing: what a server reports at its start decides then. `read`
/// returns the text of a file of `/proc`.
///
/// Source: Linux, Documentation/admin-guide/sysctl/kernel.rst, `io_uring_disabled`.
pub fn io_uring_refusal(read: impl Fn(&str) -> Option<String>) -> Option<String> {
    match read("/proc/sys/kernel/io_uring_disabled").as_deref().map(str::trim) {
        Some("1") => Some("kernel.io_uring_disabled is 1: it needs CAP_SYS_ADMIN or the group kernel.io_uring_group".into()),
        Some("2") => Some("kernel.io_uring_disabled is 2: no process may use it".into()),
        Some(_) | None => None,
    }
}

fn check(needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    let needed = needs.io_uring;
    match io_uring_refusal(|path: &str| read(path)).filter(|_| needed.amount > 0) {
        None => Ok(()),
        Some(reason) => Err(Shortage {
            limit: LIMIT.name,
            reason: format!("an option of the server needs io_uring, but {reason}"),
            remedy: format!(
                "allow io_uring on the host (`sudo sysctl -w kernel.io_uring_disabled=0`), or {}",
                needed.instead
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_setting_decides_who_may_use_io_uring() {
        let refusal = |text: &str| io_uring_refusal(|_| Some(text.to_owned()));
        assert_eq!((refusal("0\n"), io_uring_refusal(|_| None)), (None, None));
        assert!(refusal("1\n").unwrap().contains("is 1") && refusal("2").unwrap().contains("is 2"));
    }
}
