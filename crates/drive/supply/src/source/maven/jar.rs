//! Extracts this machine's native library from a Java artifact.

use std::fs::File;
use std::io;
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::SupplyError;

/// Start of a native library's name inside the jar.
pub(super) const MEMBER_PREFIX: &str = "librocksdbjni-";

/// Result of an extraction.
pub(super) enum Extracted {
    /// The library was written.
    Done,
    /// The library is absent; these native libraries were found.
    Absent(Vec<String>),
}

/// Writes the jar's member `wanted` to `library`.
pub(super) fn extract(jar: &Path, wanted: &str, library: &Path) -> Result<Extracted, SupplyError> {
    let broken = |error: ZipError| SupplyError::io("unpack", jar)(io::Error::other(error));
    let file = File::open(jar).map_err(SupplyError::io("read", jar))?;
    let mut archive = ZipArchive::new(file).map_err(broken)?;
    let Some(index) = archive.index_for_name(wanted) else {
        return Ok(Extracted::Absent(natives(&archive)));
    };
    let mut member = archive.by_index(index).map_err(broken)?;
    let mut out = File::create(library).map_err(SupplyError::io("write", library))?;
    io::copy(&mut member, &mut out).map_err(SupplyError::io("unpack", jar))?;
    Ok(Extracted::Done)
}

/// Returns the names of the native libraries in a jar, in order.
fn natives(archive: &ZipArchive<File>) -> Vec<String> {
    let mut names: Vec<String> = archive
        .file_names()
        .filter_map(|name| {
            let name = name.ok()?;
            let native = name.strip_prefix(MEMBER_PREFIX)?;
            Some(native.rsplit_once('.').map_or(native, |(stem, _)| stem).to_owned())
        })
        .collect();
    names.sort_unstable();
    names
}
