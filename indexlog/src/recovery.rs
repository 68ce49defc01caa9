//! Opens a database: manifest, then log, then nothing that neither names.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::error::{Error, Result};
use crate::files::Directory;
use crate::manifest::{Edit, MANIFEST, Manifest};
use crate::options::Options;
use crate::shared::{Shared, View};
use crate::sync::lock;
use crate::version::{OpenFiles, Version};
use crate::wal;
use crate::write_cache::WriteCache;

/// Opens the database of a directory, or creates it.
pub(crate) fn open(
    options: Options,
    directory: Arc<Directory>,
    has_threads: bool,
) -> Result<Shared> {
    let mut all = Edit::default();
    Manifest::read(&directory)?.into_iter().for_each(|edit| all.absorb(edit));
    // A segment grows only in the process that created it: what follows its last commit is torn.
    all.segments.iter_mut().for_each(|segment| segment.is_sealed = true);
    let mut version = Version::default();
    version.apply(&all, OpenFiles::default(), &directory)?;
    version.next_file = version.next_file.max(first_free_file(&directory)?);
    remove_unnamed(&directory, &version)?;
    let recovered = WriteCache::default();
    let last = wal::replay(&directory, version.flushed, &recovered)?;
    let old_wals = wal::names(&directory)?;
    let manifest = Manifest::create(&directory, &version.as_edit())?;
    let shared = Shared::new(options, Arc::clone(&directory), version, manifest, has_threads);
    if !recovered.is_empty() {
        shared.change_view(|view| View {
            active: Arc::clone(&view.active),
            immutable: Some(Arc::new(recovered)),
            version: Arc::clone(&view.version),
        });
        shared.flush_immutable()?;
    }
    for name in old_wals {
        directory.files.remove(&name).map_err(Error::io(&name))?;
    }
    let mut writer = lock(&shared.writer);
    writer.next_seqno = last + 1;
    shared.visible.store(last, Ordering::Release);
    *lock(&shared.synced) = last;
    shared.begin_wal(&mut writer)?;
    drop(writer);
    Ok(shared)
}

/// Returns a number that no file's name has.
fn first_free_file(directory: &Directory) -> Result<u64> {
    let names = directory.files.list().map_err(Error::io("the data directory"))?;
    let numbers = names.iter().filter_map(|name| name.split('.').next()?.parse::<u64>().ok());
    Ok(numbers.max().unwrap_or(0) + 1)
}

/// Removes tables and segments that a crash left unfinished.
fn remove_unnamed(directory: &Directory, version: &Version) -> Result<()> {
    let tables = version.index.tables().chain(version.deletes.tables());
    let mut named: Vec<&str> = tables.map(|(_, table)| table.file.name.as_str()).collect();
    named.extend(version.segments.iter().map(|segment| segment.file.name.as_str()));
    for name in directory.files.list().map_err(Error::io("the data directory"))? {
        let is_ours = [".table", ".segment", ".new"].iter().any(|end| name.ends_with(end));
        if is_ours && name != MANIFEST && !named.contains(&name.as_str()) {
            directory.files.remove(&name).map_err(Error::io(&name))?;
        }
    }
    Ok(())
}
