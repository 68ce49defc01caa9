//! Session configuration: protocol, session settings, server options.

use std::fmt;

use engine::settings_check::{check_settings, refused};
use engine::{EngineError, OpenSpec};
use model::{Capabilities, Durability, Options};

/// Prefix of Assay's own options; the server never gets them.
pub(crate) const OWN_PREFIX: &str = "assay.";
/// Own option: how statements are sent.
pub(crate) const PROTOCOL: &str = "assay.protocol";

/// Settings that fix the format of literals and columns, whatever the server's configuration.
const AS_TEXT: [(&str, &str); 2] = [("bytea_output", "hex"), ("standard_conforming_strings", "on")];

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Parsed once per session, then executed with binary values.
    Prepared,
    /// As text with literal values, parsed and planned each time.
    Text,
}

impl Protocol {
    /// Returns the option's value.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Text => "text",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Configuration of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// How statements are sent.
    pub(crate) protocol: Protocol,
    /// Settings of each session, sent at login.
    pub(crate) session: Vec<(String, String)>,
    /// Options under the server's own names.
    pub(crate) server: Options,
    /// Whether TOAST compression is off.
    pub(crate) is_uncompressed: bool,
}

impl Config {
    /// Resolves `spec` to a configuration.
    ///
    /// Server options of an own server are in its `postgresql.conf`; for a foreign server they
    /// become session settings, as far as it permits.
    pub(crate) fn resolve(spec: &OpenSpec, can: &Capabilities) -> Result<Self, EngineError> {
        check_settings("Postgres", can, &spec.settings)?;
        let protocol = protocol(&spec.options)?;
        let is_server = |(name, _): &(&str, &str)| !name.starts_with(OWN_PREFIX);
        let server: Options = spec.options.iter().filter(is_server).collect();
        reject_weaker_durability(spec.settings.durability, &server)?;
        let mut session = Vec::new();
        if server.get("synchronous_commit").is_none() {
            let commit = synchronous_commit(spec.settings.durability);
            session.push(("synchronous_commit".to_owned(), commit.to_owned()));
        }
        if protocol == Protocol::Text {
            session.extend(AS_TEXT.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        if spec.endpoint.as_ref().is_some_and(|endpoint| endpoint.is_foreign) {
            let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
            session.extend(server.iter().map(owned));
        }
        let is_uncompressed = spec.settings.compression.as_deref() == Some("none");
        Ok(Self { protocol, session, server, is_uncompressed })
    }
}

/// Parses how statements are sent; rejects unknown own options.
pub(crate) fn protocol(options: &Options) -> Result<Protocol, EngineError> {
    let ours = options.iter().filter(|(name, _)| name.starts_with(OWN_PREFIX));
    let mut protocol = Protocol::Prepared;
    for (name, value) in ours {
        if name != PROTOCOL {
            return Err(EngineError::unknown(name, "unknown Assay option", &[PROTOCOL]));
        }
        protocol = [Protocol::Prepared, Protocol::Text]
            .into_iter()
            .find(|protocol| protocol.name() == value)
            .ok_or_else(|| refused(name, format!("`{value}` is neither prepared nor text")))?;
    }
    Ok(protocol)
}

/// Returns `synchronous_commit` for a durability class.
///
/// Source: Postgres' documentation, "Write-Ahead Log", `synchronous_commit`: `off` answers before
/// the WAL has left the server's memory, so a crash of the process loses commits.
pub(crate) const fn synchronous_commit(class: Durability) -> &'static str {
    match class {
        Durability::None => "off",
        Durability::Os | Durability::Sync => "on",
    }
}

/// Rejects an option that is weaker than the durability class.
pub(crate) fn reject_weaker_durability(
    class: Durability,
    options: &Options,
) -> Result<(), EngineError> {
    let is_off = |name: &str| {
        let value = options.get(name).map(str::to_ascii_lowercase);
        value.is_some_and(|value| ["off", "false", "no", "0"].contains(&value.as_str()))
    };
    let broken = match class {
        Durability::None => None,
        Durability::Os | Durability::Sync if is_off("synchronous_commit") => {
            Some("synchronous_commit")
        }
        Durability::Sync if is_off("fsync") => Some("fsync"),
        Durability::Os | Durability::Sync => None,
    };
    broken.map_or(Ok(()), |name| {
        Err(refused(name, format!("`off` is weaker than durability class `{class}`")))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Address, DataShape, Endpoint, Settings};

    use super::*;

    fn spec(is_foreign: bool, durability: Durability, options: &[(&str, &str)]) -> OpenSpec {
        let data = DataShape { rows: 1, key_bytes: 1, value_bytes: 1, compressible_to: 1.0 };
        let settings = Settings { durability, ..Settings::default() };
        OpenSpec {
            options: options.iter().copied().collect(),
            endpoint: Some(Endpoint {
                address: Address::Socket(PathBuf::from("s")),
                user: "u".to_owned(),
                password: None,
                database: "d".to_owned(),
                is_foreign,
            }),
            ..OpenSpec::embedded(PathBuf::new(), settings, data)
        }
    }

    fn resolve(spec: &OpenSpec) -> Result<Config, EngineError> {
        Config::resolve(spec, &crate::driver::capabilities())
    }

    #[test]
    fn options_become_session_settings_on_foreign_servers_only() {
        let options = [("work_mem", "1MB"), (PROTOCOL, "text")];
        let own = resolve(&spec(false, Durability::None, &options)).unwrap();
        assert_eq!(own.session[0], ("synchronous_commit".to_owned(), "off".to_owned()));
        assert!(own.session.iter().all(|(name, _)| name != "work_mem"));
        assert_eq!((own.protocol, own.server.iter().count()), (Protocol::Text, 1));
        let foreign = resolve(&spec(true, Durability::Os, &options[..1])).unwrap();
        let names: Vec<_> =
            foreign.session.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(names, [("synchronous_commit", "on"), ("work_mem", "1MB")]);
    }

    #[test]
    fn weaker_or_unknown_options_are_rejected() {
        for (class, name, value) in [
            (Durability::Sync, "synchronous_commit", "off"),
            (Durability::Os, "synchronous_commit", "FALSE"),
            (Durability::Sync, "fsync", "off"),
            (Durability::None, "assay.protocol", "binary"),
            (Durability::None, "assay.protocoll", "text"),
        ] {
            let error = resolve(&spec(false, class, &[(name, value)])).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
        assert!(resolve(&spec(false, Durability::Os, &[("fsync", "off")])).is_ok());
        assert!(resolve(&spec(false, Durability::None, &[("synchronous_commit", "off")])).is_ok());
    }
}
