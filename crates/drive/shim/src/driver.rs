//! The driver of one engine build behind its shim.

use std::path::{Path, PathBuf};
use std::{fs, io};

use engine::settings_check::{check_dir, check_settings};
use engine::{Driver, Engine, EngineError, OpenSpec};
use model::{Capabilities, Identity};
use sha2::{Digest, Sha256};

use crate::binding::Binding;
use crate::ffi::Api;
use crate::file_name;
use crate::instance::ShimEngine;

/// Name under which the shim reports the version; others are facts.
const VERSION: &str = "version";

/// Loads the engine's library at `path` through its shim.
///
/// A process takes one library: the first one stays loaded until the process ends.
///
/// # Errors
/// When the library or its shim is absent or cannot be loaded, when the shim lacks a function or
/// has another version of the interface, or when the process holds another library.
pub fn open_library(
    path: &Path,
    binding: &'static Binding,
) -> Result<Box<dyn Driver>, EngineError> {
    Ok(Box::new(ShimDriver::load(path, binding)?))
}

/// One build of an engine behind its shim.
struct ShimDriver {
    api: &'static Api,
    binding: &'static Binding,
    identity: Identity,
    capabilities: Capabilities,
}

impl ShimDriver {
    /// Loads the shim next to the engine's library.
    fn load(path: &Path, binding: &'static Binding) -> Result<Self, EngineError> {
        let (engine, library) = (binding.engine, resolved(path)?);
        let shim = library.with_file_name(file_name(engine));
        if !shim.exists() {
            return Err(EngineError::build(format!(
                "`{}` has no shim next to it: `assay engine add {engine} PATH --headers DIR` \
                 compiles one against the library's headers",
                library.display()
            )));
        }
        let api = Api::load(&shim)?;
        let mut identity = Identity {
            engine: engine.to_owned(),
            origin: library.display().to_string(),
            sha256: Some(digest(&library).map_err(unreadable(&library))?),
            ..Identity::default()
        };
        for (name, text) in api.identity() {
            if name == VERSION {
                identity.version = text;
            } else {
                identity.facts.insert(name, text);
            }
        }
        if identity.version.is_empty() {
            let text = format!("the shim `{}` reports no version of {engine}", shim.display());
            return Err(EngineError::build(text));
        }
        identity.facts.insert("shim_sha256".to_owned(), api.sha256().to_owned());
        let capabilities = (binding.capabilities)(&identity);
        Ok(Self { api, binding, identity, capabilities })
    }
}

impl Driver for ShimDriver {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        check_dir(&spec.dir)?;
        check_settings(self.binding.engine, &self.capabilities, &spec.settings)?;
        let opened = (self.binding.translate)(spec, &self.identity)
            .and_then(|options| self.api.open(&spec.dir, &options));
        let handle =
            opened.map_err(|error| error.of_setting(&spec.options, self.binding.settings))?;
        let own_files = self.binding.own_files.iter().map(|name| spec.dir.join(name)).collect();
        Ok(Box::new(ShimEngine { handle, identity: self.identity.clone(), own_files }))
    }
}

/// Resolves links: the shim is next to the real file.
fn resolved(path: &Path) -> Result<PathBuf, EngineError> {
    path.canonicalize().map_err(unreadable(path))
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> EngineError {
    move |error| EngineError::Fatal(format!("`{}`: {error}", path.display()))
}

/// Returns a file's SHA-256, in hex.
fn digest(path: &Path) -> io::Result<String> {
    Ok(Sha256::digest(&fs::read(path)?).iter().map(|byte| format!("{byte:02x}")).collect())
}
