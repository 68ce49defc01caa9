//! The engine under test, its settings and limits.

use std::path::Path;

use model::{Capabilities, DataShape, Direction, Durability, OpKind, Options, Settings};
use tempfile::TempDir;

use super::client::Client;
use crate::memory::MemoryDriver;
use crate::traits::{Driver, Engine, OpenSpec, scans_in_reverse};

/// Longest key tried when the engine has no limit.
const KEY_BYTES_UNLIMITED: usize = 4 << 10;
/// Longest key tried; no benchmark reaches a limit beyond it.
const KEY_BYTES_CAP: usize = 64 << 10;

/// One driver with the settings and options under test.
pub(super) struct Subject<'a> {
    pub(super) driver: &'a dyn Driver,
    pub(super) capabilities: Capabilities,
    pub(super) settings: Settings,
    pub(super) options: &'a Options,
}

impl<'a> Subject<'a> {
    /// Returns the subject; the weakest class replaces `sync`, to save time.
    pub(super) fn new(driver: &'a dyn Driver, settings: &Settings, options: &'a Options) -> Self {
        let capabilities = driver.capabilities();
        let mut settings = settings.clone();
        let is_usable = settings.durability != Durability::Sync
            && capabilities.durability.contains(&settings.durability);
        if let (false, Some(weakest)) = (is_usable, capabilities.durability.first()) {
            settings.durability = *weakest;
        }
        Self { driver, capabilities, settings, options }
    }

    /// Returns whether the driver offers `kind`.
    pub(super) fn can(&self, kind: OpKind) -> bool {
        self.capabilities.operations.contains(&kind)
    }

    /// Returns the scan directions offered; none without range scans.
    pub(super) fn directions(&self) -> &'static [Direction] {
        match (self.can(OpKind::Scan), scans_in_reverse(&self.capabilities)) {
            (false, _) => &[],
            (true, false) => &[Direction::Forward],
            (true, true) => &[Direction::Forward, Direction::Reverse],
        }
    }

    /// Returns the number of operations: `fast`, or a 20th of it with syncs.
    pub(super) fn scaled(&self, fast: usize) -> usize {
        if self.settings.durability == Durability::Sync { fast / 20 } else { fast }
    }

    /// Returns the length of the longest key to try.
    pub(super) fn key_bytes_max(&self) -> usize {
        self.capabilities.key_bytes_max.map_or(KEY_BYTES_UNLIMITED, |most| {
            usize::try_from(most).unwrap_or(usize::MAX).min(KEY_BYTES_CAP)
        })
    }

    /// Returns the length of the longest value offered.
    pub(super) fn value_bytes_max(&self) -> usize {
        let most = self.capabilities.value_bytes_max;
        most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
    }

    /// Returns the spec that opens `dir`, for keys of every length that is tried.
    pub(super) fn spec(&self, dir: &Path) -> OpenSpec {
        let key_bytes = u32::try_from(self.key_bytes_max()).unwrap_or(u32::MAX);
        let data = DataShape { rows: 20_000, key_bytes, value_bytes: 1_000, compressible_to: 0.5 };
        let options = self.options.clone();
        OpenSpec { options, ..OpenSpec::embedded(dir.to_owned(), self.settings.clone(), data) }
    }

    /// Opens the engine in `dir`.
    pub(super) fn open(&self, dir: &Path) -> Result<Box<dyn Engine>, String> {
        self.driver.open(&self.spec(dir)).map_err(|error| format!("open failed: {error}"))
    }
}

/// Opens an engine in a fresh directory, calls `check` with it and a client, and closes it.
pub(super) fn with_client(
    subject: &Subject<'_>,
    check: impl FnOnce(&dyn Engine, &mut Client<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let dir = fresh_dir()?;
    let engine = subject.open(dir.path())?;
    check(&*engine, &mut Client::new(&*engine)?)?;
    close(engine)
}

/// Closes `engine`.
pub(super) fn close(engine: Box<dyn Engine>) -> Result<(), String> {
    engine.close().map_err(|error| format!("close failed: {error}"))
}

/// Returns a fresh directory, removed when dropped.
pub(super) fn fresh_dir() -> Result<TempDir, String> {
    tempfile::tempdir().map_err(|error| format!("no temporary directory: {error}"))
}

/// Opens the oracle in `dir`.
pub(super) fn open_oracle(dir: &Path) -> Result<Box<dyn Engine>, String> {
    let settings = Settings { durability: Durability::None, ..Settings::default() };
    let data = DataShape { rows: 0, key_bytes: 0, value_bytes: 0, compressible_to: 1.0 };
    let spec = OpenSpec::embedded(dir.to_owned(), settings, data);
    MemoryDriver.open(&spec).map_err(|error| format!("the oracle failed to open: {error}"))
}
