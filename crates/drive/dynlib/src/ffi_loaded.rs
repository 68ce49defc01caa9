//! Loads the one engine library of a process.
#![expect(unsafe_code, reason = "a library's initialisers run when it is loaded")]

use std::error::Error;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use engine::{EngineError, Result};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use model::Identity;

use crate::file::{ImageFile, unreadable};
use crate::image::check_image;

/// A library loaded until the process ends.
#[derive(Debug)]
pub struct Loaded {
    /// The loader's handle.
    pub library: Library,
    /// The file, links followed.
    pub path: PathBuf,
    /// Its SHA-256, in hex.
    pub sha256: String,
}

/// The loaded library, once there is one.
///
/// Two RocksDB libraries in one process bind each other's C++ symbols in spite of `RTLD_LOCAL` and
/// abort, so a second library is rejected. The first is never unloaded: its threads and
/// thread-locals outlive any database.
static LOADED: Mutex<Option<&'static Loaded>> = Mutex::new(None);

/// Loads the library at `path`, or returns it when already loaded.
///
/// # Errors
/// When the file is not a complete shared library for this machine, the loader rejects it, or
/// another library is loaded.
pub fn load_once(path: &Path) -> Result<&'static Loaded> {
    let path = path.canonicalize().map_err(unreadable(path))?;
    let mut slot = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(first) = *slot {
        if first.path == path {
            return Ok(first);
        }
        return Err(EngineError::build(format!(
            "a second engine library in one process: `{}` is loaded, so `{}` needs a separate \
             process",
            first.path.display(),
            path.display()
        )));
    }
    let loaded: &'static Loaded = Box::leak(Box::new(load(path)?));
    *slot = Some(loaded);
    Ok(loaded)
}

fn load(path: PathBuf) -> Result<Loaded> {
    let file = ImageFile::read(path.clone())?;
    if cfg!(target_os = "linux") {
        check_image(&file.image, std::env::consts::ARCH)
            .map_err(|reason| EngineError::build(format!("`{}` {reason}", path.display())))?;
    }
    // SAFETY: the library's initialisers are those of an engine and its run-time libraries, made to
    // run when a program starts; no other engine's library is in the process (`LOADED`).
    let opened = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
    let library = opened.map_err(|error| {
        // The source is the loader's message, which names what is missing.
        let message = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        EngineError::Fatal(format!("the loader rejects `{}`: {message}", path.display()))
    })?;
    file.check_unchanged()?;
    Ok(Loaded { library, path, sha256: file.sha256() })
}

/// Returns the identity of an engine, which is linked unless its library is `loaded`.
pub fn identity(engine: &str, version: String, loaded: Option<&Loaded>) -> Identity {
    let identity = engine::linked(engine, &version);
    let Some(loaded) = loaded else { return identity };
    let origin = loaded.path.display().to_string();
    Identity { origin, sha256: Some(loaded.sha256.clone()), ..identity }
}

impl Loaded {
    /// Returns whether the library or one of its dependencies exports `symbol`.
    pub fn has(&self, symbol: &str) -> bool {
        // SAFETY: the address is compared with nothing and never called.
        unsafe { self.library.get::<*const c_void>(symbol) }.is_ok()
    }

    /// Returns the error for a library that lacks the function `symbol`.
    ///
    /// Without `marker`, which every build of `engine` exports, it is another library altogether;
    /// else its release is older than `oldest`.
    pub fn lacks(&self, symbol: &str, marker: &str, engine: &str, oldest: &str) -> EngineError {
        let path = self.path.display();
        EngineError::build(if symbol == marker {
            format!("`{path}` is not {engine}: it lacks `{symbol}`")
        } else {
            format!(
                "`{path}` is too old: it lacks `{symbol}`; {engine} {oldest} or newer is needed"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_a_library_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("script.so");
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        let error = load_once(&path).unwrap_err().to_string();
        assert!(error.contains("is not a shared library"), "{error}");
        let error = load_once(&dir.path().join("absent.so")).unwrap_err().to_string();
        assert!(error.contains("absent.so"), "{error}");
    }
}
