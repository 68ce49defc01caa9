//! Authentication methods of Postgres, and remedies for refused logins.

use model::{Address, Endpoint};

use super::failure::{ErrorResponse, Failure};

/// Authentication request codes.
///
/// Source: Postgres' documentation, "Message Formats", `Authentication...`.
pub(super) mod authentication {
    pub(crate) const NOTHING: u32 = 0;
    pub(super) const KERBEROS: u32 = 2;
    pub(crate) const CLEARTEXT: u32 = 3;
    pub(crate) const MD5: u32 = 5;
    pub(super) const GSS: u32 = 7;
    pub(super) const SSPI: u32 = 9;
    pub(crate) const SASL: u32 = 10;
    pub(crate) const SASL_CONTINUE: u32 = 11;
    pub(crate) const SASL_FINAL: u32 = 12;
}

/// Returns the failure of a login by a method that is not spoken here.
#[cold]
pub(super) fn impossible(endpoint: &Endpoint, kind: u32, data: &[u8]) -> Failure {
    let mechanisms = String::from_utf8_lossy(data).replace('\0', " ");
    let method = match kind {
        authentication::KERBEROS | authentication::GSS => "gss (Kerberos)".to_owned(),
        authentication::SSPI => "sspi (Windows)".to_owned(),
        authentication::SASL if mechanisms.contains("OAUTHBEARER") => "oauth (OAuth)".to_owned(),
        authentication::SASL if mechanisms.contains("-PLUS") => {
            "SCRAM with channel binding alone (channel_binding=require in the dsn)".to_owned()
        }
        authentication::SASL => format!("SASL by {}", mechanisms.trim()),
        number => format!("the method of number {number}"),
    };
    Failure::Rejected(format!(
        "the server requires {method} of `{}`, which is not supported: put a line for this role \
         with scram-sha-256 before the other lines of pg_hba.conf, and give the role a password",
        endpoint.user
    ))
}

/// A remedy for errors of a login that have this text.
struct Remedy {
    text: &'static str,
    remedy: &'static str,
}

/// Remedies by parts of messages in lower case; the first that fits is given.
///
/// Source: Postgres' source, `auth_failed` in `auth.c`, `InitPostgres` in `postinit.c`;
/// `PgBouncer`'s source, `set_startup_options` in `client.c`.
#[rustfmt::skip]
const REMEDIES: [Remedy; 20] = [
    Remedy { text: "peer authentication failed",
        remedy: "peer compares the role with the account of this machine that runs Assay: run \
            Assay as the account of that name, map the account in pg_ident.conf, or put a line \
            with scram-sha-256 for the role into pg_hba.conf and give the role a password" },
    Remedy { text: "ident authentication failed",
        remedy: "ident requests the account from this machine: put a line with scram-sha-256 \
            for the role into pg_hba.conf and give the role a password" },
    Remedy { text: "valid client certificate",
        remedy: "give the certificate of the role and its key in the dsn (sslcert, sslkey), or \
            put a line with scram-sha-256 for the role into pg_hba.conf" },
    Remedy { text: "certificate authentication failed",
        remedy: "the common name of the client certificate must be the role: give the \
            certificate of the role, map the name in pg_ident.conf, or put a line with \
            scram-sha-256 into pg_hba.conf" },
    Remedy { text: "password authentication failed",
        remedy: "give the right user and password in the dsn; if pg_hba.conf requires \
                 scram-sha-256 and the password is stored as md5, or the role has no password or its \
                 VALID UNTIL has passed, set the password again" },
    Remedy { text: "ldap authentication failed",
        remedy: "give the user and password of the directory in the dsn" },
    Remedy { text: "gssapi authentication failed",
        remedy: "put a line with scram-sha-256 for the role into pg_hba.conf" },
    Remedy { text: REJECTED,
        remedy: "a reject line of pg_hba.conf matches this role, database and host: permit them in \
                 an earlier line, or add ?sslmode=require to the dsn if the reject line begins \
                 with hostnossl" },
    Remedy { text: "pg_hba.conf",
        remedy: "permit this role, database and host in pg_hba.conf of the server" },
    Remedy { text: "not permitted to log in",
        remedy: "name another role, or permit the role to log in by ALTER ROLE ... LOGIN" },
    Remedy { text: "not currently accepting connections",
        remedy: "permit them by ALTER DATABASE ... ALLOW_CONNECTIONS true, or name another \
            database in the dsn" },
    Remedy { text: "too many connections for",
        remedy: "raise this CONNECTION LIMIT by ALTER ROLE or ALTER DATABASE, or use fewer \
            clients" },
    Remedy { text: "connection slots are reserved", remedy: FULL },
    Remedy { text: "too many clients already", remedy: FULL },
    Remedy { text: "the database system is",
        remedy: "wait until the server takes connections, and see the log of the server" },
    Remedy { text: "does not exist",
        remedy: "create the role or database on the server, or correct the dsn" },
    Remedy { text: "permission denied for database",
        remedy: "GRANT CONNECT ON DATABASE to this role as the owner of the database, or name \
                 another database in the dsn" },
    Remedy { text: "invalid command-line argument",
        remedy: "write options=-c%20NAME%3DVALUE in the dsn, or leave options out" },
    Remedy { text: "parameter \"",
        remedy: "correct or remove this parameter where it is stated: in the dsn, for the role \
            or in the variant" },
    Remedy { text: "unsupported startup parameter",
        remedy: "a pooler answers: name the server itself in the dsn, or list the parameter in \
            ignore_startup_parameters of PgBouncer and set it for the role or the database" },
];
/// Remedy for a server without room for a connection.
const FULL: &str =
    "raise max_connections on the server, end connections of others, or use fewer clients";
/// Part of the message about a `reject` line of `pg_hba.conf`.
const REJECTED: &str = "pg_hba.conf rejects";
/// Messages of a server that requires TLS.
const REQUIRES_TLS: [&str; 4] =
    ["no encryption", "ssl off", "ssl connection is required", "ssl is required"];

/// Remedy for a server that requires TLS.
const ADD_TLS: &str = "add ?sslmode=require to the dsn, or sslmode=verify-full with \
                       sslrootcert=FILE; where pg_hba.conf has no line for this role, database \
                       and host at all, add a line";

/// Adds the remedy to an error of a login; one that requires TLS has it without TLS only.
pub(super) fn with_remedy(mut error_response: ErrorResponse, endpoint: &Endpoint) -> Failure {
    let message = error_response.message.to_ascii_lowercase();
    let is_plain =
        matches!(endpoint.address, Address::Tcp { .. }) && !endpoint.address.is_encrypted();
    let requires_tls = is_plain
        && !message.contains(REJECTED)
        && REQUIRES_TLS.iter().any(|text| message.contains(text));
    let remedy = match requires_tls {
        true => Some(ADD_TLS),
        false => REMEDIES.iter().find(|it| message.contains(it.text)).map(|it| it.remedy),
    };
    if let Some(remedy) = remedy {
        remedy.clone_into(&mut error_response.hint);
    }
    Failure::Refused(Box::new(error_response))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_login_has_the_remedy() {
        let endpoint = Endpoint {
            address: Address::tcp("h", 1),
            user: "bench".to_owned(),
            password: None,
            database: "d".to_owned(),
            is_foreign: true,
            login: model::LoginOptions::default(),
        };
        for (message, remedy) in [
            (
                "no pg_hba.conf entry for host \"::1\", user \"u\", no encryption",
                "?sslmode=require",
            ),
            ("no pg_hba.conf entry for host \"::1\", user \"u\", SSL encryption", "permit this"),
            ("pg_hba.conf rejects connection for host \"h\", no encryption", "a reject line"),
            ("unsupported startup parameter: synchronous_commit", "name the server itself"),
            ("Peer authentication failed for user \"u\"", "account of this machine"),
            ("Ident authentication failed for user \"u\"", "scram-sha-256"),
            ("connection requires a valid client certificate", "sslcert"),
            ("certificate authentication failed for user \"u\"", "common name"),
            ("password authentication failed for user \"u\"", "stored as md5"),
            ("LDAP authentication failed for user \"u\"", "of the directory"),
            ("too many connections for role \"u\"", "CONNECTION LIMIT"),
            ("database \"d\" does not exist", "create the role or database"),
            ("the database system is starting up", "wait until the server"),
            ("sorry, too many clients already", "max_connections"),
            ("permission denied for database \"d\"", "GRANT CONNECT"),
            ("invalid command-line argument for server process: project=foo", "leave options out"),
            ("unrecognized configuration parameter \"nosuch\"", "for the role"),
            ("invalid value for parameter \"TimeZone\": \"Nope\"", "correct or remove"),
        ] {
            let error = ErrorResponse { message: message.to_owned(), ..ErrorResponse::default() };
            let text = with_remedy(error, &endpoint).to_string();
            assert!(text.contains(remedy), "{text}");
        }
    }
}
