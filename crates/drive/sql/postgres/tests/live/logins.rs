//! Authentication methods and rejected logins.

use std::fs;

use engine::EngineError;
use engine::conformance::wait_until;
use model::{Endpoint, Password};

use crate::calls::{just_call, open_error, statements};
use crate::newest::newest;
use crate::test_server::{TestServer, open, spec};

const ROLES: [&str; 7] = [
    "SET password_encryption = 'scram-sha-256'",
    "CREATE ROLE scram LOGIN PASSWORD 'hush' SUPERUSER",
    "CREATE ROLE clear LOGIN PASSWORD 'hush' SUPERUSER",
    "SET password_encryption = 'md5'",
    "CREATE ROLE old LOGIN PASSWORD 'hush' SUPERUSER",
    "CREATE ROLE barred LOGIN",
    "SELECT pg_reload_conf()",
];
const RULES: &str = "\
local all scram scram-sha-256
local all clear password
local all old md5
local all barred reject
local all all trust
";

/// Goal: each method works, and an error names its reason but never the password.
/// Method: one server whose rules require another method per role.
#[test]
fn each_authentication_method_works_and_rejections_are_reported() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let dir = tempfile::tempdir().unwrap();
    fs::write(server.running.site.data.join("pg_hba.conf"), RULES).unwrap();
    let application = Some(statements(&ROLES));
    let engine = open(&spec(dir.path(), server.endpoint(), application)).unwrap();
    let mut session = engine.session().unwrap();
    for number in 0..7 {
        just_call(&mut *session, number).unwrap();
    }
    drop(session);
    engine.close().unwrap();

    let login = |user: &str, password: Option<&str>| Endpoint {
        password: password.map(|password| Password(password.to_owned())),
        user: user.to_owned(),
        ..server.endpoint()
    };
    // The rules take effect a moment after the reload.
    assert!(wait_until(|| open(&spec(dir.path(), login("scram", None), None)).is_err()));
    for user in ["scram", "clear", "old", "postgres"] {
        let spec = spec(dir.path(), login(user, Some("hush")), None);
        let engine = open(&spec).unwrap_or_else(|error| panic!("{user}: {error}"));
        engine.close().unwrap();
    }
    for (user, password, expected) in [
        ("scram", Some("wrong-hush"), "password authentication failed"),
        ("old", Some("wrong-hush"), "password authentication failed"),
        ("clear", None, "requires the password of `clear`"),
        ("barred", None, "pg_hba.conf rejects connection"),
        ("no-such-role", None, "role \"no-such-role\" does not exist"),
    ] {
        let error = open_error(&spec(dir.path(), login(user, password), None));
        assert!(matches!(&error, EngineError::Fatal(text) if text.contains(expected)), "{error}");
        let text = error.to_string();
        assert!(text.contains(user) && !text.contains("wrong-hush"), "{text}");
        assert!(!text.contains("TLS"), "{text}");
    }
    let elsewhere = Endpoint { database: "none".to_owned(), ..server.endpoint() };
    let error = open_error(&spec(dir.path(), elsewhere, None)).to_string();
    assert!(error.contains("database \"none\" does not exist"), "{error}");
    server.stop();
}
