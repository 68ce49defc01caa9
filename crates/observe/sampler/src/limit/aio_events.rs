//! Events of the kernel's asynchronous I/O, which all processes of the host share.

use std::path::Path;

use model::SystemNeeds;

use super::{Limit, Quota, Shortage};
use crate::kernel_file::read;

pub(crate) static LIMIT: Limit = Limit { name: "aio_events", check };

/// The kernel's setting. Source: Linux, Documentation/admin-guide/sysctl/fs.rst.
const MAX: &str = "/proc/sys/fs/aio-max-nr";
/// Events that contexts of processes have set aside.
const USED: &str = "/proc/sys/fs/aio-nr";

/// Returns the limit on events; `None` for a kernel without asynchronous I/O.
///
/// `read` returns the text of a file of `/proc`.
pub fn aio_events(read: impl Fn(&str) -> Option<String>) -> Option<Quota> {
    let number = |path| read(path)?.trim().parse().ok();
    let (limit, used) = (number(MAX)?, number(USED)?);
    Some(Quota { source: "fs.aio-max-nr".to_owned(), unit: "events", limit, used })
}

fn check(needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    let needed = needs.aio_events;
    let quota = aio_events(|path: &str| read(path));
    quota.map_or(Ok(()), |quota| allow(needed.amount, needed.instead, &quota))
}

fn allow(events: u64, instead: &str, quota: &Quota) -> Result<(), Shortage> {
    if events <= quota.free() {
        return Ok(());
    }
    let Quota { source, limit, used, .. } = quota;
    Err(Shortage {
        limit: LIMIT.name,
        reason: format!(
            "the server needs {events} events of asynchronous I/O, but {source} is {limit}, and \
             {used} events are in use on this host"
        ),
        remedy: format!(
            "raise the limit on the host (`sudo sysctl -w {source}={}`), or {instead}",
            used + events
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_events_is_refused_with_the_figures() {
        let files = |path: &str| Some(if path == MAX { "65536\n" } else { "64000\n" }.to_owned());
        let quota = aio_events(files).unwrap();
        assert_eq!(allow(1536, "", &quota), Ok(()));
        let text = allow(2561, "set `innodb_use_native_aio = OFF`", &quota).unwrap_err();
        let text = text.to_string();
        assert!(
            text.contains("needs 2561 events") && text.contains("is 65536, and 64000"),
            "{text}"
        );
        assert!(text.contains("`sudo sysctl -w fs.aio-max-nr=66561`), or set `innodb_"), "{text}");
        assert_eq!(aio_events(|_| None), None);
    }
}
