//! Session settings, and the durability class of options.

use driver_sql::{Config, server_options};
use engine::settings_check::{check_settings, refused};
use engine::{EngineError, OpenSpec};
use model::sql::{Dialect, Protocol};
use model::{Capabilities, Durability, Options};

use crate::wire::Session;

/// The engine's name.
pub(crate) const NAME: &str = "postgres";
/// Settings that fix the format of literals and columns, whatever the server's configuration.
const AS_TEXT: [(&str, &str); 2] = [("bytea_output", "hex"), ("standard_conforming_strings", "on")];

/// Resolves `spec` to a configuration.
///
/// Server options of an own server are in its `postgresql.conf`; for a foreign server they
/// become session settings, as far as it permits.
pub(crate) fn resolve(spec: &OpenSpec, can: &Capabilities) -> Result<Config<Session>, EngineError> {
    check_settings("Postgres", can, &spec.settings)?;
    reject_weaker_durability(spec.settings.durability, &spec.options)?;
    let is_uncompressed = spec.settings.compression.as_deref() == Some("none");
    let session = Session { is_uncompressed, ..Session::default() };
    let mut config = Config::resolve(NAME, spec, session)?;
    let procedures = spec.application.iter().flat_map(|setup| &setup.application.procedures);
    let mut protocols = procedures.map(|it| config.protocol_of(it, Dialect::Postgres));
    let has_text = config.plain_protocol() == Protocol::Text
        || protocols.any(|protocol| protocol == Protocol::Text);
    let mut set = |name: &str, value: &str| {
        config.session.settings.push((name.to_owned(), value.to_owned()));
    };
    if spec.options.get("synchronous_commit").is_none() {
        set("synchronous_commit", synchronous_commit(spec.settings.durability));
    }
    if has_text {
        AS_TEXT.iter().for_each(|(name, value)| set(name, value));
    }
    if config.endpoint.is_foreign {
        server_options(&spec.options).for_each(|(name, value)| set(name, value));
    }
    Ok(config)
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
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::path::PathBuf;
    use std::thread;

    use driver_sql::PROTOCOL;
    use model::{Address, DataShape, Endpoint, Settings, Tls};

    use super::*;
    use crate::wire::{Connection, Failure};

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
                login: model::LoginOptions::default(),
            }),
            ..OpenSpec::embedded(PathBuf::new(), settings, data)
        }
    }

    fn resolve(spec: &OpenSpec) -> Result<Config<Session>, EngineError> {
        super::resolve(spec, &crate::driver::capabilities())
    }

    #[test]
    fn options_become_session_settings_on_foreign_servers_only() {
        let options = [("work_mem", "1MB"), (PROTOCOL, "text")];
        let own = resolve(&spec(false, Durability::None, &options)).unwrap();
        assert_eq!(own.session.settings[0], ("synchronous_commit".to_owned(), "off".to_owned()));
        assert!(own.session.settings.iter().all(|(name, _)| name != "work_mem"));
        assert_eq!(own.own.protocol, Some(Protocol::Text));
        let foreign = resolve(&spec(true, Durability::Os, &options[..1])).unwrap();
        let names: Vec<_> =
            foreign.session.settings.iter().map(|(name, value)| (&**name, &**value)).collect();
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
            (Durability::None, "assay.waits", "on"),
        ] {
            let error = resolve(&spec(false, class, &[(name, value)])).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
        assert!(resolve(&spec(false, Durability::Os, &[("fsync", "off")])).is_ok());
        assert!(resolve(&spec(false, Durability::None, &[("synchronous_commit", "off")])).is_ok());
    }

    /// Goal: where another protocol answers, no second attempt is made, encrypted or not.
    #[test]
    fn a_wrong_port_is_tried_once() {
        for tls in [Tls::Preferred, Tls::Allowed] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let server = thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(b"\x4a\0\0\0\x0a8.0.31\0").unwrap();
                stream.read_to_end(&mut Vec::new()).ok();
                listener
            });
            let mut config = resolve(&spec(true, Durability::Os, &[])).unwrap();
            config.endpoint.address = Address::Tcp { host: "127.0.0.1".to_owned(), port, tls };
            let failure = config.connect_first::<Connection>().err().unwrap();
            assert!(matches!(failure, Failure::Unreachable(_)), "{failure}");
            let listener = server.join().unwrap();
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err(), "a second attempt");
        }
    }
}
