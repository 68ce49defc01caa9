//! Third-party engines: libraries that export the C interface themselves.

use std::collections::BTreeSet;
use std::path::Path;

use dynlib::unreadable;
use engine::{Driver, EngineError, OpenSpec, REVERSE_SCANS, Result, Setting};
use model::capability::{
    CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
};
use model::{Capabilities, Durability, Identity, Options};

use crate::Binding;
use crate::driver::{driver, identify};
use crate::ffi::Api;

/// Fact: the durability classes offered.
const DURABILITY: &str = "durability";
/// Fact: the settings taken, each as the option `assay.NAME`.
const SETTINGS: &str = "settings";
/// Why a setting is refused.
const NOT_TAKEN: &str = "its library does not report that it supports the setting";

/// Settings that a library may take, and their options.
const OPTIONS: &[(Setting, &str)] = &[
    (Setting::Durability, "assay.durability"),
    (Setting::Cache, "assay.cache"),
    (Setting::DirectIo, "assay.direct_io"),
    (Setting::Compression, "assay.compression"),
    (Setting::BackgroundJobs, "assay.background_jobs"),
];

/// Any engine that reports its capabilities as facts.
static OWN: Binding = Binding { capabilities, translate, settings: OPTIONS, own_files: &[] };

/// Loads a library that exports the C interface, as the engine of that name.
///
/// A process takes one library: the first one stays loaded until the process ends.
///
/// # Errors
/// When the library cannot be loaded, lacks functions (all are named) or has another version of the
/// interface, when it reports wrong facts, or when the process holds another library.
pub fn open_own(path: &Path, engine: &str) -> Result<Box<dyn Driver>> {
    let library = path.canonicalize().map_err(unreadable(path))?;
    let api = Api::load(&library)?;
    driver(api, &OWN, identify(api, engine, &library)?)
}

/// Returns the names in a fact; none when it is not reported.
fn names_in<'a>(build: &'a Identity, fact: &str) -> impl Iterator<Item = &'a str> {
    build.facts.get(fact).map_or("", String::as_str).split_whitespace()
}

/// Returns the capabilities among the facts of a build.
fn capabilities(build: &Identity) -> Result<Capabilities> {
    let wrong = |fact: &str, reason: String| {
        EngineError::build(format!("{} reports a wrong `{fact}`: {reason}", build.engine))
    };
    let most = |fact: &str| {
        let most = build.facts.get(fact).map(|text| text.parse().map_err(|e| (text, e)));
        most.transpose().map_err(|(text, error)| wrong(fact, format!("`{text}`: {error}")))
    };
    let durability = names_in(build, DURABILITY).map(str::parse).collect();
    let mut durability: BTreeSet<_> =
        Result::map_err(durability, |reason| wrong(DURABILITY, reason))?;
    if durability.is_empty() {
        durability.insert(Durability::None);
    }
    let names = OPTIONS.iter().skip(1).map(|(setting, _)| setting.name());
    if let Some(name) =
        names_in(build, SETTINGS).find(|taken| !names.clone().any(|it| it == *taken))
    {
        let known: Vec<_> = names.collect();
        return Err(wrong(SETTINGS, format!("`{name}` is not one of {}", known.join(", "))));
    }
    let takes = |setting: Setting| match names_in(build, SETTINGS).any(|it| it == setting.name()) {
        true => Feature::Yes,
        false => Feature::no(NOT_TAKEN),
    };
    let yes_or_no = |fact: &str, absent: &str, lack: &str| {
        let reported = build.facts.get(fact).map_or(absent, String::as_str);
        match reported {
            "yes" => Ok(Feature::Yes),
            "no" => Ok(Feature::no(lack)),
            text => Err(wrong(fact, format!("`{text}` is neither yes nor no"))),
        }
    };
    let reverse = yes_or_no(REVERSE_SCANS, "yes", "its library cannot scan in descending order")?;
    let fields = yes_or_no(FIELD_READS, "no", "its library copies the whole value")?;
    Ok(Capabilities {
        durability,
        key_bytes_max: most("key_bytes_max")?,
        value_bytes_max: most("value_bytes_max")?,
        ..Capabilities::whole([
            (CONCURRENT_WRITERS, Feature::Yes),
            (CACHE_SIZE, takes(Setting::Cache)),
            (DIRECT_IO, takes(Setting::DirectIo)),
            (COMPRESSION, takes(Setting::Compression)),
            (REVERSE_SCANS, reverse),
            (FIELD_READS, fields),
        ])
    })
}

/// Returns the user's options, and each requested setting that the library takes.
fn translate(spec: &OpenSpec, build: &Identity) -> Result<Options> {
    let (settings, mut options) = (&spec.settings, spec.options.clone());
    if names_in(build, DURABILITY).nth(1).is_some() {
        options.set("assay.durability", settings.durability.name());
    }
    let requested = [
        (Setting::Cache, settings.cache_bytes.map(|bytes| bytes.0.to_string())),
        (Setting::DirectIo, settings.direct_io.then(|| "1".to_owned())),
        (Setting::Compression, settings.compression.clone()),
        (Setting::BackgroundJobs, settings.background_jobs.map(|jobs| jobs.to_string())),
    ];
    for (setting, value) in requested {
        let Some(value) = value else { continue };
        let name = setting.name();
        if names_in(build, SETTINGS).any(|taken| taken == name) {
            options.set(format!("assay.{name}"), value);
        } else if setting == Setting::BackgroundJobs {
            // The others are capabilities, checked before.
            return Err(EngineError::setting(setting, format!("{name}: {NOT_TAKEN}")));
        }
    }
    Ok(options)
}
