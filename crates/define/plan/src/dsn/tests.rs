use model::{Address, AuthMethod, Dialect, Dsn, Password, ServerRole, Tls};

use super::parameter::names;
use super::{mysql, parse, postgres};

/// Asserts how many rows a table has, at least: an empty one passes no test.
const ROWS_MIN: usize = 5;

fn read(text: &str) -> Dsn {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).dsn
}

fn refused(text: &str) -> String {
    match parse(text) {
        Err(error) => error.to_string(),
        Ok(parsed) => panic!("{text} is {}", parsed.dsn),
    }
}

/// Returns the encryption of an address.
fn tls(text: &str) -> Tls {
    match read(text).address {
        Address::Tcp { tls, .. } => tls,
        Address::Socket(path) => panic!("{path:?}"),
    }
}

/// Checks the errors of addresses, each by what is in front of `{}`.
fn check_refused(form: &str, rows: &[(&str, &str)]) {
    assert!(rows.len() >= ROWS_MIN);
    for (part, expected) in rows {
        let text = form.replace("{}", part);
        assert_eq!(refused(&text), *expected, "{text}");
    }
}

#[test]
fn an_address_has_user_place_database_and_perhaps_a_password() {
    for (text, dialect, shown) in [
        ("postgresql://me:x@db.example/bench", Dialect::Postgres, "me@db.example:5432/bench"),
        ("mysql://root@127.0.0.1:3307/test", Dialect::Mysql, "root@127.0.0.1:3307/test"),
        ("MARIADB://me@[::1]/x", Dialect::Mysql, "me@[::1]:3306/x"),
        ("  'postgres://me@h/x'\n", Dialect::Postgres, "me@h:5432/x"),
        ("postgresql+psycopg2://me@h/x", Dialect::Postgres, "me@h:5432/x"),
        ("postgresql+asyncpg://me@h/x", Dialect::Postgres, "me@h:5432/x"),
        ("postgis://me@h/x", Dialect::Postgres, "me@h:5432/x"),
        ("pgsql://me@h/x", Dialect::Postgres, "me@h:5432/x"),
        ("cockroachdb://me@h:26257/x", Dialect::Postgres, "me@h:26257/x"),
        ("jdbc:postgresql://h:1/x?user=me&password=p", Dialect::Postgres, "me@h:1/x"),
        ("jdbc:mysql://h/x?user=me&password=p", Dialect::Mysql, "me@h:3306/x"),
        ("jdbc:mariadb://h/x?user=me", Dialect::Mysql, "me@h:3306/x"),
        ("mysql+pymysql://me@h/x", Dialect::Mysql, "me@h:3306/x"),
        ("mysql2://me@h/x", Dialect::Mysql, "me@h:3306/x"),
        ("postgres:///x?host=h&port=6432&user=me", Dialect::Postgres, "me@h:6432/x"),
        ("postgres://me@h?dbname=x", Dialect::Postgres, "me@h:5432/x"),
        ("postgres://me@[fe80::1%25eth0]:1/x", Dialect::Postgres, "me@[fe80::1%eth0]:1/x"),
        ("postgres://me@[fe80::1%eth0]/x", Dialect::Postgres, "me@[fe80::1%eth0]:5432/x"),
        ("postgres:///x?user=me&host=::1", Dialect::Postgres, "me@[::1]:5432/x"),
        ("postgres://a%40b@h/x%2Fy", Dialect::Postgres, "a%40b@h:5432/x%2Fy"),
    ] {
        let parsed = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((parsed.dialect, parsed.dsn.to_string().as_str()), (dialect, shown), "{text}");
    }
}

#[test]
fn a_password_is_what_stands_before_the_last_at() {
    for (text, password) in [
        ("postgresql://me:p%40%3A%2fs@db/x", Some("p@:/s")),
        ("postgres://me:a b\"c@\u{e4}@db/x", Some("a b\"c@\u{e4}")),
        ("postgres://me:a$1@db/x", Some("a$1")),
        ("postgres://me:%3Ca%24b%3E@db/x", Some("<a$b>")),
        ("postgres://me:%24b@db/x", Some("$b")),
        ("postgres://db/x?user=me&password=a%26b", Some("a&b")),
        ("postgres://me@db/x", None),
        ("postgres://me:@db/x", None),
    ] {
        let dsn = read(text);
        assert_eq!(dsn.has_password, password.is_some(), "{text}");
        assert_eq!(dsn.password, password.map(|it| Password(it.to_owned())), "{text}");
    }
}

#[test]
fn a_password_may_come_from_the_environment() {
    for text in [
        "postgres://me:${ASSAY_PASSWORD_PG}@db/x",
        "jdbc:postgresql://db/x?user=me&password=${ASSAY_PASSWORD_PG}",
    ] {
        let dsn = read(text);
        assert_eq!(dsn.password_from.as_deref(), Some("ASSAY_PASSWORD_PG"));
        assert!(dsn.has_password && dsn.password.is_none());
    }
    let other = refused("postgres://me:${AWS_SECRET_ACCESS_KEY}@db/x?sslmode=require");
    assert_eq!(other, "the variable AWS_SECRET_ACCESS_KEY is not read as a password");
}

#[test]
fn a_socket_is_named_as_by_the_server_s_own_clients() {
    for (text, path) in [
        ("postgres://me@localhost:5433/x?host=/run/pg", "/run/pg/.s.PGSQL.5433"),
        ("postgres://me@%2Ftmp%2Fsock/x", "/tmp/sock/.s.PGSQL.5432"),
        ("postgres://me@%2Ftmp:6000/x", "/tmp/.s.PGSQL.6000"),
        ("postgres:///x?host=/tmp&user=me&sslmode=prefer", "/tmp/.s.PGSQL.5432"),
        ("mysql://me@/x?socket=/run/mysqld.sock", "/run/mysqld.sock"),
        ("mysql+pymysql://me@localhost/x?unix_socket=/run/s", "/run/s"),
        ("mysql://me@%2Frun%2Fs/x?protocol=socket", "/run/s"),
    ] {
        assert_eq!(read(text).address.to_string(), path, "{text}");
    }
    assert_eq!(refused("mysql://me@db/x?socket=run"), "`run` is not the path of a socket");
    let encrypted = refused("postgres://me@db/x?host=/run&sslmode=require");
    assert_eq!(encrypted, "a unix socket is not encrypted");
    let twice = refused("mysql://me@%2Frun%2Fs/x?socket=/run/t");
    assert_eq!(twice, "the address states the socket twice");
    let none = refused("mysql://me@db/x?protocol=socket");
    assert_eq!(none, "the address demands a unix socket and names none");
    let both = refused("mysql://me@/x?socket=/run/s&protocol=TCP");
    assert_eq!(both, "the address demands TCP and names a unix socket");
}

#[test]
fn encryption_is_named_as_by_the_server_s_own_clients() {
    let roots = tempfile::NamedTempFile::new().unwrap();
    let path = || roots.path().to_owned();
    for (text, expected) in [
        ("postgres://me@db/x", Tls::Off),
        ("postgres://me@db/x?sslmode=disable", Tls::Off),
        ("postgres://me@db/x?sslmode=allow", Tls::Allowed),
        ("postgres://me@db/x?sslmode=prefer", Tls::Preferred),
        ("postgres://me@db/x?sslmode=require", Tls::Unverified),
        ("postgresql+asyncpg://me@db/x?ssl=require", Tls::Unverified),
        ("postgres://me@db/x?sslmode=require&sslrootcert=FILE", Tls::VerifiedIssuer(path())),
        ("postgres://me@db/x?sslmode=verify-ca&sslrootcert=FILE", Tls::VerifiedIssuer(path())),
        ("postgres://me@db/x?sslmode=verify-full&sslrootcert=FILE", Tls::Verified(path())),
        ("postgres://me@db/x?sslrootcert=system", Tls::Verified("system".into())),
        ("postgres://me@db/x?ssl=true", Tls::Verified("system".into())),
        ("postgres://me@db/x?ssl=true&sslrootcert=FILE", Tls::Verified(path())),
        ("postgres://me@db/x?ssl=true&sslmode=require", Tls::Unverified),
        ("postgres://me@db/x?ssl=false", Tls::Off),
        ("postgres://me@db/x?requiressl=1", Tls::Unverified),
        ("postgres://me@db/x?require_auth=scram-sha-256", Tls::Off),
        ("postgres://me@db/x?require_auth=password", Tls::Waived),
        ("postgres://me@db/x?require_auth=password&sslmode=require", Tls::Unverified),
        ("mysql://me@db/x?ssl-mode=DISABLED", Tls::Off),
        ("mysql://me@db/x?ssl-mode=preferred", Tls::Preferred),
        ("mysql://me@db/x?sslMode=REQUIRED", Tls::Unverified),
        ("mysql://me@db/x?ssl_mode=VERIFY_CA&ssl_ca=FILE", Tls::VerifiedIssuer(path())),
        ("mysql://me@db/x?ssl-mode=VERIFY_IDENTITY&ssl-ca=FILE", Tls::Verified(path())),
        ("mysql://me@db/x?ssl-mode=VERIFY_IDENTITY&ssl-ca=system", Tls::Verified("system".into())),
        ("mysql://me@db/x?ssl-ca=FILE", Tls::VerifiedIssuer(path())),
        (
            "jdbc:mariadb://db/x?user=me&sslMode=verify-full&serverSslCert=FILE",
            Tls::Verified(path()),
        ),
        ("mysql://me@db/x?tls=true", Tls::Verified("system".into())),
        ("mysql://me@db/x?tls=skip-verify", Tls::Unverified),
        ("mysql://me@db/x?sslaccept=strict", Tls::Verified("system".into())),
        ("mysql://me@db/x?useSSL=false", Tls::Off),
        ("mysql://me@db/x?useSSL=true", Tls::Preferred),
        ("mysql://me@db/x?useSSL=true&requireSSL=true", Tls::Unverified),
        ("mysql://me@db/x?useSSL=true&sslMode=REQUIRED", Tls::Unverified),
        (
            "mysql://me@db/x?useSSL=true&verifyServerCertificate=true&ssl-ca=FILE",
            Tls::VerifiedIssuer(path()),
        ),
        ("mysql://me@db/x?get-server-public-key=1", Tls::Waived),
        ("mysql://me@db/x?allowPublicKeyRetrieval=true", Tls::Waived),
        ("mysql://me@db/x?allowPublicKeyRetrieval=false", Tls::Off),
    ] {
        let text = text.replace("FILE", &roots.path().display().to_string());
        assert_eq!(tls(&text), expected, "{text}");
    }
    let file = roots.path().display().to_string();
    let certified =
        read(&format!("postgres://me@db/x?sslmode=require&sslcert={file}&sslkey={file}"));
    assert_eq!(certified.login.certificate.expect("it is stated").key, path());
}

/// The error of switches that demand more than the mode.
const LESS: &str = "two parameters demand different degrees of encryption";

#[test]
fn encryption_whose_parts_disagree_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let file = file.path().display().to_string();
    let with = |text: &str| refused(&format!("postgres://me@db/x?{}", text.replace("FILE", &file)));
    for (text, why) in [
        ("sslmode=verify", "`sslmode` cannot be `verify`"),
        ("require_auth=gss", "`require_auth` cannot be `gss`"),
        ("require_auth=md5,!password", "`require_auth` cannot be `md5,!password`"),
        ("require_auth=scram", "`require_auth` cannot be `scram`"),
        ("sslmode=verify-full", "`sslmode=verify-full` needs roots to trust"),
        ("sslmode=verify-ca", "`sslmode=verify-ca` needs roots to trust"),
        (
            "sslmode=verify-ca&sslrootcert=system",
            "`sslrootcert=system` needs `sslmode=verify-full`",
        ),
        ("sslrootcert=/none", "`sslrootcert`: `/none` is not the path of a file"),
        ("sslrootcert=FILE", "`sslrootcert` verifies nothing without `sslmode=verify-full`"),
        (
            "sslmode=prefer&sslrootcert=FILE",
            "`sslrootcert` verifies nothing without `sslmode=verify-full`",
        ),
        ("sslmode=require&ssl=disable", "the address states the encryption twice"),
        ("sslmode=disable&ssl=true", LESS),
        ("sslmode=require&ssl=false", LESS),
        ("sslmode=prefer&requiressl=1", LESS),
        ("ssl=maybe", "`ssl` cannot be `maybe`"),
        (
            "sslmode=require&sslcert=FILE",
            "a client's certificate needs a key, and a key its certificate",
        ),
        ("sslcert=FILE&sslkey=FILE", "a client's certificate needs an encrypted connection"),
        ("channel_binding=require", "`channel_binding=require` needs an encrypted connection"),
    ] {
        assert_eq!(with(text), why);
    }
    for switches in [
        "useSSL=false&requireSSL=true",
        "useSSL=true&sslMode=DISABLED",
        "verifyServerCertificate=true&sslMode=REQUIRED",
    ] {
        assert_eq!(refused(&format!("mysql://me@db/x?{switches}")), LESS, "{switches}");
    }
}

#[test]
fn parameters_are_obeyed_or_have_a_note() {
    let login = read(
        "postgres://me@db/x?connect_timeout=10&options=-c%20search_path%3Dy&application_name=a+b&\
         target_session_attrs=read-write&sslmode=require&channel_binding=require",
    )
    .login;
    assert_eq!((login.timeout_ms, login.role), (Some(10_000), Some(ServerRole::ReadWrite)));
    let session: Vec<_> = login.session.iter().map(|it| format!("{}={}", it.0, it.1)).collect();
    assert_eq!(session, ["application_name=a+b", "options=-c search_path=y"]);
    assert!(login.binds_channel);
    for (text, timeout_ms) in [
        ("mysql://me@db/x?connectTimeout=1500", Some(1500)),
        ("mysql://me@db/x?connect_timeout=3", Some(3000)),
        ("mysql://me@db/x?timeout=1500ms", Some(1500)),
        ("postgres://me@db/x?connectTimeout=3", Some(3000)),
        ("postgres://me@db/x?connect_timeout=0", None),
    ] {
        assert_eq!(read(text).login.timeout_ms, timeout_ms, "{text}");
    }
    for (written, methods) in [
        ("scram-sha-256", &[AuthMethod::Scram][..]),
        ("gss,md5,scram-sha-256", &[AuthMethod::Md5, AuthMethod::Scram]),
        ("!password,!none", &[AuthMethod::Md5, AuthMethod::Scram]),
    ] {
        let found = read(&format!("postgres://me@db/x?require_auth={written}")).login.methods;
        assert_eq!(found, methods, "{written}");
    }
    let schema = read("jdbc:postgresql://db/x?user=me&currentSchema=s").login.session;
    assert_eq!(schema.get("search_path").map(String::as_str), Some("s"));
    let notes = read(
        "postgres://me@db/x?pgbouncer=true&keepalives=1&connection_limit=5&sslsni=1&\
         client_encoding=UTF8&ssl_min_protocol_version=TLSv1.2&connect_timeout=0",
    )
    .notes;
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(notes[0].starts_with("`pgbouncer` has no effect: a pooler is"), "{notes:?}");
    let notes = read(
        "mysql://me@db/x?charset=utf8mb4&parseTime=true&loc=Local&autoReconnect=true&compress=1&\
         serverTimezone=UTC",
    )
    .notes;
    assert_eq!(notes.len(), 6, "{notes:?}");
}

#[test]
fn a_wrong_parameter_is_named() {
    check_refused(
        "postgres://me@db/x?{}",
        &[
            ("sslmode=require&sslmode=disable", "the address states `sslmode` twice"),
            ("sslmode=require&ssl-mode=require", "the address states `ssl-mode` twice"),
            ("schema=a&search_path=b", "the address states search_path twice"),
            ("ssl_mod=require", "`ssl_mod` is not understood in an address"),
            ("sslmode", "`sslmode` has no value"),
            ("user=you", "the address states the user twice"),
            ("host=other", "the address states the host twice"),
            ("host=/run", "the address states a host and a socket"),
            ("connect_timeout=soon", "`connect_timeout` cannot be `soon`"),
            ("target_session_attrs=standby", "`target_session_attrs` cannot be `standby`"),
            ("channel_binding=yes", "`channel_binding` cannot be `yes`"),
            ("client_encoding=latin1", "`client_encoding` cannot be `latin1`"),
            ("gssencmode=require", "`gssencmode` cannot be `require`"),
            ("sslnegotiation=direct", "`sslnegotiation` cannot be `direct`"),
            ("ssl_min_protocol_version=TLSv1.3", "`ssl_min_protocol_version` cannot be `TLSv1.3`"),
            ("passfile=/x", "`passfile` is not supported in an address"),
            ("service=x", "`service` is not supported in an address"),
            ("requirepeer=x", "`requirepeer` is not supported in an address"),
            (
                "application_name=%zz",
                "a `%` in the value of `application_name` is not followed by two \
            hexadecimal digits",
            ),
        ],
    );
    let help = |text| miette::Diagnostic::help(&parse(text).unwrap_err()).map(|it| it.to_string());
    let near = help("postgres://me@db/x?ssl_mod=require").unwrap();
    assert_eq!(near, "did you mean `sslmode`?");
    let mysql = refused("mysql://me@db/x?sslmode=require");
    assert_eq!(mysql, "`sslmode` cannot be `require`");
    let json = refused("mysql://me@db/x?ssl={\"rejectUnauthorized\":true}");
    assert_eq!(json, "`ssl` is not supported in an address");
}

#[test]
fn a_wrong_address_has_an_error_that_names_what_is_wrong() {
    let scheme = "the address has no scheme";
    let unescaped = "a `/`, `?` or `#` stands before the last `@`";
    check_refused(
        "{}",
        &[
            ("", "the address is empty"),
            ("db/x", scheme),
            ("me:secret@db://x", scheme),
            ("oracle://me:secret@db/x", "unknown server scheme `oracle://`"),
            ("mongodb+srv://me:secret@db/x", "unknown server scheme `mongodb://`"),
            ("sqlite:///tmp/x.db", "unknown server scheme `sqlite://`"),
            ("postgresql+ssl://me@db/x", "`+ssl` is not understood in a scheme"),
            ("mysql+://me@db/x", "`+` is not understood in a scheme"),
            ("mysqlx://me@h/x", "mysqlx:// is MySQL's X protocol, which Assay does not speak"),
            ("jdbc:postgresql:x", "the JDBC address names no host: it has no `//`"),
            ("postgres://db/x", "the address names no user"),
            ("postgres://@db/x", "the address names no user"),
            ("postgres://me@db", "the address names no database"),
            ("postgres://me@db/", "the address names no database"),
            ("postgres://me@/x", "the address names no host"),
            ("postgres://me@db/x/y", "the name of the database has a `/` in it"),
            ("postgres://me:sec#ret@db/x", unescaped),
            ("postgres://me:a@b/c?secret@db/x", unescaped),
            ("postgres://me@db/x?application_name=a@b", unescaped),
            ("mysql://me:a@db/x#y", "the address ends at a `#`"),
            (
                "postgres://me:a\nb@db/x",
                "the address has a line break or another control character in it",
            ),
            (
                "'postgres://me:secret@db/x",
                "the address begins with a quote and does not end with the same quote",
            ),
            ("postgres://me@db1,db2:1/x", "the address names several hosts: db1, db2"),
            ("jdbc:mysql://a:1,[::1]:2/x?user=me", "the address names several hosts: a, [::1]"),
            ("$DATABASE_URL", "the address is a variable that nothing expands"),
            ("${DATABASE_URL}", "the address is a variable that nothing expands"),
            (
                "host=db dbname=x user=me password=secret",
                "this is a list of `key=value`, as in libpq and .NET, and not an address",
            ),
            (
                "Server=db;User Id=me;Password=secret;",
                "this is a list of `key=value`, as in libpq and .NET, and not an address",
            ),
            (
                "me:secret@tcp(db:3306)/x?parseTime=true",
                "this is an address in the form of Go's MySQL driver",
            ),
            (
                "DATABASE_URL=postgres://me:secret@db/x",
                "words stand in front of the scheme of the address",
            ),
            (
                "export DATABASE_URL=postgres://me:secret@db/x",
                "words stand in front of the scheme of the address",
            ),
            (
                "psql \"postgres://me:secret@db/x\"",
                "words stand in front of the scheme of the address",
            ),
            ("/usr/bin/mysql -h db -u me -psecret x", "this is a command line, and not an address"),
        ],
    );
}

#[test]
fn a_wrong_user_password_or_place_is_named() {
    let placeholder = "the password is a variable or a placeholder that nothing fills in";
    let number = "the port is not a number";
    check_refused(
        "postgres://{}/x",
        &[
            ("$USER@db", "the user has a variable that nothing expands"),
            ("me@${DB_HOST}:5432", "the host has a variable that nothing expands"),
            ("me@db:$PORT", "the port has a variable that nothing expands"),
            ("me@{{ host }}", "the host has a variable that nothing expands"),
            ("me:$DB_PASSWORD@db", placeholder),
            ("me:${DB_PASSWORD:-x}@db", placeholder),
            ("me:$(cat pw)@db", placeholder),
            ("me:[YOUR-PASSWORD]@db", placeholder),
            ("me:{your_password}@db", placeholder),
            ("me:<password>@db", placeholder),
            ("me:YOUR_PASSWORD@db", placeholder),
            ("me:${DB_PASSWORD@db", placeholder),
            ("me:x${ASSAY_PASSWORD_PG}@db", placeholder),
            ("me:x$DB_PASSWORD@db", placeholder),
            ("me:****@db", placeholder),
            ("me:secret@db:0", "the port is 0"),
            ("me:secret@db:65536", "the port is above 65535"),
            ("me:secret@db:99999999999999999999", "the port is above 65535"),
            ("me:secret@db:x", number),
            ("me:secret@db:1:2", number),
            ("me@::1", "an IPv6 address stands without brackets"),
            ("me@[::1", "the `[` before the host has no `]`"),
            ("me@[::1]5432", "only a port may follow the `]` of the host"),
            ("me@[h]", "the host is a placeholder that nothing fills in"),
            ("me@my host", "the host has a space in it"),
            ("me@<host>", "the host is a placeholder that nothing fills in"),
            ("me%00@db", "the user has a zero byte, %00"),
            ("me:a%00@db", "the password has a zero byte, %00"),
            ("me:a%zz@db", "a `%` in the password is not followed by two hexadecimal digits"),
            ("me:100%@db", "a `%` in the password is not followed by two hexadecimal digits"),
            ("me:%ff@db", "the password is not text"),
            ("me@%zz", "a `%` in the host is not followed by two hexadecimal digits"),
        ],
    );
    assert_eq!(refused("postgres://me@db/$DB"), "the database has a variable that nothing expands");
    for part in ["user=$USER&host=db", "user=me&host=$HOST", "user=me&host=db&dbname=${DB}"] {
        let error = refused(&format!("postgres:///?{part}"));
        assert!(error.ends_with("has a variable that nothing expands"), "{error}");
    }
    let password = refused("postgres://db/x?user=me&password=${DB_PASSWORD-x}");
    assert_eq!(password, placeholder);
}

#[test]
fn nothing_behind_a_password_is_shown() {
    for query in ["QXZ=1", "sslmode=QXZ", "socket=QXZ", "sslrootcert=QXZ", "port=QXZ", "a=%QXZ"] {
        let error = refused(&format!("postgres://db/x?user=me&password=QXZ&{query}"));
        assert!(!error.contains("QXZ"), "{error}");
    }
}

#[test]
fn the_guide_has_every_parameter() {
    let page = include_str!("../../../../../docs/guide/addresses.md");
    let mut found = 0;
    for name in names(postgres::TABLE).chain(names(mysql::TABLE)) {
        assert!(page.contains(&format!("`{name}")), "{name} is in no table of the guide");
        found += 1;
    }
    println!("{found} parameters");
}
