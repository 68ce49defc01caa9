//! Parses the parts of a server address.

use model::{Dialect, Dsn};
use reader::Scheme;
use reader::error::PlanError;

use super::draft::Draft;
use super::pasted::{form_of_go, is_of_go, unwrapped};
use super::text::{check_expanded, decoded, wrong};

/// The address of a server.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The dialect of its scheme.
    pub(crate) dialect: Dialect,
    /// What it states.
    pub(crate) dsn: Dsn,
}

/// Returns the error of an address with an `@` behind its closing quote.
///
/// It quotes nothing: what the address has after its last `@` may be of the password.
pub(crate) fn ended_by_quote() -> PlanError {
    wrong("the address ends at a quote, and an `@` follows on its line")
        .remedy("write a quote in a password as %27 or %22, and move a comment to its own line")
}

/// Reads an address.
pub(crate) fn parse(text: &str) -> Result<Parsed, PlanError> {
    let text = unwrapped(text)?;
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let dialect = dialect(scheme)?;
    let mut draft = Draft::of(dialect);
    let place = match rest.rsplit_once('@') {
        // Of several `@` the last one ends the password. What follows holds no secret.
        Some((login, place)) => {
            if login.contains(['/', '?', '#']) {
                return Err(wrong("a `/`, `?` or `#` stands before the last `@`").remedy(
                    "write `/`, `?`, `#` and `%` in user and password as %2F, %3F, %23 and %25, \
                     and an `@` behind the host as %40",
                ));
            }
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            check_expanded(user, "user")?;
            draft.set_user(decoded(user, "user")?)?;
            draft.set_password(password)?;
            place
        }
        None => rest,
    };
    if place.contains('#') {
        return Err(wrong("the address ends at a `#`")
            .remedy("write a `#` in a name, a password or a parameter as %23"));
    }
    let (path, query) = place.split_once('?').unwrap_or((place, ""));
    if is_of_go(path) {
        return Err(form_of_go());
    }
    if path.contains("://") {
        return Err(wrong("a second scheme stands in front of the host")
            .remedy("leave out the second scheme: write user@host:port/database"));
    }
    let (host, database) = path.split_once('/').unwrap_or((path, ""));
    draft.read_parameters(query)?;
    draft.set_database(database)?;
    draft.check_user()?;
    draft.set_place(host)?;
    Ok(Parsed { dialect, dsn: draft.finish()? })
}

/// Returns the dialect of a scheme.
fn dialect(scheme: &str) -> Result<Dialect, PlanError> {
    let Some(Scheme { family, dialect }) = Scheme::parse(scheme) else {
        if scheme.starts_with("jdbc:") {
            return Err(wrong("the scheme has more than `jdbc:` and the name of a server")
                .remedy("write jdbc:mysql:// or jdbc:postgresql://: a run measures one server"));
        }
        return Err(wrong("the address has no scheme"));
    };
    let Some(dialect) = dialect else { return Err(unknown(&family)) };
    // An addition that demands something is not the name of a driver.
    if let Some((_, driver)) = scheme.split_once('+')
        && ["", "ssl", "tls", "srv"].contains(&driver.to_ascii_lowercase().as_str())
    {
        return Err(wrong(format!("`+{driver}` is not understood in a scheme")).remedy(
            "leave out the `+` and what follows; the parameter sslmode=require (MySQL: \
             ssl-mode=REQUIRED) demands encryption",
        ));
    }
    Ok(dialect)
}

/// Returns the error of the address of something else.
fn unknown(family: &str) -> PlanError {
    let error = wrong(format!("unknown server scheme `{family}://`"));
    match family {
        "mysqlx" => wrong("mysqlx:// is MySQL's X protocol, which Assay does not speak")
            .remedy("write mysql:// and the port of the classic protocol, 3306 by default"),
        "sqlite" | "sqlite3" | "rocksdb" | "lmdb" | "duckdb" | "file" => error.remedy(
            "an engine without a server has a name instead of an address: sqlite, \
             rocksdb@VERSION; `assay engine list` shows all",
        ),
        _ => error.remedy(
            "Assay measures servers that speak the protocol of Postgres or MySQL: write \
             postgres://... or mysql://...",
        ),
    }
}
