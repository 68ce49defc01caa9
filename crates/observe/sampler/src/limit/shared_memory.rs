//! Named shared memory, `/dev/shm`: 64 MiB in most containers.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use model::{Bytes, SystemNeeds};
use rustix::fs::StatVfsMountFlags;

use super::{Limit, Shortage, check_inodes};

pub(crate) static LIMIT: Limit = Limit { name: "shared_memory", check };

/// Where named shared memory lies. Source: shm_overview(7).
const DIR: &str = "/dev/shm";
/// Segments of a server there. Our choice: Postgres makes 2 at its start.
const FILES: u64 = 8;

fn check(needs: &SystemNeeds, _data: &Path) -> Result<(), Shortage> {
    let needed = needs.shared_memory;
    if needed.amount == 0 {
        return Ok(());
    }
    let account = needs.account.map_or(rustix::process::geteuid().as_raw(), |it| it.uid);
    // Where it is not mounted, it is a directory of `/dev`, which is closed to other accounts.
    let is_open = std::fs::metadata(DIR).is_ok_and(|it| it.uid() == account || is_open(it.mode()));
    let free = match rustix::fs::statvfs(DIR) {
        Ok(found) if is_open && !found.f_flag.contains(StatVfsMountFlags::RDONLY) => {
            Some(found.f_bavail.saturating_mul(found.f_frsize))
        }
        Ok(_) | Err(_) => None,
    };
    allow(Bytes(needed.amount), needed.instead, free.map(Bytes))?;
    check_inodes(Path::new(DIR), FILES).map_err(|error| Shortage {
        limit: LIMIT.name,
        reason: error.to_string(),
        remedy: format!("allow more (`mount -o remount,nr_inodes=0 {DIR}`)"),
    })
}

/// Returns whether every account can make files in a directory of this mode. Source: inode(7).
const fn is_open(mode: u32) -> bool {
    mode & 0o003 == 0o003
}

fn allow(needed: Bytes, instead: &str, free: Option<Bytes>) -> Result<(), Shortage> {
    if free.is_some_and(|free| free >= needed) {
        return Ok(());
    }
    // In whole MiB, as programs take it.
    let mib = needed.0.div_ceil(1 << 20);
    let (has, mount) = match free {
        Some(free) => {
            (format!("has {free} free"), format!("enlarge {DIR} (`mount -o remount,size={mib}m"))
        }
        None => (
            "is absent, read-only or not writable for the server's account".to_owned(),
            format!("mount memory (`mount -t tmpfs -o size={mib}m tmpfs"),
        ),
    };
    Err(Shortage {
        limit: LIMIT.name,
        reason: format!("the server may need {needed} of shared memory, but {DIR} {has}"),
        remedy: format!(
            "{mount} {DIR}`, `docker run --shm-size={mib}m`, in Kubernetes an emptyDir of medium \
             Memory there), or {instead}"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_shared_memory_is_refused_with_the_figures() {
        let needed = Bytes(8 << 20);
        assert_eq!(allow(needed, "", Some(needed)), Ok(()));
        let text = allow(needed, "set x", Some(Bytes(2 << 20))).unwrap_err().to_string();
        assert!(text.contains("8.00 MiB of shared memory, but /dev/shm has 2.00 MiB"), "{text}");
        assert!(text.contains("--shm-size=8m") && text.ends_with("or set x"), "{text}");
        assert!(is_open(0o41777) && !is_open(0o40755) && !is_open(0o40776));
        let text = allow(needed, "", None).unwrap_err().to_string();
        assert!(
            text.contains(
                "/dev/shm is absent, read-only or not writable for the server's account: mount \
                 memory (`mount -t t"
            ),
            "{text}"
        );
    }
}
