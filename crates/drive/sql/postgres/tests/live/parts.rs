//! Parts of values, in every release found and both protocols.

use driver_sql::testing::check_parts;

use crate::program::programs;
use crate::test_server::{TestServer, open, spec};

#[test]
fn parts_of_values_are_changed_and_read() {
    for program in programs() {
        let server = TestServer::new(&program, &[]);
        for protocol in ["prepared", "text"] {
            let dir = tempfile::tempdir().unwrap();
            let mut spec = spec(dir.path(), server.endpoint(), None);
            spec.options = [("assay.protocol", protocol)].into_iter().collect();
            let engine = open(&spec).unwrap();
            check_parts(&mut *engine.session().unwrap()).unwrap();
            engine.close().unwrap();
        }
        server.stop();
    }
}
