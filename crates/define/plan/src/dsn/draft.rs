//! A server address while it is read, part by part.

use std::path::PathBuf;

use model::secret::{PASSWORD_VARIABLE, variable};
use model::server::SYSTEM_ROOTS;
use model::units::parse_span;
use model::{Address, Dialect, Dsn, LoginOptions, Password};
use reader::error::PlanError;

use super::encryption::Encryption;
use super::parameter::{Effect, EncryptionPart, Parameters, Switch, effect, names, plain};
use super::place::{self, Place};
use super::text::{check_expanded, decoded, is_placeholder, once, twice, wrong};
use super::value::{Parameter, absolute, file, methods, role, switched};
use super::{mysql, postgres};

/// Source: PostgreSQL documentation, section 20.3, `port`.
const PORT_POSTGRES: u16 = 5432;
/// Source: MySQL reference manual, section 5.1.7, `--port`.
const PORT_MYSQL: u16 = 3306;
/// What an address has stated so far.
pub(super) struct Draft {
    dialect: Dialect,
    user: Option<String>,
    password: Option<Password>,
    password_from: Option<String>,
    host: Option<String>,
    port: Option<u16>,
    database: Option<String>,
    /// The file of a socket.
    socket: Option<PathBuf>,
    /// The directory of a socket.
    socket_dir: Option<PathBuf>,
    /// Whether the address demands a socket, or TCP.
    demands_socket: Option<bool>,
    encryption: Encryption,
    login: LoginOptions,
    notes: Vec<String>,
}

impl Draft {
    pub(super) fn of(dialect: Dialect) -> Self {
        Self {
            dialect,
            user: None,
            password: None,
            password_from: None,
            host: None,
            port: None,
            database: None,
            socket: None,
            socket_dir: None,
            demands_socket: None,
            encryption: Encryption::default(),
            login: LoginOptions::default(),
            notes: Vec::new(),
        }
    }

    const fn table(&self) -> &'static [Parameters] {
        match self.dialect {
            Dialect::Postgres => postgres::TABLE,
            Dialect::Mysql => mysql::TABLE,
        }
    }

    pub(super) fn set_user(&mut self, user: String) -> Result<(), PlanError> {
        if user.is_empty() { Ok(()) } else { once(&mut self.user, user, "user") }
    }

    /// Takes the password as it is written, or the variable that holds it.
    pub(super) fn set_password(&mut self, written: &str) -> Result<(), PlanError> {
        if written.is_empty() {
            return Ok(());
        }
        if self.password.is_some() || self.password_from.is_some() {
            return Err(twice("the password"));
        }
        if let Some(name) = variable(written) {
            if !name.starts_with(PASSWORD_VARIABLE) {
                let ours = format!("{PASSWORD_VARIABLE}{}", name.to_ascii_uppercase());
                return Err(wrong(format!("the variable {name} is not read as a password"))
                    .remedy(format!(
                        "put the password into the variable {ours} and write ${{{ours}}}"
                    )));
            }
            self.password_from = Some(name.to_owned());
            return Ok(());
        }
        if is_placeholder(written) {
            return Err(wrong("the password is a variable or a placeholder that nothing fills in")
                .remedy(
                    "put the whole password into ASSAY_PASSWORD_NAME and write \
                     ${ASSAY_PASSWORD_NAME}; `$`, `%`, `<`, `[` and `{` of a password itself \
                     are written %24, %25, %3C, %5B and %7B",
                ));
        }
        self.password = Some(Password(decoded(written, "password")?));
        Ok(())
    }

    pub(super) fn set_database(&mut self, written: &str) -> Result<(), PlanError> {
        if written.is_empty() {
            return Ok(());
        }
        check_expanded(written, "database")?;
        if written.contains('/') {
            return Err(wrong("the name of the database has a `/` in it")
                .remedy("write the `/` as %2F, or leave the `/` out"));
        }
        once(&mut self.database, decoded(written, "database")?, "database")
    }

    pub(super) fn check_user(&self) -> Result<(), PlanError> {
        self.user.as_ref().map(drop).ok_or_else(|| wrong("the address names no user"))
    }

    /// Takes the host and the port of an address; a host may be the directory of a socket.
    pub(super) fn set_place(&mut self, written: &str) -> Result<(), PlanError> {
        let Place { host, port } = Place::parse(written)?;
        if let Some(port) = port {
            once(&mut self.port, port, "port")?;
        }
        host.map_or(Ok(()), |host| self.set_host(host))
    }

    fn set_host(&mut self, host: String) -> Result<(), PlanError> {
        if host.starts_with('/') {
            return once(&mut self.socket_dir, host.into(), "directory of the socket");
        }
        once(&mut self.host, host, "host")
    }

    /// Takes the parameters of an address.
    pub(super) fn read_parameters(&mut self, query: &str) -> Result<(), PlanError> {
        let mut found: Vec<String> = Vec::new();
        let mut is_shown = true;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decoded(name, "name of a parameter")?;
            let parameter = Parameter { name, value: value.to_owned(), is_shown };
            if found.contains(&plain(&parameter.name)) {
                return Err(twice(&parameter.title()));
            }
            found.push(plain(&parameter.name));
            let Some(effect) = effect(self.table(), &parameter.name) else {
                return Err(self.unknown(&parameter));
            };
            if value.is_empty() {
                return Err(wrong(format!("{} has no value", parameter.title()))
                    .remedy("give the parameter a value, or leave the parameter out"));
            }
            if matches!(effect, Effect::Password) {
                self.set_password(value)?;
                is_shown = false;
                continue;
            }
            if matches!(effect, Effect::User | Effect::Host | Effect::Port | Effect::Database) {
                check_expanded(value, &parameter.name)?;
            }
            let value = decoded(value, &format!("value of {}", parameter.title()))?;
            self.apply(effect, &Parameter { value, ..parameter })?;
        }
        Ok(())
    }

    /// Returns the error of an unknown parameter, whose name behind a password may be of its end.
    fn unknown(&self, parameter: &Parameter) -> PlanError {
        if !parameter.is_shown {
            return wrong("a parameter behind the password is not understood in an address")
                .remedy("write an `&` in a password as %26");
        }
        let otherwise = "leave the parameter out; docs/guide/addresses.md lists all parameters";
        wrong(format!("{} is not understood in an address", parameter.title())).meant(
            &parameter.name,
            names(self.table()),
            otherwise,
        )
    }

    fn apply(&mut self, effect: Effect, parameter: &Parameter) -> Result<(), PlanError> {
        let value = parameter.value.as_str();
        match effect {
            Effect::User => self.set_user(value.to_owned())?,
            Effect::Password => {}
            Effect::Host => place::host(value)?.map_or(Ok(()), |host| self.set_host(host))?,
            Effect::Port => {
                place::port(value)?.map_or(Ok(()), |port| once(&mut self.port, port, "port"))?;
            }
            Effect::Database => once(&mut self.database, value.to_owned(), "database")?,
            Effect::Socket => once(&mut self.socket, absolute(parameter)?, "socket")?,
            Effect::Transport => {
                self.demands_socket = Some(match value.to_ascii_lowercase().as_str() {
                    "tcp" => false,
                    "socket" => true,
                    _ => return Err(parameter.refuse("write tcp or socket")),
                });
            }
            Effect::Timeout => self.login.timeout_ms = self.timeout_ms(parameter)?,
            Effect::Session(name) => {
                let known = self.login.session.insert(name.to_owned(), value.to_owned());
                known.map_or(Ok(()), |_| Err(twice(name)))?;
            }
            Effect::Role => {
                self.login.role = role(parameter)?;
                if self.login.role.is_none() {
                    self.note(parameter, "the address names one host");
                }
            }
            Effect::Binding => {
                if !["disable", "prefer", "require"].contains(&value) {
                    return Err(parameter.refuse("use disable, prefer or require"));
                }
                self.login.binds_channel = value == "require";
            }
            Effect::Methods => {
                self.login.methods = methods(parameter)?;
                self.encryption.is_waived = value.split(',').any(|name| name == "password");
            }
            Effect::Only(values, _) if values.iter().any(|it| it.eq_ignore_ascii_case(value)) => {}
            Effect::Only(values, why) => {
                let values = values.join(" or ");
                let remedy = format!("Assay {why}: write {values}, or leave the parameter out");
                return Err(parameter.refuse(remedy));
            }
            Effect::Ignored(why) => self.note(parameter, why),
            Effect::Refused(remedy) => {
                let name = parameter.title();
                return Err(wrong(format!("{name} is not supported in an address")).remedy(remedy));
            }
            Effect::Encryption(part) => self.encrypt(part, parameter)?,
        }
        Ok(())
    }

    /// Notes that a parameter has no effect.
    fn note(&mut self, parameter: &Parameter, why: &str) {
        self.notes.push(format!("{} has no effect: {why}", parameter.title()));
    }

    /// Takes a parameter of the encryption.
    fn encrypt(&mut self, part: EncryptionPart, parameter: &Parameter) -> Result<(), PlanError> {
        let value = parameter.value.as_str();
        let encryption = &mut self.encryption;
        match part {
            EncryptionPart::Mode(modes) => {
                let known = modes.iter().find(|(name, _)| name.eq_ignore_ascii_case(value));
                let (_, mode) = known.ok_or_else(|| {
                    let names: Vec<_> = modes.iter().map(|(name, _)| *name).collect();
                    parameter.refuse(format!("use {}", names.join(", ")))
                })?;
                once(&mut encryption.mode, *mode, "encryption")
            }
            EncryptionPart::SwitchOr(modes) => match switched(parameter) {
                Ok(_is_on) => self.encrypt(EncryptionPart::Switch(Switch::Encrypt), parameter),
                Err(_other) => self.encrypt(EncryptionPart::Mode(modes), parameter),
            },
            EncryptionPart::Switch(switch) => {
                encryption.switches[switch as usize] = Some(switched(parameter)?);
                Ok(())
            }
            EncryptionPart::Roots => {
                let path = match value {
                    SYSTEM_ROOTS => value.into(),
                    _ => file(parameter, "the roots to trust")?,
                };
                once(&mut encryption.roots, path, "file of roots")
            }
            EncryptionPart::Certificate => {
                let path = file(parameter, "the client's certificate")?;
                once(&mut encryption.chain, path, "client's certificate")
            }
            EncryptionPart::Key => {
                once(&mut encryption.key, file(parameter, "the client's key")?, "client's key")
            }
            EncryptionPart::Waiver => {
                encryption.is_waived = switched(parameter)?;
                Ok(())
            }
        }
    }

    /// Returns the limit of a login, in milliseconds; `None` without a limit.
    ///
    /// Source: PostgreSQL documentation, section 34.1.2, `connect_timeout`; MySQL Connector/J,
    /// `connectTimeout`; Go-MySQL-Driver, `timeout`.
    fn timeout_ms(&mut self, parameter: &Parameter) -> Result<Option<u32>, PlanError> {
        let Parameter { name, value, .. } = parameter;
        let is_ms = self.dialect == Dialect::Mysql && name.contains("tTimeout");
        let unit_ms = if is_ms { 1 } else { 1000 };
        let whole = value.parse::<i64>().ok().map(|number| number.max(0).checked_mul(unit_ms));
        let span = || parse_span(value).ok().map(|span| i64::try_from(span.0 / 1_000_000).ok());
        let has_span = name.eq_ignore_ascii_case("timeout");
        let found = whole.or_else(|| has_span.then(span).flatten()).flatten();
        let Some(limit) = found.and_then(|limit| u32::try_from(limit).ok()) else {
            let unit = if is_ms { "milliseconds" } else { "seconds" };
            return Err(parameter.refuse(format!("write whole {unit}, or leave the parameter out")));
        };
        if limit == 0 {
            self.note(parameter, "Assay's own limit is 30 s");
        }
        Ok(Some(limit).filter(|limit| *limit > 0))
    }

    /// Returns the server of the address.
    pub(super) fn finish(mut self) -> Result<Dsn, PlanError> {
        let address = self.address()?;
        self.login.certificate = self.encryption.certificate()?;
        if self.login.binds_channel && !(address.is_encrypted() || address.choices().is_some()) {
            return Err(wrong("`channel_binding=require` needs an encrypted connection")
                .remedy("add sslmode=require, or verify-full with sslrootcert"));
        }
        let Some(database) = self.database else {
            return Err(wrong("the address names no database"));
        };
        Ok(Dsn {
            address,
            user: self.user.unwrap_or_default(),
            database,
            has_password: self.password.is_some() || self.password_from.is_some(),
            password: self.password,
            password_from: self.password_from,
            login: self.login,
            notes: self.notes,
        })
    }

    /// Returns the address of the server.
    fn address(&mut self) -> Result<Address, PlanError> {
        let port = self.port.unwrap_or(match self.dialect {
            Dialect::Postgres => PORT_POSTGRES,
            Dialect::Mysql => PORT_MYSQL,
        });
        let socket = match (self.socket.take(), self.socket_dir.take()) {
            (Some(_), Some(_)) => return Err(twice("the socket")),
            // Source: PostgreSQL documentation, section 34.1.2, `host`.
            (None, Some(dir)) if self.dialect == Dialect::Postgres => {
                Some(dir.join(format!(".s.PGSQL.{port}")))
            }
            (socket, dir) => socket.or(dir),
        };
        match (self.demands_socket, &socket) {
            (Some(true), None) => {
                return Err(wrong("the address demands a unix socket and names none")
                    .remedy("add socket=FILE, or leave protocol=socket out"));
            }
            (Some(false), Some(_)) => {
                return Err(wrong("the address demands TCP and names a unix socket")
                    .remedy("leave out protocol=tcp, or the socket"));
            }
            (Some(_) | None, _) => {}
        }
        if let Some(path) = socket {
            self.encryption.check_socket()?;
            // Of another host the socket would be another server's.
            if self.host.take().is_some_and(|host| host != "localhost") {
                return Err(wrong("the address states a host and a socket")
                    .remedy("leave out the host or the socket: only `localhost` has a socket"));
            }
            return Ok(Address::Socket(path));
        }
        let Some(host) = self.host.take() else {
            return Err(wrong("the address names no host"));
        };
        Ok(Address::Tcp { host, port, tls: self.encryption.checked(self.dialect)? })
    }
}
