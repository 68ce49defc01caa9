//! Parameters of addresses of MySQL and MariaDB.
//!
//! Source: MySQL reference manual, section 6.2.3; Connector/J developer guide, section 3.5.3;
//! MariaDB Connector/J, "About"; Go-MySQL-Driver, "Parameters"; Prisma, "MySQL", "Connection
//! details"; `PyMySQL`, `Connection`.

use super::encryption::Mode;
use super::parameter::{Effect, EncryptionPart, ModeName, Parameters, Switch, row};

/// Source: MySQL reference manual, section 6.2.3, `--ssl-mode`; MariaDB Connector/J, `sslMode`.
const MODES: &[ModeName] = &[
    ("DISABLED", Mode::Off),
    ("PREFERRED", Mode::Prefer),
    ("REQUIRED", Mode::Require),
    ("VERIFY_CA", Mode::Issuer),
    ("VERIFY_IDENTITY", Mode::Host),
    ("disable", Mode::Off),
    ("trust", Mode::Require),
    ("verify-ca", Mode::Issuer),
    ("verify-full", Mode::Host),
];
/// Source: Go-MySQL-Driver, `tls`.
const GO_MODES: &[ModeName] = &[
    ("false", Mode::Off),
    ("preferred", Mode::Prefer),
    ("skip-verify", Mode::Require),
    ("true", Mode::HostOfSystem),
];
/// Source: Prisma, "MySQL", `sslaccept`.
const PRISMA_MODES: &[ModeName] =
    &[("accept_invalid_certs", Mode::Require), ("strict", Mode::HostOfSystem)];

const OTHER_CLIENT: &str =
    "this parameter belongs to a client library; `clients` sets the number of connections";

/// What is done with each parameter.
pub(super) const TABLE: &[Parameters] = &[
    row("user", Effect::User),
    row("password", Effect::Password),
    row("host", Effect::Host),
    row("port", Effect::Port),
    row("socket unix_socket localSocket", Effect::Socket),
    row("ssl-mode", Effect::Encryption(EncryptionPart::Mode(MODES))),
    row("tls", Effect::Encryption(EncryptionPart::Mode(GO_MODES))),
    row("sslaccept", Effect::Encryption(EncryptionPart::Mode(PRISMA_MODES))),
    row("useSSL", Effect::Encryption(EncryptionPart::Switch(Switch::Encrypt))),
    row("requireSSL", Effect::Encryption(EncryptionPart::Switch(Switch::Require))),
    row("verifyServerCertificate", Effect::Encryption(EncryptionPart::Switch(Switch::Verify))),
    row("ssl-ca serverSslCert", Effect::Encryption(EncryptionPart::Roots)),
    row("ssl-cert", Effect::Encryption(EncryptionPart::Certificate)),
    row("ssl-key", Effect::Encryption(EncryptionPart::Key)),
    row(
        "get-server-public-key allowPublicKeyRetrieval",
        Effect::Encryption(EncryptionPart::Waiver),
    ),
    row("connect_timeout connectTimeout timeout", Effect::Timeout),
    row("protocol", Effect::Transport),
    row(
        "charset characterEncoding characterSetResults connectionCollation collation useUnicode",
        Effect::Ignored("the server's character set is used, so no text is converted"),
    ),
    row(
        "parseTime loc serverTimezone connectionTimeZone useLegacyDatetimeCode \
         zeroDateTimeBehavior useTimezone",
        Effect::Ignored("times are sent and compared in the server's format"),
    ),
    row(
        "autoReconnect maxReconnects failOverReadOnly",
        Effect::Ignored("Assay opens a lost connection again, and counts the loss"),
    ),
    row(
        "compress useCompression compression-algorithms",
        Effect::Ignored("connections are not compressed"),
    ),
    row(
        "tls-version enabledTLSProtocols tlsVersions",
        Effect::Ignored("Assay takes TLS 1.2 and 1.3"),
    ),
    row(
        "rewriteBatchedStatements cachePrepStmts prepStmtCacheSize prepStmtCacheSqlLimit \
         useServerPrepStmts useCursorFetch defaultFetchSize useLocalSessionState \
         elideSetAutoCommits maintainTimeStats cacheResultSetMetadata cacheServerConfiguration \
         cacheCallableStmts jdbcCompliantTruncation tinyInt1isBit nullCatalogMeansCurrent \
         noAccessToProcedureBodies allowMultiQueries multiStatements interpolateParams \
         clientFoundRows columnsWithAlias maxAllowedPacket readTimeout writeTimeout socketTimeout \
         socket_timeout read_timeout write_timeout connection_limit pool_timeout pool pool_size \
         max_overflow pool_recycle pool_pre_ping reconnect encoding prepared_statements \
         statement_cache_size permitMysqlScheme allowNativePasswords checkConnLiveness \
         rejectReadOnly dumpQueriesOnException useInformationSchema",
        Effect::Ignored(OTHER_CLIENT),
    ),
    row(
        "allowCleartextPasswords",
        Effect::Ignored("the password itself is sent only encrypted or over a unix socket"),
    ),
    row("ssl", Effect::Refused("write ssl-mode=VERIFY_IDENTITY&ssl-ca=system, or REQUIRED")),
    row(
        "ssl-verify-server-cert ssl_verify_cert ssl_verify_identity",
        Effect::Refused("write ssl-mode=VERIFY_IDENTITY, or ssl-mode=VERIFY_CA"),
    ),
    row("ssl_disabled", Effect::Refused("write ssl-mode=DISABLED, or ssl-mode=REQUIRED")),
    row("ssl-capath", Effect::Refused("name one file of roots by ssl-ca")),
    row("ssl-crl ssl-crlpath", Effect::Refused("leave the list out: revocations are not checked")),
    row("sslpassword", Effect::Refused("give ssl-key a file with a key that is not encrypted")),
    row(
        "trustCertificateKeyStoreUrl trustStore clientCertificateKeyStoreUrl keyStore sslidentity",
        Effect::Refused("name PEM files by ssl-ca, ssl-cert and ssl-key"),
    ),
    row(
        "server-public-key-path serverRSAPublicKeyFile",
        Effect::Refused("write ssl-mode=REQUIRED"),
    ),
    row(
        "init_command sessionVariables sql_mode autocommit",
        Effect::Refused("set the parameter at the server, which Assay does not configure"),
    ),
    row(
        "default-auth authPlugins auth_plugin defaultAuthenticationPlugin",
        Effect::Refused("leave the parameter out: the server names the method of the login"),
    ),
];
