//! Connection options: endpoint, protocol, Assay's own options.

use engine::settings_check::refused;
use engine::{ApplicationSetup, EngineError, OpenSpec, PIPELINING};
use model::capability::{
    APPENDS, CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
    PARTIAL_UPDATES,
};
use model::server::TRANSPORT;
use model::sql::{Dialect, Procedure, Protocol};
use model::{Capabilities, Endpoint, OpKind, Options, Transport};

use crate::connection::{Connection, Reply};

/// Prefix of Assay's own options; the server never gets them.
pub const OWN_PREFIX: &str = "assay";
/// Own option: how statements are sent.
pub const PROTOCOL: &str = "assay.protocol";

/// Returns how statements are sent, when the options state it.
///
/// # Errors
/// [`EngineError::Refused`] for an unknown own option or value.
pub fn protocol_of(options: &Options) -> Result<Option<Protocol>, EngineError> {
    let mut protocol = None;
    for (name, value) in options.iter().filter(|(name, _)| name.starts_with(OWN_PREFIX)) {
        match name {
            PROTOCOL => {
                let known: Result<Protocol, String> = value.parse();
                protocol = Some(known.map_err(|_why| {
                    refused(name, format!("`{value}` is neither prepared nor text"))
                })?);
            }
            TRANSPORT => {
                let known: Result<Transport, String> = value.parse();
                known
                    .map_err(|_why| refused(name, format!("`{value}` is neither unix nor tcp")))?;
            }
            _ => {
                let known = [PROTOCOL, TRANSPORT];
                return Err(EngineError::unknown(name, "unknown Assay option", &known));
            }
        }
    }
    Ok(protocol)
}

/// Iterates over the options without Assay's own.
pub fn server_options(options: &Options) -> impl Iterator<Item = (&str, &str)> {
    options.iter().filter(|(name, _)| !name.starts_with(OWN_PREFIX))
}

/// Returns the capabilities of a server; `compression` is the reason why it is no setting.
pub fn capabilities<C: Connection>(compression: &'static str) -> Capabilities {
    let (key_bytes, value_bytes) = C::SQL.row_bytes_max;
    Capabilities {
        operations: OpKind::ALL.into_iter().filter(|it| *it != OpKind::ScanSequence).collect(),
        key_bytes_max: u32::try_from(key_bytes).ok(),
        value_bytes_max: u32::try_from(value_bytes).ok(),
        ..Capabilities::whole([
            (CACHE_SIZE, Feature::Yes),
            (COMPRESSION, Feature::no(compression)),
            (CONCURRENT_WRITERS, Feature::Yes),
            (DIRECT_IO, Feature::Yes),
            (PIPELINING, Feature::Yes),
            (PARTIAL_UPDATES, Feature::Yes),
            (FIELD_READS, Feature::Yes),
            (APPENDS, Feature::Yes),
        ])
    }
}

/// How the server is used; `S` is the configuration of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config<S> {
    /// Where it listens.
    pub endpoint: Endpoint,
    /// How all statements are sent; `None` where each procedure may state it.
    pub protocol: Option<Protocol>,
    /// Configuration of each session.
    pub session: S,
}

impl<S> Config<S> {
    /// Resolves the endpoint and the protocol of `spec`.
    ///
    /// # Errors
    /// Without an endpoint, or [`EngineError::Refused`] as [`protocol_of`].
    pub fn resolve(engine: &str, spec: &OpenSpec, session: S) -> Result<Self, EngineError> {
        let protocol = protocol_of(&spec.options)?;
        let endpoint = spec.endpoint.clone().ok_or_else(|| {
            EngineError::Fatal(format!("{engine} is a server: it needs a build or a dsn"))
        })?;
        if endpoint.is_foreign && spec.options.get(TRANSPORT).is_some() {
            let reason = "the dsn states where this server listens: remove it";
            return Err(refused(TRANSPORT, reason));
        }
        Ok(Self { endpoint, protocol, session })
    }

    /// Returns Assay's own options in force.
    pub fn own_options(
        &self,
        setup: Option<&ApplicationSetup>,
        dialect: Dialect,
    ) -> [(&'static str, String); 2] {
        let transport = self.endpoint.address.transport().name().to_owned();
        [(PROTOCOL, self.protocol_text(setup, dialect)), (TRANSPORT, transport)]
    }

    /// Returns how statements outside of procedures are sent.
    pub fn plain_protocol(&self) -> Protocol {
        self.protocol.unwrap_or(Protocol::Prepared)
    }

    /// Returns how a procedure's statements are sent: as the variant states, or else it itself.
    pub fn protocol_of(&self, procedure: &Procedure, dialect: Dialect) -> Protocol {
        // Data definition runs once: there is nothing to prepare.
        if procedure.kind == OpKind::Define {
            return Protocol::Text;
        }
        let own = procedure.protocol.by(dialect);
        self.protocol.or(*own).unwrap_or(Protocol::Prepared)
    }

    /// Returns how statements are sent, as a record states it.
    ///
    /// Procedures are named where they differ from the others.
    fn protocol_text(&self, setup: Option<&ApplicationSetup>, dialect: Dialect) -> String {
        let plain = self.plain_protocol();
        let procedures = setup.into_iter().flat_map(|setup| &setup.application.procedures);
        let differs = |procedure: &&Procedure| {
            procedure.kind != OpKind::Define && self.protocol_of(procedure, dialect) != plain
        };
        let others: Vec<_> = procedures.filter(differs).map(|it| it.name.as_str()).collect();
        match others.is_empty() {
            true => plain.name().to_owned(),
            // Without an option the plain one is prepared, and the others are text.
            false => format!("{plain}; {}: {}", Protocol::Text, others.join(", ")),
        }
    }

    /// Connects and logs in.
    ///
    /// # Errors
    /// When no server listens, or the login is rejected.
    pub fn connect<C: Connection<Session = S>>(&self) -> Reply<C, C> {
        C::open(&self.endpoint, &self.session)
    }
}
