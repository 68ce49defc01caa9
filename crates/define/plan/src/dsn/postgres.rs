//! Parameters of addresses of Postgres.
//!
//! Source: PostgreSQL documentation, section 34.1.2; pgJDBC, "Initializing the Driver"; Prisma,
//! "PostgreSQL", "Connection details"; asyncpg, `connect`.

use super::encryption::Mode;
use super::parameter::{Effect, EncryptionPart, ModeName, Parameters, Switch, row};

/// Source: PostgreSQL documentation, section 34.19.
const MODES: &[ModeName] = &[
    ("disable", Mode::Off),
    ("allow", Mode::Allow),
    ("prefer", Mode::Prefer),
    ("require", Mode::Require),
    ("verify-ca", Mode::Issuer),
    ("verify-full", Mode::Host),
];

/// What is done with each parameter.
pub(super) const TABLE: &[Parameters] = &[
    row("user", Effect::User),
    row("password", Effect::Password),
    row("host", Effect::Host),
    row("port", Effect::Port),
    row("dbname database", Effect::Database),
    row("socket", Effect::Socket),
    row("sslmode", Effect::Encryption(EncryptionPart::Mode(MODES))),
    row("ssl", Effect::Encryption(EncryptionPart::SwitchOr(MODES))),
    row("requiressl", Effect::Encryption(EncryptionPart::Switch(Switch::Require))),
    row("sslrootcert", Effect::Encryption(EncryptionPart::Roots)),
    row("sslcert", Effect::Encryption(EncryptionPart::Certificate)),
    row("sslkey", Effect::Encryption(EncryptionPart::Key)),
    row("require_auth", Effect::Methods),
    row("channel_binding", Effect::Binding),
    row("connect_timeout", Effect::Timeout),
    row("options", Effect::Session("options")),
    row("search_path currentSchema schema", Effect::Session("search_path")),
    row("application_name", Effect::Session("application_name")),
    row("statement_timeout", Effect::Session("statement_timeout")),
    row("timezone", Effect::Session("timezone")),
    row("target_session_attrs targetServerType", Effect::Role),
    row("client_encoding", Effect::Only(&["utf8", "utf-8", "unicode", "auto"], "sends UTF-8")),
    row("gssencmode", Effect::Only(&["disable", "prefer"], "does not use Kerberos")),
    row("sslnegotiation", Effect::Only(&["postgres"], "requests TLS in the protocol")),
    row("sslsni", Effect::Only(&["1"], "sends the host's name with TLS")),
    row(
        "ssl_min_protocol_version",
        Effect::Only(&["TLSv1", "TLSv1.1", "TLSv1.2"], "takes TLS 1.2 and 1.3"),
    ),
    row("ssl_max_protocol_version", Effect::Only(&["TLSv1.3"], "takes TLS 1.2 and 1.3")),
    row("sslcertmode", Effect::Only(&["allow"], "sends a certificate that is requested")),
    row("min_protocol_version", Effect::Only(&["3.0"], "speaks protocol 3.0")),
    row("max_protocol_version", Effect::Only(&["3.0", "latest"], "speaks protocol 3.0")),
    row("replication", Effect::Only(&["false", "off", "no", "0"], "sends SQL")),
    row(
        "fallback_application_name",
        Effect::Ignored("without `application_name` the name is assay"),
    ),
    row(
        "keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout \
         tcpKeepAlive",
        Effect::Ignored("the TCP settings of this machine apply"),
    ),
    row("sslcompression", Effect::Ignored("TLS 1.2 and 1.3 are never compressed")),
    row("load_balance_hosts", Effect::Ignored("the address names one host")),
    row("krbsrvname gsslib gssdelegation", Effect::Ignored("Assay does not use Kerberos")),
    row(
        "pgbouncer",
        Effect::Ignored("a pooler is found by Assay itself, and refused if it shares sessions"),
    ),
    row(
        "connection_limit pool_timeout pool_size max_overflow pool_recycle pool_pre_ping \
         pool_max_conns pool_min_conns socket_timeout loginTimeout statement_cache_size \
         statement_cache_mode prepared_statement_cache_size prepareThreshold \
         preparedStatementCacheQueries preparedStatementCacheSizeMiB preferQueryMode \
         binaryTransfer binary_parameters reWriteBatchedInserts defaultRowFetchSize stringtype \
         autosave loggerLevel assumeMinServerVersion default_query_exec_mode",
        Effect::Ignored(
            "this parameter belongs to a client library; `clients` sets the number of connections",
        ),
    ),
    row("hostaddr", Effect::Refused("write the numeric address instead of the host")),
    row("sslfactory", Effect::Refused("write sslmode=require, or verify-full with sslrootcert")),
    row("sslpassword", Effect::Refused("give sslkey a file with a key that is not encrypted")),
    row("sslcrl sslcrldir", Effect::Refused("leave the list out: revocations are not checked")),
    row(
        "requirepeer",
        Effect::Refused("the socket's owner is not checked: leave the parameter out"),
    ),
    row("sslkeylogfile", Effect::Refused("session keys are never written: leave the file out")),
    row("scram_client_key scram_server_key", Effect::Refused("give the password instead")),
    row(
        "passfile",
        Effect::Refused(
            "put the password into ASSAY_PASSWORD_NAME and write ${ASSAY_PASSWORD_NAME}",
        ),
    ),
    row(
        "service servicefile",
        Effect::Refused("write what the service states: user, host, port and database"),
    ),
];
