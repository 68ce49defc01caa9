//! Schemes of server addresses.

use model::Dialect;

/// A scheme, which may name a driver as JDBC and `SQLAlchemy` do.
pub struct Scheme {
    /// The server family, in lower case.
    pub family: String,
    /// The family's dialect; `None` for an unknown one.
    pub dialect: Option<Dialect>,
}

impl Scheme {
    /// Reads what stands in front of `://`; `None` where it cannot be a scheme.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.to_ascii_lowercase();
        let prefixes = ["jdbc:", "r2dbc:"];
        let plain = prefixes.iter().find_map(|it| plain.strip_prefix(it)).unwrap_or(&plain);
        let (family, driver) = plain.split_once('+').unwrap_or((plain, ""));
        let is_name =
            |text: &str| text.chars().all(|it| it.is_ascii_alphanumeric() || "_-.".contains(it));
        if family.is_empty() || !is_name(family) || !is_name(driver) {
            return None;
        }
        let dialect = match family {
            "postgres" | "postgresql" | "postgis" | "pgsql" | "cockroach" | "cockroachdb" => {
                Some(Dialect::Postgres)
            }
            "mysql" | "mysql2" | "mysqli" | "mariadb" | "trilogy" => Some(Dialect::Mysql),
            _ => None,
        };
        Some(Self { family: family.to_owned(), dialect })
    }
}
