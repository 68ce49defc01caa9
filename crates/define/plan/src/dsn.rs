//! Parses a server address: `postgres://user:password@host:port/database`.

use std::path::PathBuf;

use model::secret::{PASSWORD_VARIABLE, variable};
use model::{Address, Dialect, Dsn, Password, Tls};
use percent_encoding::percent_decode_str;
use url::{Host, Url};

use crate::error::PlanError;

/// Source: PostgreSQL documentation, section 20.3, `port`.
const PORT_POSTGRES: u16 = 5432;
/// Source: MySQL reference manual, section 5.1.7, `--port`.
const PORT_MYSQL: u16 = 3306;
/// The form of an address.
const FORM: &str = "write postgres://user:${ASSAY_PASSWORD_NAME}@host:port/database, or \
                    mysql://...; for a unix socket add ?host=/directory or ?socket=/path";

/// Returns the error of an address; neither it nor its remedy contains the password.
fn wrong(why: impl Into<String>) -> PlanError {
    PlanError::new(why).remedy(FORM)
}

/// Returns the error of an address with an `@` behind its closing quote.
///
/// It quotes nothing: what the address has after its last `@` may be of the password.
pub(crate) fn ended_by_quote() -> PlanError {
    wrong("the address ends at a quote, and an `@` follows on its line")
        .remedy("write a quote in a password as %27 or %22, and move a comment to its own line")
}

/// Reads an address.
pub(crate) fn parse(text: &str) -> Result<(Dialect, Dsn), PlanError> {
    let (scheme, rest) =
        text.split_once("://").ok_or_else(|| wrong("the address has no scheme"))?;
    let dialect = dialect(scheme)?;
    // Of several `@` the last one ends the password. What follows holds no secret.
    let (login, place) = rest.rsplit_once('@').ok_or_else(|| wrong("the address names no user"))?;
    if login.contains(['/', '?', '#']) {
        return Err(wrong("the user or the password has a character that must be escaped")
            .remedy("write `/`, `?`, `#` and `%` in them as %2F, %3F, %23 and %25"));
    }
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let variable = variable(password).map(str::to_owned);
    if let Some(other) = variable.as_ref().filter(|name| !name.starts_with(PASSWORD_VARIABLE)) {
        let name = format!("{PASSWORD_VARIABLE}{}", other.to_ascii_uppercase());
        return Err(wrong(format!("the variable {other} is not read as a password"))
            .remedy(format!("put the password into the variable {name} and write ${{{name}}}")));
    }
    let password = Some(decoded(password)?).filter(|it| !it.is_empty() && variable.is_none());
    // The `url` crate requires a host; a socket has none.
    let is_hostless = place.starts_with('/');
    let host = if is_hostless { "localhost" } else { "" };
    let url = Url::parse(&format!("{scheme}://{host}{place}"))
        .map_err(|why| wrong(format!("the address: {why}")))?;
    if url.fragment().is_some() {
        return Err(wrong("the address ends at a `#`")
            .remedy("a `#` in the name of a database is written %23"));
    }
    let user = decoded(user)?;
    if user.is_empty() {
        return Err(wrong("the address names no user"));
    }
    let database = decoded(url.path().trim_start_matches('/'))?;
    if database.is_empty() || database.contains('/') {
        return Err(wrong("the address names no database"));
    }
    Ok((
        dialect,
        Dsn {
            address: address(&url, dialect, is_hostless)?,
            user,
            database,
            has_password: password.is_some() || variable.is_some(),
            password: password.map(Password),
            password_from: variable,
        },
    ))
}

/// Returns the dialect of a scheme.
fn dialect(scheme: &str) -> Result<Dialect, PlanError> {
    match scheme.to_ascii_lowercase().as_str() {
        "postgres" | "postgresql" => Ok(Dialect::Postgres),
        "mysql" | "mariadb" => Ok(Dialect::Mysql),
        other if other.chars().all(|letter| letter.is_ascii_alphanumeric()) => {
            Err(wrong(format!("unknown server scheme `{other}://`")))
        }
        _ => Err(wrong("the address has no scheme")),
    }
}

/// Returns the server's address.
fn address(url: &Url, dialect: Dialect, is_hostless: bool) -> Result<Address, PlanError> {
    let default = match dialect {
        Dialect::Postgres => PORT_POSTGRES,
        Dialect::Mysql => PORT_MYSQL,
    };
    let port = url.port().unwrap_or(default);
    let mut socket = None;
    let mut encryption = Encryption::default();
    for (key, value) in url.query_pairs() {
        if encryption.read(&key, &value, dialect)? {
            continue;
        }
        let path = match (&*key, dialect) {
            ("socket", _) => PathBuf::from(&*value),
            // Source: PostgreSQL documentation, section 34.1.2, `host`.
            ("host", Dialect::Postgres) => PathBuf::from(&*value).join(format!(".s.PGSQL.{port}")),
            _ => {
                let TlsNames { parameters: [mode, roots], waiver: (waiver, _), .. } =
                    tls_names(dialect);
                return Err(wrong(format!("`{key}` is not understood in an address")).remedy(
                    format!("use `socket`, `host` for Postgres, `{mode}`, `{roots}` or `{waiver}`"),
                ));
            }
        };
        if !path.is_absolute() {
            return Err(wrong(format!("`{value}` is not the path of a socket")));
        }
        socket = Some(path);
    }
    let tls = encryption.checked(dialect)?;
    if let Some(path) = socket {
        if !tls.is_off() {
            return Err(wrong("a unix socket is not encrypted")
                .remedy("name a host, or leave the encryption out"));
        }
        return Ok(Address::Socket(path));
    }
    let host = match url.host() {
        Some(Host::Domain(host)) => decoded(host)?,
        Some(Host::Ipv4(host)) => host.to_string(),
        Some(Host::Ipv6(host)) => host.to_string(),
        None => String::new(),
    };
    if is_hostless || host.is_empty() {
        return Err(wrong("the address names no host"));
    }
    Ok(Address::Tcp { host, port, tls })
}

/// What clients of a server family call encryption.
struct TlsNames {
    /// Parameters: how much is verified, and the file of roots.
    parameters: [&'static str; 2],
    /// Values of the first: nothing encrypted, nothing verified, all verified.
    modes: [&'static str; 3],
    /// Parameter and value by which an unverified server gets the password without encryption.
    waiver: (&'static str, &'static str),
}

/// Returns the names of a dialect.
///
/// Source: PostgreSQL documentation, section 34.19, `sslmode`, `sslrootcert`, section 34.1.2,
/// `require_auth`; MySQL reference manual, section 6.2.3, `--ssl-mode`, `--ssl-ca`,
/// `--get-server-public-key`.
const fn tls_names(dialect: Dialect) -> TlsNames {
    match dialect {
        Dialect::Postgres => TlsNames {
            parameters: ["sslmode", "sslrootcert"],
            modes: ["disable", "require", "verify-full"],
            waiver: ("require_auth", "password"),
        },
        Dialect::Mysql => TlsNames {
            parameters: ["ssl-mode", "ssl-ca"],
            modes: ["DISABLED", "REQUIRED", "VERIFY_IDENTITY"],
            waiver: ("get-server-public-key", "1"),
        },
    }
}

/// The encryption that an address states.
#[derive(Default)]
struct Encryption {
    /// Position in [`TlsNames::modes`].
    mode: Option<usize>,
    roots: Option<PathBuf>,
    is_waived: bool,
}

impl Encryption {
    /// Takes a parameter if it is about encryption; returns whether it is.
    fn read(&mut self, key: &str, value: &str, dialect: Dialect) -> Result<bool, PlanError> {
        let TlsNames { parameters: [mode, roots], modes, waiver } = tls_names(dialect);
        if key == roots {
            let path = PathBuf::from(value);
            if !path.is_absolute() || !path.is_file() {
                return Err(wrong(format!("`{roots}`: `{value}` is not the path of a file"))
                    .remedy("give the absolute path of a PEM file with the roots to trust"));
            }
            self.roots = Some(path);
        } else if key == mode {
            let known = modes.iter().position(|it| it.eq_ignore_ascii_case(value));
            self.mode = Some(known.ok_or_else(|| {
                wrong(format!("`{mode}` cannot be `{value}`"))
                    .remedy(format!("use {}, {} or {}", modes[0], modes[1], modes[2]))
            })?);
        } else if key == waiver.0 {
            if value != waiver.1 {
                return Err(wrong(format!("`{key}` cannot be `{value}`"))
                    .remedy(format!("use {key}={}, or leave it out", waiver.1)));
            }
            self.is_waived = true;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns the encryption, if its parts agree.
    fn checked(self, dialect: Dialect) -> Result<Tls, PlanError> {
        let TlsNames { parameters: [mode, roots], modes: [_, _, verified], .. } =
            tls_names(dialect);
        match (self.mode, self.roots) {
            (None | Some(0), None) if self.is_waived => Ok(Tls::Waived),
            (None | Some(0), None) => Ok(Tls::Off),
            (Some(1), None) => Ok(Tls::Unverified),
            (Some(2), Some(roots)) => Ok(Tls::Verified(roots)),
            (Some(2), None) => Err(wrong(format!("`{mode}={verified}` needs roots to trust"))
                .remedy(format!("add {roots}=/etc/ssl/certs/ca-certificates.crt, or your own"))),
            _ => Err(wrong(format!("`{roots}` verifies nothing without `{mode}={verified}`"))
                .remedy(format!("add {mode}={verified}, or leave {roots} out"))),
        }
    }
}

/// Returns a part of an address with %XX decoded.
fn decoded(text: &str) -> Result<String, PlanError> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(String::from).map_err(|_not_text| wrong("a part of the address is not text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Dialect, Dsn) {
        parse(text).expect("a right address")
    }

    fn refused(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn an_address_has_user_place_database_and_perhaps_a_password() {
        let (dialect, dsn) = read("postgresql://me:p%40%3A%2fs@db.example/bench");
        assert_eq!(
            (dialect, dsn.to_string().as_str()),
            (Dialect::Postgres, "me@db.example:5432/bench")
        );
        assert_eq!(dsn.password, Some(Password("p@:/s".to_owned())));
        assert!(dsn.has_password);
        let odd = read("postgres://me:a b\"c%zz@\u{e4}@db/x").1;
        assert_eq!(odd.password, Some(Password("a b\"c%zz@\u{e4}".to_owned())));
        let (dialect, dsn) = read("mysql://root@127.0.0.1:3307/test");
        assert_eq!(
            (dialect, dsn.to_string().as_str()),
            (Dialect::Mysql, "root@127.0.0.1:3307/test")
        );
        assert!(!dsn.has_password && dsn.password.is_none());
        assert_eq!(read("mariadb://me@[::1]/x").1.to_string(), "me@::1:3306/x");
    }

    #[test]
    fn a_password_may_come_from_the_environment() {
        let dsn = read("postgres://me:${ASSAY_PASSWORD_PG}@db/x").1;
        assert_eq!(dsn.password_from.as_deref(), Some("ASSAY_PASSWORD_PG"));
        assert!(dsn.has_password && dsn.password.is_none());
        let other = refused("postgres://me:${AWS_SECRET_ACCESS_KEY}@db/x?sslmode=require");
        assert_eq!(other, "the variable AWS_SECRET_ACCESS_KEY is not read as a password");
    }

    #[test]
    fn a_socket_is_a_query_parameter() {
        let at = |text| read(text).1.address.to_string();
        assert_eq!(at("postgres://me@localhost:5433/x?host=/run/pg"), "/run/pg/.s.PGSQL.5433");
        assert_eq!(at("mysql://me@/x?socket=/run/mysqld.sock"), "/run/mysqld.sock");
    }

    #[test]
    fn encryption_is_named_as_by_the_server_s_own_clients() {
        let tls = |text| match read(text).1.address {
            Address::Tcp { tls, .. } => tls,
            Address::Socket(path) => panic!("{path:?}"),
        };
        assert_eq!(tls("postgres://me@db/x"), Tls::Off);
        assert_eq!(tls("postgres://me@db/x?sslmode=require"), Tls::Unverified);
        assert_eq!(tls("postgres://me@db/x?require_auth=password"), Tls::Waived);
        assert_eq!(tls("mysql://me@db/x?get-server-public-key=1"), Tls::Waived);
        let both = "postgres://me@db/x?require_auth=password&sslmode=require";
        assert_eq!(tls(both), Tls::Unverified);
        assert_eq!(tls("mysql://me@db/x?ssl-mode=required"), Tls::Unverified);
        let roots = tempfile::NamedTempFile::new().unwrap();
        let roots = roots.path();
        let verified =
            format!("mysql://me@db/x?ssl-mode=VERIFY_IDENTITY&ssl-ca={}", roots.display());
        assert_eq!(tls(&verified), Tls::Verified(roots.to_owned()));
        for (text, why) in [
            ("sslmode=prefer", "`sslmode` cannot be `prefer`"),
            ("require_auth=none", "`require_auth` cannot be `none`"),
            ("sslmode=verify-full", "`sslmode=verify-full` needs roots to trust"),
            ("sslrootcert=/none", "`sslrootcert`: `/none` is not the path of a file"),
            ("host=/run&sslmode=require", "a unix socket is not encrypted"),
        ] {
            assert_eq!(refused(&format!("postgres://me@db/x?{text}")), why);
        }
        let alone = format!("postgres://me@db/x?sslmode=require&sslrootcert={}", roots.display());
        assert_eq!(refused(&alone), "`sslrootcert` verifies nothing without `sslmode=verify-full`");
    }

    #[test]
    fn errors_never_contain_the_password() {
        assert_eq!(refused("db/x"), "the address has no scheme");
        assert_eq!(refused("me:secret@db://x"), "the address has no scheme");
        assert_eq!(refused("oracle://me:secret@db/x"), "unknown server scheme `oracle://`");
        assert_eq!(refused("postgres://db/x"), "the address names no user");
        assert_eq!(refused("postgres://me@db"), "the address names no database");
        assert_eq!(refused("postgres://me@/x"), "the address names no host");
        let unescaped = "the user or the password has a character that must be escaped";
        assert_eq!(refused("postgres://me:sec#ret@db/x"), unescaped);
        assert_eq!(refused("postgres://me:a@b/c?secret@db/x"), unescaped);
        assert_eq!(refused("mysql://me:a@db/x#y"), "the address ends at a `#`");
        assert_eq!(
            refused("mysql://me@db/x?sslmode=require"),
            "`sslmode` is not understood in an address"
        );
        assert_eq!(refused("mysql://me@db/x?socket=run"), "`run` is not the path of a socket");
        assert_eq!(refused("postgres://me:secret@db:99999/x"), "the address: invalid port number");
    }
}
