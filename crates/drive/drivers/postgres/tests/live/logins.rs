//! Every kind of login that is spoken, and what is said when one is refused.

use std::fs;

use engine::EngineError;
use model::{Endpoint, Password};

use crate::client::{just_call, refused, statements};
use crate::program::programs;
use crate::started::{Started, open, spec};

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

/// Goal: each kind of login works, and a refusal says why but never the password.
/// Method: one server whose rules ask each role for another kind.
#[test]
fn each_kind_of_login_works_and_refusals_are_told() {
    let Some(program) = programs().pop() else { return };
    let server = Started::new(&program, &[]);
    let dir = tempfile::tempdir().unwrap();
    fs::write(server.running.site().data.join("pg_hba.conf"), RULES).unwrap();
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
    // The rules come into force a moment after the reload.
    for _ in 0..10_000 {
        if open(&spec(dir.path(), login("scram", None), None)).is_err() {
            break;
        }
    }
    for user in ["scram", "clear", "old", "postgres"] {
        let spec = spec(dir.path(), login(user, Some("hush")), None);
        let engine = open(&spec).unwrap_or_else(|error| panic!("{user}: {error}"));
        engine.close().unwrap();
    }
    for (user, password, words) in [
        ("scram", Some("wrong-hush"), "password authentication failed"),
        ("old", Some("wrong-hush"), "password authentication failed"),
        ("clear", None, "asks for the password of `clear`"),
        ("barred", None, "pg_hba.conf rejects connection"),
        ("nobody-there", None, "role \"nobody-there\" does not exist"),
    ] {
        let error = refused(&spec(dir.path(), login(user, password), None));
        assert!(matches!(&error, EngineError::Fatal(text) if text.contains(words)), "{error}");
        let text = error.to_string();
        assert!(text.contains(user) && !text.contains("wrong-hush"), "{text}");
        assert!(!text.contains("TLS"), "{text}");
    }
    let elsewhere = Endpoint { database: "none".to_owned(), ..server.endpoint() };
    let error = refused(&spec(dir.path(), elsewhere, None)).to_string();
    assert!(error.contains("database \"none\" does not exist"), "{error}");
    server.stop();
}
