//! Connection options: endpoint, protocol, Assay's own options.

use engine::settings_check::refused;
use engine::{EngineError, OpenSpec, PIPELINING};
use model::capability::{
    APPENDS, CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
    PARTIAL_UPDATES,
};
use model::{Capabilities, Endpoint, OpKind, Options};

use crate::connection::{Connection, Reply};

/// Prefix of Assay's own options; the server never gets them.
pub const OWN_PREFIX: &str = "assay";
/// Own option: how statements are sent.
pub const PROTOCOL: &str = "assay.protocol";

/// Own option: whether waits of sessions are sampled.
pub const WAITS: &str = "assay.waits";
/// Value that switches an own option off.
const OFF: &str = "off";
/// Every own option.
const OWN: [&str; 2] = [PROTOCOL, WAITS];

/// Assay's own options of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnOptions {
    /// How statements are sent.
    pub protocol: Protocol,
    /// Whether waits of sessions are sampled in measured spans.
    pub samples_waits: bool,
}

impl OwnOptions {
    /// Parses the own options among those of a variant.
    ///
    /// # Errors
    /// [`EngineError::Refused`] for an unknown own option or value.
    pub fn of(options: &Options) -> Result<Self, EngineError> {
        let mut own = Self { protocol: Protocol::Prepared, samples_waits: true };
        for (name, value) in options.iter().filter(|(name, _)| name.starts_with(OWN_PREFIX)) {
            match name {
                PROTOCOL => own.protocol = Protocol::parse(value)?,
                WAITS => {
                    own.samples_waits = match value {
                        "sampled" => true,
                        OFF => false,
                        _ => {
                            let reason = format!("`{value}` is neither sampled nor off");
                            return Err(refused(name, reason));
                        }
                    };
                }
                _ => return Err(EngineError::unknown(name, "unknown Assay option", &OWN)),
            }
        }
        Ok(own)
    }

    /// Returns names and values in force: the protocol, and what is switched off.
    pub fn in_force(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let waits = (!self.samples_waits).then_some((WAITS, OFF));
        [(PROTOCOL, self.protocol.name())].into_iter().chain(waits)
    }
}

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Parsed once per session, then executed with binary values.
    Prepared,
    /// As text with literal values, parsed and planned each time.
    Text,
}

impl Protocol {
    /// Returns the option's value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Text => "text",
        }
    }

    fn parse(value: &str) -> Result<Self, EngineError> {
        let named = |protocol: &Self| protocol.name() == value;
        [Self::Prepared, Self::Text]
            .into_iter()
            .find(named)
            .ok_or_else(|| refused(PROTOCOL, format!("`{value}` is neither prepared nor text")))
    }
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
    /// Assay's own options.
    pub own: OwnOptions,
    /// Configuration of each session.
    pub session: S,
}

impl<S> Config<S> {
    /// Resolves the endpoint and the own options of `spec`.
    ///
    /// # Errors
    /// Without an endpoint, or [`EngineError::Refused`] as [`OwnOptions::of`].
    pub fn resolve(engine: &str, spec: &OpenSpec, session: S) -> Result<Self, EngineError> {
        let own = OwnOptions::of(&spec.options)?;
        let endpoint = spec.endpoint.clone().ok_or_else(|| {
            EngineError::Fatal(format!("{engine} is a server: it needs a build or a dsn"))
        })?;
        Ok(Self { endpoint, own, session })
    }

    /// Connects and logs in.
    ///
    /// # Errors
    /// When no server listens, or the login is rejected.
    pub fn connect<C: Connection<Session = S>>(&self) -> Reply<C, C> {
        C::open(&self.endpoint, &self.session)
    }
}
