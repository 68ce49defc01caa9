//! The driver of one engine build behind its shim.

use std::collections::BTreeMap;
use std::path::Path;

use dynlib::{ImageFile, unreadable};
use engine::settings_check::{check_dir, check_settings, refused};
use engine::{Driver, Engine, EngineError, OpenSpec, Result, Setting, VALUE_CHANGES};
use model::capability::{APPENDS, Feature, PARTIAL_UPDATES};
use model::{Capabilities, Identity, Options};

use crate::ffi::Api;
use crate::file_name;
use crate::instance::ShimEngine;

/// Description of an engine behind a shim.
///
/// Both functions get the build's identity: a shim reports differences between builds as facts
/// (`value_bytes_max`).
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Returns the build's capabilities, or what is wrong with the reported facts.
    pub capabilities: fn(&Identity) -> Result<Capabilities>,
    /// Translates a spec into the options that the shim receives.
    ///
    /// Settings are checked against `capabilities` before; options must be checked here.
    pub translate: fn(&OpenSpec, &Identity) -> Result<Options>,
    /// Settings and the options that `translate` makes of them.
    pub settings: &'static [(Setting, &'static str)],
    /// Files in the data directory to archive: logs, configuration.
    pub own_files: &'static [&'static str],
}

/// Loads the library of `engine` at `path` through its shim.
///
/// A process takes one library: the first one stays loaded until the process ends.
///
/// # Errors
/// When the library or its shim is absent or cannot be loaded, when the shim lacks a function or
/// has another version of the interface, or when the process holds another library.
pub fn open_library(
    path: &Path,
    engine: &str,
    binding: &'static Binding,
) -> Result<Box<dyn Driver>> {
    // The shim is next to the real file.
    let library = path.canonicalize().map_err(unreadable(path))?;
    let shim = library.with_file_name(file_name(engine));
    if !shim.exists() {
        return Err(EngineError::build(format!(
            "`{}` has no shim next to it: `assay engine add {engine} PATH --headers DIR` compiles \
             one against the library's headers",
            library.display()
        )));
    }
    let file = ImageFile::read(library.clone())?;
    let api = Api::load(&shim).map_err(explain)?;
    file.check_unchanged()?;
    let mut identity = identify(api, engine, &library)?;
    identity.facts.insert("shim_sha256".to_owned(), api.loaded.sha256.clone());
    identity.sha256 = Some(file.sha256());
    driver(api, binding, identity)
}

/// Adds a shim's most likely cause to the loader's error.
fn explain(error: EngineError) -> EngineError {
    let EngineError::Fatal(text) = error else { return error };
    if text.contains("undefined symbol") {
        return EngineError::build(format!(
            "{text}: the shim was compiled against headers of another build than its library"
        ));
    }
    EngineError::Fatal(text)
}

/// Returns the identity that the loaded build reports.
pub(crate) fn identify(api: &Api, engine: &str, library: &Path) -> Result<Identity> {
    let mut facts: BTreeMap<String, String> = api.identity().into_iter().collect();
    let Some(version) = facts.remove("version").filter(|version| !version.is_empty()) else {
        return Err(EngineError::build(format!(
            "`{}` reports no version of {engine}: `assay_identity` must report one",
            api.loaded.path.display()
        )));
    };
    Ok(Identity {
        engine: engine.to_owned(),
        version,
        origin: library.display().to_string(),
        sha256: Some(api.loaded.sha256.clone()),
        facts,
    })
}

/// Returns the driver of an identified build.
pub(crate) fn driver(
    api: &'static Api,
    binding: &'static Binding,
    identity: Identity,
) -> Result<Box<dyn Driver>> {
    let mut capabilities = (binding.capabilities)(&identity)?;
    if api.functions.modify.is_some() {
        let changes = [PARTIAL_UPDATES, APPENDS].map(|name| (name.to_owned(), Feature::Yes));
        capabilities.features.extend(changes);
    }
    Ok(Box::new(ShimDriver { api, binding, identity, capabilities }))
}

/// One build of an engine behind its shim.
struct ShimDriver {
    api: &'static Api,
    binding: &'static Binding,
    identity: Identity,
    capabilities: Capabilities,
}

impl Driver for ShimDriver {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        check_dir(&spec.dir)?;
        check_settings(&self.identity.engine, &self.capabilities, &spec.settings)?;
        let opened = (self.binding.translate)(spec, &self.identity).and_then(|mut options| {
            let is_modifying = take_value_changes(self.api, &mut options)?;
            Ok((self.api.open(&spec.dir, &options)?, is_modifying))
        });
        let of_setting =
            |error: EngineError| error.of_setting(&spec.options, self.binding.settings);
        let (handle, is_modifying) = opened.map_err(of_setting)?;
        let own_files = self.binding.own_files.iter().map(|name| spec.dir.join(name)).collect();
        let identity = self.identity.clone();
        Ok(Box::new(ShimEngine { handle, identity, own_files, is_modifying }))
    }
}

/// Takes [`VALUE_CHANGES`] out of the options; returns whether the shim changes parts of values.
fn take_value_changes(api: &Api, options: &mut Options) -> Result<bool> {
    let can = api.functions.modify.is_some();
    let is_modifying = match options.get(VALUE_CHANGES) {
        None => return Ok(can),
        Some("modify") if can => true,
        Some("modify") => {
            let reason = "its library has no function `assay_modify`";
            return Err(EngineError::capability(VALUE_CHANGES, reason));
        }
        Some("read-modify-write") => false,
        Some(_) => return Err(refused(VALUE_CHANGES, "write modify or read-modify-write")),
    };
    *options = options.iter().filter(|(name, _)| *name != VALUE_CHANGES).collect();
    Ok(is_modifying)
}
