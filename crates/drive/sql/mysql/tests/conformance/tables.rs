//! Tables of this run, of an earlier run, and foreign ones.

use model::sql::PerDialect;

use crate::application::{sales, statement};
use crate::fixture::Fixture;
use crate::procedures::insert;

pub(crate) fn leftovers_are_dropped_and_foreign_tables_left_alone(fixture: &Fixture) {
    let (spec, _dir) = fixture.fresh(Some(sales()));
    let engine = fixture.driver.open(&spec).expect("the server is good");
    insert(&mut *engine.session().expect("there is room"), 1).expect("rows are inserted");
    engine.close().expect("it closes");

    // Another run in the same database drops the leftovers and creates its own.
    let (mut next, _next_dir) = fixture.fresh(Some(sales()));
    next.endpoint.clone_from(&spec.endpoint);
    let engine = fixture.driver.open(&next).expect("leftovers are no hindrance");
    assert_eq!(engine.server().expect("a server").count_rows(0, 0), Ok(Some(0)));
    engine.close().expect("it closes");

    // A table not created by Assay stays, and is named.
    let (mut foreign, _stranger_dir) = fixture.fresh(Some({
        let mut application = sales();
        let create =
            vec![statement("CREATE TABLE {} (a INT)"), statement("CREATE TABLE x1 (a INT)")];
        application.tables[0].create = PerDialect { postgres: Vec::new(), mysql: create };
        application.tables[0].copies = model::sql::Copies::Fixed(1);
        application
    }));
    foreign.endpoint.clone_from(&spec.endpoint);
    fixture.driver.open(&foreign).expect("it makes another table").close().expect("closes");
    let (mut last, _last_dir) = fixture.fresh(Some({
        let mut application = sales();
        application.tables[0].name = "x".to_owned();
        application
    }));
    last.endpoint.clone_from(&spec.endpoint);
    let error = fixture.driver.open(&last).err().expect("x1 is not ours");
    let text = error.to_string();
    assert!(text.contains("`x1`") && text.contains("was not created by Assay: drop it"), "{text}");
}

pub(crate) fn run_reuses_its_tables(fixture: &Fixture) {
    let (spec, _dir) = fixture.fresh(Some(sales()));
    for rows in [3, 6] {
        let engine = fixture.driver.open(&spec).expect("the server is good");
        insert(&mut *engine.session().expect("there is room"), 1).expect("rows are inserted");
        assert_eq!(engine.server().expect("a server").count_rows(0, 0), Ok(Some(rows)));
        engine.close().expect("it closes");
    }
}

pub(crate) fn second_run_on_a_database_is_rejected(fixture: &Fixture) {
    let (spec, _dir) = fixture.fresh(Some(sales()));
    let engine = fixture.driver.open(&spec).expect("the server is good");
    let (mut other, _other_dir) = fixture.fresh(Some(sales()));
    other.endpoint.clone_from(&spec.endpoint);
    let error = fixture.driver.open(&other).err().expect("the database is taken");
    assert!(error.to_string().contains("another run of Assay uses database"), "{error}");
    engine.close().expect("it closes");
    assert!(fixture.driver.open(&other).is_ok(), "it is free again");
}
