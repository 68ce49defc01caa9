//! Target of results in one file.

use std::fs;
use std::io::Write as _;

use archive::Results;
use flate2::{Compression, GzBuilder};

/// First bytes of a compressed stream.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Imports a file; nothing is written but the archive that it is imported into.
///
/// Bytes that are not compressed are compressed first: changes then reach what is inside.
pub(crate) fn bundle(bytes: &[u8]) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let file = dir.path().join("result.assay");
    let content = if bytes.starts_with(&GZIP) { bytes.to_vec() } else { compressed(bytes) };
    fs::write(&file, content).expect("the scratch directory is writable");
    let archive = Results::at(&dir.path().join("archive"));
    if let Ok((experiment, _)) = archive.import(&file) {
        assert!(experiment.path().starts_with(dir.path().join("archive")), "outside the archive");
    }
    let entries = fs::read_dir(dir.path()).expect("the scratch directory is readable");
    assert!(entries.count() <= 2, "something was written next to the archive");
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut stream = GzBuilder::new().write(Vec::new(), Compression::best());
    let written = stream.write_all(bytes).and_then(|()| stream.finish());
    written.expect("memory is writable")
}
