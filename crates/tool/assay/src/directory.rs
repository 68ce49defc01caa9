//! Checks of the directories that a user names, before anything is done.

use std::path::Path;

use miette::{Report, Result, miette};

/// Directories of the kernel: their files are devices and state, and store nothing.
const KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Shared memory, in which files are stored.
const SHARED_MEMORY: &str = "/dev/shm";

/// Checks that files can be stored in a directory that an option names; it may be absent.
///
/// # Errors
/// The directory, why it stores no files, and the option that names another one.
pub(crate) fn check_dir(option: &str, path: &Path) -> Result<()> {
    let real = sampler::nearest_existing(path);
    if !real.exists() {
        return Ok(());
    }
    let reason = if !real.is_dir() {
        format!("{} is not a directory", real.display())
    } else if let Some(kernel) = KERNEL.iter().find(|kernel| real.starts_with(kernel))
        && !real.starts_with(SHARED_MEMORY)
    {
        format!("{kernel} belongs to the kernel, which stores no files there")
    } else {
        return Ok(());
    };
    Err(refusal(option, path, &reason))
}

/// Checks that a directory that an option names is there.
///
/// # Errors
/// The path, and the option that names another directory.
pub(crate) fn check_existing_dir(option: &str, path: &Path) -> Result<()> {
    match path.is_dir() {
        true => Ok(()),
        false => Err(refusal(option, path, "the directory does not exist")),
    }
}

/// Returns the error of a directory that cannot be used.
fn refusal(option: &str, path: &Path, reason: &str) -> Report {
    let help = format!("name another directory with {option}");
    miette!(help = help, "cannot use {}: {reason}", path.display())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn refused(path: &Path) -> Option<String> {
        let report = check_dir("--here", path).err()?;
        Some(format!("{report}; {}", report.help().expect("a remedy")))
    }

    #[test]
    fn only_a_directory_for_files_is_used_and_the_option_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "").expect("a file");
        symlink("/proc", at("kernel")).expect("a link");
        symlink("/proc/absent", at("dangling")).expect("a link");
        for (path, reason) in [
            (at("file"), "file is not a directory"),
            (at("file/below/it"), "file is not a directory"),
            ("/proc".into(), "/proc belongs to the kernel"),
            ("/proc/absent/too".into(), "/proc belongs to the kernel"),
            ("/sys/x".into(), "/sys belongs to the kernel"),
            ("/dev/x".into(), "/dev belongs to the kernel"),
            ("/dev/null".into(), "/dev/null is not a directory"),
            ("/usr/../proc/x".into(), "/proc belongs to the kernel"),
            (at("kernel/x"), "/proc belongs to the kernel"),
            (at("dangling"), "/proc belongs to the kernel"),
        ] {
            let text = refused(&path).expect("it stores no files");
            assert!(text.contains(reason), "{text}");
            assert!(text.contains(&format!("cannot use {}: ", path.display())), "{text}");
            assert!(text.ends_with("name another directory with --here"), "{text}");
        }
        let absent = check_existing_dir("--here", &at("absent")).expect_err("it is not there");
        assert!(absent.to_string().ends_with("absent: the directory does not exist"), "{absent}");
        for path in [dir.path(), &at("absent/too"), Path::new("."), Path::new("/dev/shm/x")] {
            assert_eq!(refused(path), None, "{}", path.display());
        }
    }
}
