//! Parts of values, in both protocols.

use driver_sql::testing::check_parts;

use crate::fixture::Fixture;

pub(crate) fn parts_of_values_are_changed_and_read(fixture: &Fixture) {
    for protocol in ["prepared", "text"] {
        let (mut spec, _dir) = fixture.fresh(None);
        spec.options = [("assay.protocol", protocol)].into_iter().collect();
        let engine = fixture.driver.open(&spec).expect("the server is good");
        let mut session = engine.session().expect("there is room");
        check_parts(&mut *session).expect("the statements are right");
        drop(session);
        engine.close().expect("it closes");
    }
}
