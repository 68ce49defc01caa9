//! Environment variables and directories, read in one place.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{Result, miette};
use model::{Bytes, DataPlace, Password};
use plan::Machine;
use trust::Account;

use crate::directory::check_dir;

/// File of the key that marks experiments of this account, in the cache: who can write there
/// replaces the builds, too.
const OWN_KEY: &str = "own.key";

/// Default directory of the archive.
const RESULTS: &str = "results";

/// Default directory of data.
const DATA: &str = "assay-data";

/// Heading of the options every command has.
const HEADING: &str = "Directories";

/// Directories of results, data and engine builds.
#[derive(Debug, Clone, Args)]
pub(crate) struct Places {
    /// Directory of the archive
    #[arg(long, global = true, help_heading = HEADING, default_value = RESULTS, value_name = "DIR")]
    pub(crate) results: PathBuf,
    /// Directory for the data of running engines [default: assay-data]
    #[arg(long, global = true, help_heading = HEADING, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Directory of fetched engine builds [default: ~/.cache/assay]
    #[arg(long, global = true, help_heading = HEADING, value_name = "DIR")]
    pub(crate) cache_dir: Option<PathBuf>,
}

impl Places {
    /// Returns the directories that the user names, with their options.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let results = Some(&self.results).filter(|dir| dir.as_path() != Path::new(RESULTS));
        let (data, cache) = (self.data_dir.as_ref(), self.cache_dir.as_ref());
        let dirs = [("--results", results), ("--data-dir", data), ("--cache-dir", cache)];
        dirs.into_iter().filter_map(|(option, dir)| Some((option, dir?.as_path())))
    }

    /// Checks the directories of the command.
    pub(crate) fn check(&self) -> Result<()> {
        check_dir("--results", &self.results)?;
        self.named().try_for_each(|(option, dir)| check_dir(option, dir))
    }
}

/// The environment, read once.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    pub(crate) results: PathBuf,
    pub(crate) data_dir: PathBuf,
    /// Whether the user named it.
    pub(crate) is_data_dir_named: bool,
    pub(crate) cache_dir: Option<PathBuf>,
    /// The cache, if the user named it.
    pub(crate) named_cache_dir: Option<PathBuf>,
    pub(crate) is_colour_disabled: bool,
    /// Account that server processes run under, if set.
    pub(crate) server_user: Option<String>,
    /// Accounts that root trusts: that one, and the one that called sudo.
    pub(crate) trusted: Vec<Account>,
    /// Command of the C compiler that makes shims.
    pub(crate) compiler: String,
    /// Search path of allocator libraries.
    pub(crate) allocators: malloc::Libraries,
    /// File of the key that marks experiments of this account.
    pub(crate) own_key: Option<PathBuf>,
    /// Files and directories that the loader reads because the user names them.
    pub(crate) loaded: Vec<PathBuf>,
    /// Variables that tune an allocator.
    pub(crate) tunables: malloc::Tunables,
    /// Passwords of running servers, by variant: those that another machine sent.
    pub(crate) passwords: BTreeMap<String, Password>,
}

impl Environment {
    /// Returns the data directory, or its nearest existing parent.
    pub(crate) fn nearest_dir(&self) -> PathBuf {
        sampler::nearest_existing(&self.data_dir)
    }

    /// Returns the environment with the default directory of data.
    pub(crate) fn with_default_data_dir(&self) -> Self {
        Self { data_dir: DATA.into(), is_data_dir_named: false, ..self.clone() }
    }

    /// Returns the machine's size.
    pub(crate) fn machine(&self) -> Machine {
        let host = sampler::host_facts(&self.nearest_dir());
        let memory_bytes = sampler::free_memory(host.memory_bytes);
        Machine { cpus: host.cpus, memory_bytes, free_bytes: self.disk_free() }
    }

    /// Returns the free disk space for data.
    pub(crate) fn disk_free(&self) -> Bytes {
        runner::free_space(&self.nearest_dir()).unwrap_or(Bytes(u64::MAX))
    }

    /// Returns where the data of an experiment, below `data`, and its results lie.
    ///
    /// `None` where the kernel reports no file system.
    pub(crate) fn data_place(&self, data: &Path) -> Option<DataPlace> {
        let nearest = sampler::nearest_existing(data);
        let results = sampler::nearest_existing(&self.results);
        let is_apart = device(&nearest)? != device(&results)?;
        Some(DataPlace {
            path: nearest.display().to_string(),
            filesystem: sampler::file_system(&nearest)?,
            is_named: self.is_data_dir_named,
            results_filesystem: sampler::file_system(&results).filter(|_| is_apart),
        })
    }

    /// Reads the environment.
    pub(crate) fn read(places: &Places) -> Self {
        let home = variable_os("HOME");
        let xdg = variable_os("XDG_CACHE_HOME");
        let cache_dir = supply::default_cache_dir(home.as_deref(), xdg.as_deref());
        let cache_dir = places.cache_dir.clone().or(cache_dir);
        let (library_path, preload) = (text("LD_LIBRARY_PATH"), text("LD_PRELOAD"));
        let named = [&library_path, &preload].into_iter().flatten();
        let named = named.flat_map(|text| text.split([':', ';', ' ']));
        let server_user = text("ASSAY_SERVER_USER").filter(|name| !name.is_empty());
        // Source: sudo(8), "ENVIRONMENT".
        let caller = text("SUDO_UID").and_then(|uid| Account::of_number(&uid));
        let account = server_user.as_ref().and_then(|name| Account::find(name));
        Self {
            results: places.results.clone(),
            data_dir: places.data_dir.clone().unwrap_or_else(|| DATA.into()),
            is_data_dir_named: places.data_dir.is_some(),
            own_key: cache_dir.as_ref().map(|dir| dir.join(OWN_KEY)),
            cache_dir,
            named_cache_dir: places.cache_dir.clone(),
            is_colour_disabled: text("NO_COLOR").is_some_and(|value| !value.is_empty()),
            trusted: account.into_iter().chain(caller).collect(),
            server_user,
            compiler: text("CC").filter(|cc| !cc.trim().is_empty()).unwrap_or("cc".to_owned()),
            loaded: named.filter(|path| !path.is_empty()).map(PathBuf::from).collect(),
            allocators: malloc::Libraries::of_loader(library_path.as_deref(), preload.as_deref()),
            tunables: tunables(),
            passwords: BTreeMap::new(),
        }
    }
}

/// Checks that there is an account of servers, if one is named.
pub(crate) fn check_account(name: Option<&str>) -> Result<()> {
    let Some(unknown) = name.filter(|name| Account::find(name).is_none()) else { return Ok(()) };
    let help = "name one account, such as ASSAY_SERVER_USER=1000, or unset the variable";
    Err(miette!(help = help, "ASSAY_SERVER_USER is `{unknown}`, and no account has this name"))
}

/// Returns the number of the file system that a path lies on.
pub(crate) fn device(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|facts| facts.dev())
}

/// Returns the password in a variable; it is never stored.
pub(crate) fn password(name: &str) -> Option<Password> {
    // Other text would be another password.
    variable_os(name)?.into_string().ok().map(Password)
}

/// Returns a variable as text: what is not UTF-8 names nothing, and errors show it.
fn text(name: &str) -> Option<String> {
    variable_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// Returns a variable as it is.
pub(crate) fn variable_os(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn tunables() -> malloc::Tunables {
    let texts = std::env::vars_os().filter_map(|(name, value)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    });
    texts.filter(|(name, _)| malloc::is_tunable(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_of_servers_that_does_not_exist_is_named() {
        for name in [None, Some("root"), Some("4200000")] {
            assert!(check_account(name).is_ok(), "{name:?}");
        }
        for name in ["no-such-user", "1000:1000"] {
            let text = check_account(Some(name)).expect_err("unknown").to_string();
            assert!(text.contains(&format!("ASSAY_SERVER_USER is `{name}`")), "{text}");
        }
    }
}
