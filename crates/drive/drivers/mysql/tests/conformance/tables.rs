//! Tables of this run, of an earlier one, and of somebody else.

use model::sql::PerDialect;

use crate::application::{sales, statement};
use crate::opened::Place;
use crate::procedures::insert;

pub(crate) fn leftovers_are_dropped_and_strangers_left_alone(place: &Place) {
    let (spec, _dir) = place.fresh(Some(sales()));
    let engine = place.driver.open(&spec).expect("the server is good");
    insert(&mut *engine.session().expect("there is room"), 1).expect("rows are inserted");
    engine.close().expect("it closes");

    // Another run in the same database finds what the first has left, and makes its own.
    let (mut next, _next_dir) = place.fresh(Some(sales()));
    next.endpoint.clone_from(&spec.endpoint);
    let engine = place.driver.open(&next).expect("leftovers are no hindrance");
    assert_eq!(engine.count_rows(0, 0), Ok(Some(0)));
    engine.close().expect("it closes");

    // A table that no run of ours has made stays, and is named.
    let (mut stranger, _stranger_dir) = place.fresh(Some({
        let mut application = sales();
        let create =
            vec![statement("CREATE TABLE {} (a INT)"), statement("CREATE TABLE x1 (a INT)")];
        application.tables[0].create = PerDialect { postgres: Vec::new(), mysql: create };
        application.tables[0].copies = model::sql::Copies::Fixed(1);
        application
    }));
    stranger.endpoint.clone_from(&spec.endpoint);
    place.driver.open(&stranger).expect("it makes a table beside its own").close().expect("closes");
    let (mut last, _last_dir) = place.fresh(Some({
        let mut application = sales();
        application.tables[0].name = "x".to_owned();
        application
    }));
    last.endpoint.clone_from(&spec.endpoint);
    let error = place.driver.open(&last).err().expect("x1 is not ours");
    let text = error.to_string();
    assert!(text.contains("`x1`") && text.contains("not of Assay's making: drop it"), "{text}");
}

pub(crate) fn a_run_finds_its_tables_again(place: &Place) {
    let (spec, _dir) = place.fresh(Some(sales()));
    for rows in [3, 6] {
        let engine = place.driver.open(&spec).expect("the server is good");
        insert(&mut *engine.session().expect("there is room"), 1).expect("rows are inserted");
        assert_eq!(engine.count_rows(0, 0), Ok(Some(rows)));
        engine.close().expect("it closes");
    }
}

pub(crate) fn a_database_has_one_run_at_a_time(place: &Place) {
    let (spec, _dir) = place.fresh(Some(sales()));
    let engine = place.driver.open(&spec).expect("the server is good");
    let (mut other, _other_dir) = place.fresh(Some(sales()));
    other.endpoint.clone_from(&spec.endpoint);
    let error = place.driver.open(&other).err().expect("the database is taken");
    assert!(error.to_string().contains("another run of Assay uses database"), "{error}");
    engine.close().expect("it closes");
    assert!(place.driver.open(&other).is_ok(), "it is free again");
}
