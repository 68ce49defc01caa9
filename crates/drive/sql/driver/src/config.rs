//! Connection options: endpoint, protocol, Assay's own options.

use std::str::FromStr;

use engine::settings_check::refused;
use engine::{ApplicationSetup, EngineError, OpenSpec, PIPELINING};
use model::capability::{
    APPENDS, CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
    PARTIAL_UPDATES,
};
use model::server::{REPLICA, TRANSPORT};
use model::sql::{Dialect, Procedure, Protocol};
use model::{Capabilities, Durability, Endpoint, OpKind, Options, Replica, Transport};

use crate::connection::{Connection, Reply};
use crate::failure::Failure;
use crate::object::DataSet;
use crate::socket::Contact;

/// Prefix of Assay's own options; the server never gets them.
pub const OWN_PREFIX: &str = "assay";
/// Own option: how statements are sent.
pub const PROTOCOL: &str = "assay.protocol";

/// Own option: whether waits of sessions are sampled.
pub const WAITS: &str = "assay.waits";
/// Values of [`WAITS`].
const SAMPLED: &str = "sampled";
const OFF: &str = "off";
/// Every own option.
const OWN: [&str; 4] = [PROTOCOL, REPLICA, TRANSPORT, WAITS];
/// The names of own options without their prefix, none of which reaches beyond the data.
pub const OWN_NAMES: &str = "protocol replica transport waits";

/// Assay's own options of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnOptions {
    /// How all statements are sent; `None` where each procedure may state it.
    pub protocol: Option<Protocol>,
    /// Whether waits of sessions are sampled in measured spans.
    pub samples_waits: bool,
    /// The standby of an own server.
    pub replica: Option<Replica>,
}

impl OwnOptions {
    /// Parses the own options among those of a variant.
    ///
    /// # Errors
    /// [`EngineError::Refused`] for an unknown own option or value.
    pub fn of(options: &Options) -> Result<Self, EngineError> {
        let mut own = Self { protocol: None, samples_waits: true, replica: None };
        for (name, value) in options.iter().filter(|(name, _)| name.starts_with(OWN_PREFIX)) {
            match name {
                PROTOCOL => own.protocol = Some(parsed(name, value)?),
                REPLICA => own.replica = Some(parsed(name, value)?),
                TRANSPORT => drop(parsed::<Transport>(name, value)?),
                WAITS if value == OFF => own.samples_waits = false,
                WAITS if value == SAMPLED => {}
                WAITS => {
                    let reason =
                        format!("`{value}` is not a way to sample waits: write {SAMPLED} or {OFF}");
                    return Err(refused(name, reason));
                }
                _ => return Err(EngineError::unknown(name, "unknown Assay option", &OWN)),
            }
        }
        Ok(own)
    }
}

fn parsed<T: FromStr<Err = String>>(name: &str, value: &str) -> Result<T, EngineError> {
    value.parse().map_err(|reason| refused(name, reason))
}

/// Returns the standby that options demand.
///
/// # Errors
/// [`EngineError::Refused`] where commits of the durability class would not wait for it.
pub fn replica(options: &Options, class: Durability) -> Result<Option<Replica>, EngineError> {
    let replica = options.get(REPLICA).and_then(|kind| kind.parse().ok());
    if replica == Some(Replica::Sync) && class == Durability::None {
        let reason = "commits of durability class `none` do not wait for the log, and so cannot \
                      wait for a standby: use a standby `async`, or class `os` or `sync`";
        return Err(refused(REPLICA, reason));
    }
    Ok(replica)
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
    /// Whether the server has answered.
    pub contact: Contact,
    /// How the server's certificate was accepted, where that is not by its names.
    pub certificate_note: Option<&'static str>,
    /// Whether a pooler answers at the endpoint, with a session for each connection.
    pub is_pooled: bool,
    /// Durability class claimed for every write.
    pub durability: Durability,
    /// Configuration of each session.
    pub session: S,
    /// What the tables and routines of the run are marked with; empty until the tables exist.
    pub data_set: DataSet,
}

impl<S> Config<S> {
    /// Resolves the endpoint and the own options of `spec`.
    ///
    /// # Errors
    /// Without an endpoint, or [`EngineError::Refused`] as [`OwnOptions::of`].
    pub fn resolve(engine: &str, spec: &OpenSpec, session: S) -> Result<Self, EngineError> {
        let own = OwnOptions::of(&spec.options)?;
        let endpoint = spec.endpoint.clone().ok_or_else(|| {
            EngineError::Fatal(format!(
                "{engine} is a server, and the variant has neither a build nor a dsn: write one of \
                 the two"
            ))
        })?;
        let mut unfit = [TRANSPORT, REPLICA].into_iter().filter(|_| endpoint.is_foreign);
        if let Some(name) = unfit.find(|name| spec.options.get(name).is_some()) {
            let reason = "Assay did not start the server of the dsn: remove this option";
            return Err(refused(name, reason));
        }
        let durability = spec.settings.durability;
        let data_set = DataSet::default();
        // One that Assay has started has answered.
        let contact = if endpoint.is_foreign { Contact::First } else { Contact::Known };
        Ok(Self {
            endpoint,
            own,
            contact,
            certificate_note: None,
            is_pooled: false,
            durability,
            session,
            data_set,
        })
    }

    /// Returns Assay's own options in force.
    pub fn own_options(
        &self,
        setup: Option<&ApplicationSetup>,
        dialect: Dialect,
    ) -> Vec<(&'static str, String)> {
        let transport = self.endpoint.address.transport().to_owned();
        let waits = (!self.own.samples_waits).then(|| (WAITS, OFF.to_owned()));
        let always = [(PROTOCOL, self.protocol_text(setup, dialect)), (TRANSPORT, transport)];
        let replica = self.own.replica.map(|kind| (REPLICA, kind.name().to_owned()));
        always.into_iter().chain(waits).chain(replica).collect()
    }

    /// Returns how statements outside of procedures are sent.
    pub fn plain_protocol(&self) -> Protocol {
        self.own.protocol.unwrap_or(Protocol::Prepared)
    }

    /// Returns how a procedure's statements are sent: as the variant states, or else it itself.
    pub fn protocol_of(&self, procedure: &Procedure, dialect: Dialect) -> Protocol {
        // Data definition runs once: there is nothing to prepare.
        if procedure.kind == OpKind::Define {
            return Protocol::Text;
        }
        let own = procedure.protocol.by(dialect);
        self.own.protocol.or(*own).unwrap_or(Protocol::Prepared)
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

    /// Connects for the first time, which decides what the address leaves to the server: whether
    /// all connections are encrypted.
    ///
    /// There is no second attempt after a failure that encryption does not change.
    ///
    /// # Errors
    /// As [`Config::connect`]; of two attempts the response to the encrypted one, if there is one.
    pub fn connect_first<C: Connection<Session = S>>(&mut self) -> Reply<C, C> {
        let Some([first, second]) = self.endpoint.address.choices() else {
            return self.connect();
        };
        let is_first_encrypted = first.is_encrypted();
        self.endpoint.address = first;
        let refused = match self.connect() {
            Err(failure) if failure.depends_on_encryption() => failure,
            answer => return answer,
        };
        self.endpoint.address = second;
        self.connect().map_err(|failure| match (&refused, &failure) {
            (Failure::Refused(_), _) if is_first_encrypted => refused,
            (_, Failure::Rejected(_)) if !is_first_encrypted => refused,
            _ => failure,
        })
    }

    /// Connects and logs in, at the standby where the server is away and has one.
    ///
    /// Source: PostgreSQL documentation, section 34.1.1.3, "Specifying Multiple Hosts".
    ///
    /// # Errors
    /// When no server listens, or the login is rejected.
    pub fn connect<C: Connection<Session = S>>(&self) -> Reply<C, C> {
        let Self { endpoint, session, contact, .. } = self;
        let opened = C::open(endpoint, session, *contact);
        let mut connection = match (opened, &endpoint.login.standby) {
            (Err(failure), Some(standby)) if failure.outage().is_some() => {
                let standby = Endpoint { address: standby.clone(), ..endpoint.clone() };
                C::open(&standby, session, *contact)
            }
            (opened, _) => opened,
        }?;
        if self.is_pooled
            && let Some(number) = connection.session_number()?
        {
            connection.set_number(number);
        }
        Ok(connection)
    }
}
