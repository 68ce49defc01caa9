//! Translates settings and options into WiredTiger options.

use std::path::Path;

use engine::settings_check::refused;
use engine::{EngineError, OpenSpec, Result, VALUE_CHANGES};
use model::{Durability, Identity, Options, Settings};

use crate::extension::extension;

/// The driver's option: kind of the table, `btree` (default) or `lsm`.
const TABLE: &str = "assay.table";
/// Capability of a build, and its value of [`TABLE`].
pub(crate) const LSM: &str = "lsm";
/// Libraries of compressors that are not built in.
const EXTENSIONS: &str = "extensions";
/// Sync method of the log; the durability class bounds it.
const SYNC_METHOD: &str = "transaction_sync.method";

/// Options that the driver or the durability class fixes.
const FIXED: &[(&str, &str)] = &[
    ("type", "write assay.table = btree or lsm"),
    ("key_format", KEYS),
    ("value_format", KEYS),
    ("columns", KEYS),
    ("colgroups", KEYS),
    ("source", KEYS),
    ("home", DIR),
    ("create", DIR),
    ("exclusive", DIR),
    ("readonly", DIR),
    (
        "in_memory",
        "a clean close would lose data, and each durability class demands that data survive a clean close",
    ),
    ("config_base", WHOLE),
    ("use_environment", WHOLE),
    ("use_environment_priv", WHOLE),
    ("checkpoint_sync", CLASS),
    ("log", CLASS),
    ("log.enabled", CLASS),
    ("table.log", CLASS),
    ("table.log.enabled", CLASS),
    ("transaction_sync", CLASS),
    ("transaction_sync.enabled", CLASS),
];
const KEYS: &str = "the table holds raw keys and values";
const WHOLE: &str = "each open passes its whole configuration";
const DIR: &str = "the run decides the data directory";
const CLASS: &str = "the durability class decides this option: use another class";

/// Returns the engine's options for `spec`; the user's options override settings.
///
/// The engine itself refuses unknown ones.
pub(crate) fn translate(spec: &OpenSpec, identity: &Identity) -> Result<Options> {
    let kind = match spec.options.get(TABLE).unwrap_or("btree") {
        "btree" => "file",
        LSM if identity.facts.get(LSM).is_some_and(|has| has == "yes") => LSM,
        LSM => {
            let reason = "this build has no LSM tree: version 12 removed it";
            return Err(EngineError::capability(TABLE, reason));
        }
        _ => return Err(refused(TABLE, "write btree or lsm")),
    };
    let mut options = defaults(spec.settings.durability);
    fill_settings(&spec.settings, kind, &mut options);
    options.set("type", kind);
    for (name, value) in spec.options.iter().filter(|(name, _)| *name != TABLE) {
        check(name, value, spec.settings.durability)?;
        options.set(name, value);
    }
    let compressor = options.get("block_compressor");
    let found = compressor.and_then(|name| extension(name, Path::new(&identity.origin)));
    if let (Some(path), None) = (found, options.get(EXTENSIONS)) {
        options.set(EXTENSIONS, format!("[\"{}\"]", path.display()));
    }
    Ok(options)
}

/// Returns the default options of a durability class.
///
/// Source of the checkpoints: [MongoDB manual], `storage.syncPeriodSecs` (60 s) and "WiredTiger
/// Storage Engine", "Snapshots and Checkpoints" (2 GB of journal).
fn defaults(durability: Durability) -> Options {
    let method = if durability == Durability::Sync { "fsync" } else { "none" };
    let logged = [
        ("log.enabled", "true"),
        ("transaction_sync.enabled", "true"),
        (SYNC_METHOD, method),
        ("checkpoint.wait", "60"),
        ("checkpoint.log_size", "2GB"),
    ];
    let log =
        if durability == Durability::None { &[("log.enabled", "false")] } else { &logged[..] };
    [("statistics", "[fast]"), ("session_max", "1000")].iter().chain(log).copied().collect()
}

fn fill_settings(settings: &Settings, kind: &str, options: &mut Options) {
    if let Some(bytes) = settings.cache_bytes {
        options.set("cache_size", bytes.0.to_string());
    }
    if let Some(name) = &settings.compression {
        options.set("block_compressor", name);
    }
    if settings.direct_io {
        options.set("direct_io", "[data]");
    }
    if let Some(jobs) = settings.background_jobs {
        // Bounds of the engine. Source: [WiredTiger source] `src/config/config_def.c`.
        options.set("eviction.threads_max", jobs.clamp(1, 20).to_string());
        if kind == LSM {
            options.set("lsm_manager.worker_thread_max", jobs.clamp(3, 20).to_string());
        }
    }
}

fn check(name: &str, value: &str, durability: Durability) -> Result<()> {
    if name.starts_with("assay.") && name != VALUE_CHANGES {
        let known = [TABLE, VALUE_CHANGES];
        return Err(EngineError::unknown(name, "the driver has no such option", &known));
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.split('.').all(|part| !part.is_empty() && part.chars().all(is_part)) {
        return Err(refused(name, "write letters, digits and `_`, with dots between nested names"));
    }
    let bare = name.strip_prefix("table.").unwrap_or(name);
    if let Some((_, reason)) = FIXED.iter().find(|(known, _)| *known == name || *known == bare) {
        return Err(refused(name, *reason));
    }
    if name == SYNC_METHOD
        && !(durability == Durability::Sync && ["fsync", "dsync"].contains(&value))
    {
        let reason = "the durability class decides this option: only class `sync` permits a value, \
                      fsync or dsync";
        return Err(refused(name, reason));
    }
    if !is_single(value) {
        return Err(refused(name, format!("write each part separately: {name}.PART = VALUE")));
    }
    Ok(())
}

/// Returns whether a text is one value of a configuration string, or a list in brackets.
fn is_single(value: &str) -> bool {
    let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let special: &[char] = match inner {
        Some(_) => &['(', ')', '[', ']', '='],
        None => &['(', ')', '[', ']', '=', ',', '"'],
    };
    !inner.unwrap_or(value).contains(special)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Bytes, DataShape};

    use super::*;

    fn resolve(settings: Settings, options: &[(&str, &str)]) -> Result<Options> {
        let spec = OpenSpec {
            options: options.iter().copied().collect(),
            ..OpenSpec::embedded(
                PathBuf::new(),
                settings,
                DataShape { rows: 1, key_bytes: 1, value_bytes: 1, compressible_to: 1.0 },
            )
        };
        let facts = [("lsm".to_owned(), "yes".to_owned())].into();
        translate(&spec, &Identity { facts, ..Identity::default() })
    }

    fn class(durability: Durability) -> Settings {
        Settings { durability, ..Settings::default() }
    }

    #[test]
    fn options_win_over_settings_and_defaults() {
        let settings = Settings {
            cache_bytes: Some(Bytes(1 << 30)),
            compression: Some("snappy".to_owned()),
            background_jobs: Some(2),
            direct_io: true,
            ..class(Durability::Os)
        };
        let requested =
            [("assay.table", "lsm"), ("checkpoint.wait", "5"), ("eviction.threads_max", "4")];
        let options = resolve(settings, &requested).unwrap();
        for (name, value) in [
            ("type", "lsm"),
            ("cache_size", "1073741824"),
            ("block_compressor", "snappy"),
            ("direct_io", "[data]"),
            ("checkpoint.wait", "5"),
            ("eviction.threads_max", "4"),
            ("lsm_manager.worker_thread_max", "3"),
            ("log.enabled", "true"),
            ("transaction_sync.method", "none"),
        ] {
            assert_eq!(options.get(name), Some(value), "{name}");
        }
        let options = resolve(class(Durability::None), &[]).unwrap();
        assert_eq!(
            (options.get("log.enabled"), options.get("type")),
            (Some("false"), Some("file"))
        );
        assert_eq!(options.get("checkpoint.wait"), None);
    }

    #[test]
    fn option_fixed_by_the_class_is_refused() {
        for (name, value, expected) in [
            ("log.enabled", "false", "durability class"),
            ("table.log.enabled", "false", "durability class"),
            ("transaction_sync.method", "dsync", "only class `sync` permits a value"),
            ("in_memory", "true", "lose data"),
            ("type", "lsm", "assay.table"),
            ("table.type", "lsm", "assay.table"),
            ("assay.table", "hash", "btree or lsm"),
            ("assay.tabel", "lsm", "known: assay.table, assay.value_changes"),
            ("eviction", "(threads_max=4)", "eviction.PART"),
            ("cache_size", "1GB,log=false", "cache_size.PART"),
            ("cache_size=1,log", "1GB", "write letters, digits"),
        ] {
            let error = resolve(class(Durability::Os), &[(name, value)]).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
            assert!(error.to_string().contains(expected), "{error}");
        }
        let sync =
            resolve(class(Durability::Sync), &[("transaction_sync.method", "dsync")]).unwrap();
        assert_eq!(sync.get("transaction_sync.method"), Some("dsync"));
        assert!(resolve(class(Durability::Os), &[("statistics", "[all,clear]")]).is_ok());
    }
}
