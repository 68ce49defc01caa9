//! The library that tests run on.

use std::path::Path;

use engine::Driver;

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libleveldb.so.1d";

/// Returns the driver of the distribution's library, or prints why the test is skipped.
pub(crate) fn driver() -> Option<Box<dyn Driver>> {
    let path = Path::new(LIBRARY);
    if !path.is_file() {
        println!("skipped: no LevelDB here; apt-get install libleveldb1d");
        return None;
    }
    Some(driver_leveldb::open_library(path).expect("the distribution's library loads"))
}
