//! Ways to log in, and logins that are refused.

use engine::EngineError;
use model::sql::{Application, PerDialect};
use model::{Endpoint, Password};

use crate::application::{sales, statement};
use crate::opened::Place;

/// Returns an application whose tables are made by these statements: a way to say anything.
fn saying(statements: &[String]) -> Application {
    let mut application = sales();
    let made = application.tables[0].create.mysql.clone();
    let more = statements.iter().map(|text| statement(text));
    let mysql: Vec<_> = made.into_iter().chain(more).collect();
    application.tables[0].create = PerDialect { postgres: Vec::new(), mysql };
    // Statements are said once for each table.
    application.tables[0].copies = model::sql::Copies::Fixed(1);
    application
}

/// Opens a fresh database as that user.
fn enter(place: &Place, user: &str, password: Option<&str>) -> Result<(), EngineError> {
    let (mut spec, _dir) = place.fresh(Some(sales()));
    let endpoint = spec.endpoint.take().expect("it is a server");
    spec.endpoint = Some(Endpoint {
        user: user.to_owned(),
        password: password.map(|text| Password(text.to_owned())),
        ..endpoint
    });
    let engine = place.driver.open(&spec)?;
    engine.session().map(drop)?;
    engine.close()
}

pub(crate) fn mysql_lets_in_by_native_and_sha2_passwords(place: &Place) {
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
    let (engine, _dir) = place.open(saying(&made));
    drop(engine);
    for plugin in plugins {
        let name = &plugin[..7];
        // The second time the server has it in its cache.
        for _ in 0..2 {
            assert_eq!(enter(place, name, Some("hush hush")), Ok(()), "{plugin}");
        }
        let error = enter(place, name, Some("wrong")).expect_err("the password is wrong");
        let text = error.to_string();
        assert!(text.contains("right user and password") && !text.contains("wrong"), "{text}");
    }
}

pub(crate) fn wrong_logins_are_refused_with_a_remedy(place: &Place) {
    let made = [
        "CREATE USER reader@localhost".to_owned(),
        "GRANT SELECT ON *.* TO reader@localhost".to_owned(),
    ];
    let (engine, _dir) = place.open(saying(&made));
    drop(engine);
    let error = enter(place, "reader", None).expect_err("it may not make tables");
    assert!(error.to_string().contains("may not make tables"), "{error}");
    let error = enter(place, "nobody_of_that_name", Some("x")).expect_err("there is none");
    assert!(matches!(&error, EngineError::Fatal(text) if text.contains("1045")), "{error}");

    let (mut spec, _dir) = place.fresh(None);
    let endpoint = spec.endpoint.clone().expect("it is a server");
    spec.endpoint = Some(Endpoint { database: "no_such_database".to_owned(), ..endpoint });
    let error = place.driver.open(&spec).err().expect("there is none");
    assert!(error.to_string().contains("create the database"), "{error}");

    let dir = spec.dir.join("socket");
    let endpoint = spec.endpoint.clone().expect("it is a server");
    let address = model::Address::Socket(dir);
    spec.endpoint = Some(Endpoint { address, ..endpoint });
    let error = place.driver.open(&spec).err().expect("nobody listens");
    assert!(error.to_string().contains("nobody answers at"), "{error}");
}
