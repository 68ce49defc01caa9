//! Runs tests on the distribution's build and cached ones.

use std::env;

use engine::Driver;
use engine::conformance::{Absent, TestRun, on_library};
use model::BuildRef;
use supply::{Engines, Store, default_cache_dir};

/// Runs `body` on the distribution's build and on every cached one.
///
/// Each runs in a child process; the reason of a skip is printed. `test` is the calling test's
/// whole name.
pub(crate) fn on_every_build(test: &str, body: impl Fn(&dyn Driver)) {
    let store = store();
    let mut builds: Vec<String> = store.iter().flat_map(cached).collect();
    builds.retain(|version| version != "system");
    builds.insert(0, "system".to_owned());
    for version in builds {
        let find = || {
            let store = store.as_ref().map_err(|reason| Absent::Required(reason.clone()))?;
            let build = BuildRef { engine: ENGINE.to_owned(), version: Some(version.clone()) };
            let found = store.get(&build, &mut |line| println!("{line}"));
            found
                .map(|artifact| artifact.library)
                .map_err(|error| Absent::Required(error.to_string()))
        };
        let load = |path: &std::path::Path| {
            body(&*driver_wiredtiger::open_library(path).expect("a build in the cache loads"));
        };
        if on_library(test, find, load) == TestRun::Here {
            return;
        }
    }
}

const ENGINE: &str = "wiredtiger";

fn store() -> Result<Store, String> {
    let variable = |name: &str| env::var_os(name).and_then(|value| value.into_string().ok());
    let (home, xdg) = (variable("HOME"), variable("XDG_CACHE_HOME"));
    let dir = default_cache_dir(home.as_deref(), xdg.as_deref()).ok_or("no home directory")?;
    let store = Store::open(dir).map_err(|error| error.to_string())?;
    let recipe = |engine: &str| (engine == ENGINE).then_some(driver_wiredtiger::RECIPE);
    Ok(store.with_engines(Engines { recipe, ..Engines::default() }))
}

fn cached(store: &Store) -> Vec<String> {
    let builds = store.list().into_iter().map(|artifact| artifact.build);
    builds.filter(|build| build.engine == ENGINE).filter_map(|build| build.version).collect()
}
