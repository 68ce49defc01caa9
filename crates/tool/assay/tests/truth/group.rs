//! A control group with one limit.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers the groups of this process: tests run at once.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A control group with one limit, removed on drop.
pub(crate) struct Group(PathBuf);

impl Group {
    /// Creates a group with these file contents, in cgroup v1 or else v2.
    pub(crate) fn make(
        controller: &str,
        old: &[(&str, String)],
        new: &[(&str, String)],
    ) -> Result<Self, String> {
        let root = PathBuf::from("/sys/fs/cgroup");
        let is_old = root.join(controller).is_dir();
        let (parent, files) = if is_old { (root.join(controller), old) } else { (root, new) };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("assay-test-{controller}-{}-{number}", std::process::id());
        let dir = parent.join(name);
        let message = |what: &str, error: std::io::Error| format!("cannot {what}: {error}");
        fs::create_dir(&dir).map_err(|error| message(&format!("make {}", dir.display()), error))?;
        let group = Self(dir);
        for (file, content) in files {
            let path = group.0.join(file);
            let written = fs::write(&path, content);
            written.map_err(|error| message(&format!("write {}", path.display()), error))?;
        }
        Ok(group)
    }

    /// Returns the file that takes the number of a process into the group.
    pub(crate) fn processes(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its processes have ended; a group left behind is empty and harmless.
        drop(fs::remove_dir(&self.0));
    }
}
