//! Authentication methods and rejected logins.

use engine::EngineError;
use model::sql::{Application, PerDialect};
use model::{Endpoint, Password};
use server::testing::assert_confined;

use crate::application::{sales, statement};
use crate::fixture::Fixture;
use crate::test_server::Server;

/// Returns an application whose set-up runs these statements.
pub(crate) fn with_statements(statements: &[String]) -> Application {
    let mut application = sales();
    let made = application.tables[0].create.mysql.clone();
    let more = statements.iter().map(|text| statement(text));
    let mysql: Vec<_> = made.into_iter().chain(more).collect();
    application.tables[0].create = PerDialect { postgres: Vec::new(), mysql };
    // Statements run once per table.
    application.tables[0].copies = model::sql::Copies::Fixed(1);
    application
}

/// Opens a fresh database as that user.
fn log_in(fixture: &Fixture, user: &str, password: Option<&str>) -> Result<(), EngineError> {
    let (mut spec, _dir) = fixture.fresh(Some(sales()));
    let endpoint = spec.endpoint.take().expect("it is a server");
    spec.endpoint = Some(Endpoint {
        user: user.to_owned(),
        password: password.map(|text| Password(text.to_owned())),
        ..endpoint
    });
    let engine = fixture.driver.open(&spec)?;
    engine.session().map(drop)?;
    engine.close()
}

pub(crate) fn mysql_accepts_native_and_sha2_passwords(fixture: &Fixture) {
    let plugins = ["mysql_native_password", "caching_sha2_password"];
    let made: Vec<_> = plugins
        .iter()
        .flat_map(|plugin| {
            let name = &plugin[..7];
            [
                format!("CREATE USER {name}@localhost IDENTIFIED WITH {plugin} BY 'hush hush'"),
                format!("GRANT ALL ON *.* TO {name}@localhost"),
            ]
        })
        .collect();
    let (engine, _dir) = fixture.open(with_statements(&made));
    drop(engine);
    for plugin in plugins {
        let name = &plugin[..7];
        // The second time hits the server's password cache.
        for _ in 0..2 {
            assert_eq!(log_in(fixture, name, Some("hush hush")), Ok(()), "{plugin}");
        }
        let error = log_in(fixture, name, Some("wrong")).expect_err("the password is wrong");
        let text = error.to_string();
        assert!(text.contains("right user and password") && !text.contains("wrong"), "{text}");
    }
}

/// Goal: of an account with several methods one that is spoken is taken, and one that takes no
/// password has its remedy.
pub(crate) fn mariadb_takes_the_method_that_is_spoken(fixture: &Fixture) {
    let made = [
        "CREATE USER many@localhost IDENTIFIED VIA unix_socket OR mysql_native_password USING \
         PASSWORD('hush')",
        "GRANT ALL ON *.* TO many@localhost",
        "CREATE USER sock@localhost IDENTIFIED VIA unix_socket",
    ];
    let (engine, _dir) = fixture.open(with_statements(&made.map(str::to_owned)));
    drop(engine);
    assert_eq!(log_in(fixture, "many", Some("hush")), Ok(()));
    let text = log_in(fixture, "many", Some("wrong")).expect_err("it is wrong").to_string();
    assert!(text.contains("Access denied"), "{text}");
    let text = log_in(fixture, "sock", Some("hush")).expect_err("it is of another").to_string();
    assert!(text.contains("logs in as an account of the server's host"), "{text}");
    assert!(text.contains("mysql_native_password") && !text.contains("sha2"), "{text}");
}

pub(crate) fn wrong_logins_are_rejected_with_a_remedy(fixture: &Fixture) {
    let made = [
        "CREATE USER reader@localhost".to_owned(),
        "GRANT SELECT ON *.* TO reader@localhost".to_owned(),
    ];
    let (engine, _dir) = fixture.open(with_statements(&made));
    drop(engine);
    let error = log_in(fixture, "reader", None).expect_err("it may not create tables");
    assert!(error.to_string().contains("may not create tables"), "{error}");
    let error = log_in(fixture, "no_such_user", Some("x")).expect_err("there is none");
    assert!(matches!(&error, EngineError::Fatal(text) if text.contains("1045")), "{error}");

    let (mut spec, _dir) = fixture.fresh(None);
    let endpoint = spec.endpoint.clone().expect("it is a server");
    spec.endpoint = Some(Endpoint { database: "no_such_database".to_owned(), ..endpoint });
    let error = fixture.driver.open(&spec).err().expect("there is none");
    assert!(error.to_string().contains("create the database"), "{error}");

    let dir = spec.dir.join("socket");
    let endpoint = spec.endpoint.clone().expect("it is a server");
    let address = model::Address::Socket(dir);
    spec.endpoint = Some(Endpoint { address, ..endpoint });
    let error = fixture.driver.open(&spec).err().expect("no server listens");
    assert!(error.to_string().contains("no server answers at"), "{error}");
}

/// Goal: only who knows the password logs in, and the processes have no right of root.
pub(crate) fn server_is_confined_and_requires_its_password(server: &Server, fixture: &Fixture) {
    assert_confined(server.running());
    for password in [None, Some("wrong")] {
        let error = log_in(fixture, "root", password).expect_err("it has another password");
        assert!(error.to_string().contains("1045"), "{error}");
    }
    let error = log_in(fixture, "", None).expect_err("a login needs a name");
    assert!(error.to_string().contains("1045"), "{error}");
}
