//! What other accounts can reach of a server, and the server of root's files.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use engine::conformance::scratch_dir;
use model::{Endpoint, Options, Password};
use server::testing::{assert_confined, is_root};
use server::{Running, STOP_WITHIN};

use crate::calls::open_error;
use crate::newest::newest;
use crate::program::programs;
use crate::test_server::{open, settings, spec, start};

/// Goal: only who knows the password logs in, and the processes have no right of root.
/// Method: each release is set up and started; logins with other passwords are tried.
#[test]
fn every_release_is_confined_and_requires_its_password() {
    for program in programs() {
        let place = tempfile::tempdir_in(scratch_dir()).unwrap();
        let (settings, options) = (settings(), Options::new());
        let start = start(&program, place.path(), &settings, &options);
        let mut running = Running::start(&start, &|| false).unwrap();
        assert_confined(&running);
        let dir = tempfile::tempdir().unwrap();
        for password in [None, Some(Password("wrong".to_owned()))] {
            let endpoint = Endpoint { password, ..running.endpoint.clone() };
            let error = open_error(&spec(dir.path(), endpoint, None)).to_string();
            assert!(error.contains("password"), "{error}");
        }
        open(&spec(dir.path(), running.endpoint.clone(), None)).unwrap().close().unwrap();
        running.stop(STOP_WITHIN).unwrap();
    }
}

/// Goal: a configuration file in the data directory is neither written nor read.
/// Method: it becomes a link to a file of root, and the server is started again on its data.
#[test]
fn link_in_the_data_directory_is_not_followed() {
    let Some(program) = newest() else { return };
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir_in(scratch_dir()).unwrap();
    let (settings, options) = (settings(), Options::new());
    let start = start(&program, dir.path(), &settings, &options);
    let mut running = Running::start(&start, &|| false).unwrap();
    running.stop(STOP_WITHIN).unwrap();
    drop(running);
    let victim = tempfile::NamedTempFile::new().unwrap();
    let planted = dir.path().join("data/postgresql.conf");
    fs::remove_file(&planted).unwrap();
    symlink(victim.path(), &planted).unwrap();
    let running = Running::start(&start, &|| false).unwrap();
    assert_confined(&running);
    let meta = fs::symlink_metadata(victim.path()).unwrap();
    assert_eq!((meta.uid(), meta.len()), (0, 0));
}
