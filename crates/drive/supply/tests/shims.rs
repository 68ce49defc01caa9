//! Shims of a toy engine: compiled, recompiled, rejected.
//!
//! The toy is a library of one or two functions, compiled here with the machine's C compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use model::SmokeTestFailure;
use shim::Recipe;
use supply::{Artifact, Engines, Store, SupplyError, UserBuild};
use tempfile::TempDir;

/// A shim that returns the toy's version and the result of its probes.
const RECIPE: Recipe = Recipe {
    source: r#"
#include "assay_engine.h"
#include "toy/toy.h"
#ifdef TOY_HAS_MORE
#include "toy/more.h"
int shim_value(void) { return toy_version() * 10 + toy_more(); }
#else
int shim_value(void) { return toy_version() * 10; }
#endif
"#,
    header: "toy/toy.h",
    probes: &[
        ("TOY_HAS_MORE", "#include \"toy/more.h\"\nint x(void) { return toy_more(); }\n"),
        ("TOY_HAS_LESS", "#include \"toy/toy.h\"\nint x(void) { return toy_less(); }\n"),
    ],
};

/// The same shim with a changed source.
const CHANGED_RECIPE: Recipe = Recipe {
    source: "#include \"toy/toy.h\"\nint shim_value(void) { return toy_version() + 1000; }\n",
    ..RECIPE
};

/// Source of the toy engine.
const TOY: &str = "int toy_version(void) { return VERSION; }\nint toy_more(void) { return 7; }\n";

struct Bench {
    root: TempDir,
    /// Result of the next smoke test.
    smoke_test_failure: Arc<Mutex<Option<SmokeTestFailure>>>,
}

impl Bench {
    /// Returns a scratch directory; prints why and returns `None` without a C compiler.
    #[expect(clippy::print_stdout, reason = "a skipped test prints why")]
    fn new() -> Option<Self> {
        if Command::new("cc").arg("--version").output().is_err() {
            println!("skipped: no C compiler here: apt install gcc libc6-dev");
            return None;
        }
        let root = tempfile::tempdir().expect("a temporary directory");
        Some(Self { root, smoke_test_failure: Arc::default() })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a directory");
        fs::write(&path, text).expect("a file");
        path
    }

    /// Compiles a library of `source`, `libtoy.so.1` to those that are linked with it.
    fn compile(&self, name: &str, source: &str, version: u32) -> PathBuf {
        let (source, library) = (self.write("toy.c", source), self.path(name));
        fs::create_dir_all(library.parent().expect("a folder")).expect("a directory");
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-Wl,-soname,libtoy.so.1", "-o"])
            .args([&library, &source])
            .arg(format!("-DVERSION={version}"))
            .status();
        assert!(made.expect("cc runs").success());
        library
    }

    /// Makes a build tree: headers in `include`, the library below `build`.
    fn tree(&self, name: &str, version: u32) -> PathBuf {
        self.write(&format!("{name}/include/toy/toy.h"), "int toy_version(void);\n");
        self.write(&format!("{name}/include/toy/more.h"), "int toy_more(void);\n");
        self.compile(&format!("{name}/build/lib/libtoy.so"), TOY, version)
    }

    /// Opens the cache with a shim recipe.
    fn store(&self, recipe: fn(&str) -> Option<Recipe>) -> Store {
        let smoke_test_failure = Arc::clone(&self.smoke_test_failure);
        let engines = Engines {
            recipe,
            smoke_test: Box::new(move |_, library, work| {
                assert!(library.with_file_name("libassay-toy.so").is_file() && work.is_dir());
                smoke_test_failure.lock().expect("no panic").clone().map_or(Ok(()), Err)
            }),
            ..Engines::default()
        };
        Store::open(self.path("cache")).expect("a cache").with_engines(engines)
    }

    /// Returns the value of a shim loaded with another toy on the library path.
    fn shim_value(&self, artifact: &Artifact, others: &Path) -> i32 {
        let source = "#include <dlfcn.h>\n#include <stdio.h>\n\
                      int main(int count, char **names) {\n\
                      void *shim = dlopen(names[1], RTLD_NOW);\n\
                      if (!shim) { puts(dlerror()); return 1; }\n\
                      printf(\"%d\", ((int (*)(void))dlsym(shim, \"shim_value\"))()); return 0; \
                      }\n";
        let (source, program) = (self.write("main.c", source), self.path("main"));
        let made = Command::new("cc").arg("-o").args([&program, &source]).arg("-ldl").status();
        assert!(made.expect("cc runs").success());
        let shim = artifact.library.with_file_name("libassay-toy.so");
        let output = Command::new(program).arg(shim).env("LD_LIBRARY_PATH", others).output();
        let text = String::from_utf8(output.expect("it runs").stdout).expect("plain text");
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    /// Returns whether nothing was cached.
    fn is_empty(&self) -> bool {
        let names = fs::read_dir(self.path("cache/engines/toy")).expect("a directory");
        names.into_iter().all(|name| name.expect("a name").path().extension().is_some())
    }
}

fn recipe(engine: &str) -> Option<Recipe> {
    (engine == "toy").then_some(RECIPE)
}

fn changed_recipe(engine: &str) -> Option<Recipe> {
    (engine == "toy").then_some(CHANGED_RECIPE)
}

fn add(store: &Store, library: &Path, headers: Option<&Path>) -> Result<Artifact, SupplyError> {
    store.add(&UserBuild { engine: "toy", library, version: Some("mine"), headers }, &mut |_| ())
}

/// Goal: the shim calls the library in its own directory.
/// Method: a program loads the shim while the library path names another toy of the same soname.
#[test]
fn shim_binds_to_the_library_next_to_it() {
    let Some(bench) = Bench::new() else { return };
    let library = bench.tree("tree", 3);
    let other = bench.compile("others/libtoy.so.1", TOY, 9);
    let mut messages = Vec::new();
    let own = UserBuild { engine: "toy", library: &library, version: None, headers: None };
    let added = bench.store(recipe).add(&own, &mut |line| messages.push(line.to_owned())).unwrap();
    assert_eq!(bench.shim_value(&added, other.parent().unwrap()), 37);
    let headers = bench.path("tree/include").canonicalize().unwrap();
    assert_eq!(added.facts["shim_headers"], headers.display().to_string());
    assert_eq!(added.facts["shim_probes"], "TOY_HAS_MORE");
    assert!(!added.facts["shim_compiler"].is_empty());
    assert_eq!(messages.len(), 2, "{messages:?}");
}

/// Goal: a library that knows no version of its own gets the name of its build, for good.
#[test]
fn shim_learns_the_name_of_the_build() {
    let Some(bench) = Bench::new() else { return };
    let named = |engine: &str| {
        let source = "int shim_value(void) { return sizeof ASSAY_BUILD; }\n";
        recipe(engine).map(|recipe| Recipe { source, ..recipe })
    };
    let added = add(&bench.store(named), &bench.tree("tree", 3), None).unwrap();
    assert_eq!(bench.shim_value(&added, Path::new("/")), 5, "`mine` and its zero byte");
    fs::remove_file(added.library.with_file_name("libassay-toy.so")).unwrap();
    bench.store(named).find(&added.build).unwrap().unwrap();
    assert_eq!(bench.shim_value(&added, Path::new("/")), 5);
}

#[test]
fn changed_shim_is_recompiled_against_its_headers() {
    let Some(bench) = Bench::new() else { return };
    let added = add(&bench.store(recipe), &bench.tree("tree", 3), None).unwrap();
    let found = bench.store(changed_recipe).find(&added.build).unwrap().unwrap();
    assert_eq!(found.library, added.library);
    assert_eq!(bench.shim_value(&found, Path::new("/")), 1003);
    // From here on nothing is compiled.
    let shim = found.library.with_file_name("libassay-toy.so");
    let made = fs::metadata(&shim).unwrap().modified().unwrap();
    assert_eq!(bench.store(changed_recipe).get(&added.build, &mut |_| ()).unwrap(), found);
    assert_eq!(fs::metadata(&shim).unwrap().modified().unwrap(), made);
    // A damaged shim is recompiled.
    fs::write(&shim, "half").unwrap();
    bench.store(changed_recipe).find(&added.build).unwrap().unwrap();
    assert_eq!(bench.shim_value(&found, Path::new("/")), 1003);
    // Nothing is compiled while it is up to date, so its headers may go.
    fs::remove_dir_all(bench.path("tree")).unwrap();
    bench.store(changed_recipe).find(&added.build).unwrap().unwrap();
    let text = bench.store(recipe).find(&added.build).unwrap_err().to_string();
    assert!(text.contains("headers") && text.contains("engine add toy PATH"), "{text}");
}

#[test]
fn missing_headers_error_names_the_option() {
    let Some(bench) = Bench::new() else { return };
    let library = bench.compile("lone/libtoy.so", TOY, 1);
    let text = add(&bench.store(recipe), &library, None).unwrap_err().to_string();
    assert!(text.contains("no header `toy/toy.h` for toy@mine"), "{text}");
    let near = library.parent().unwrap().canonicalize().unwrap().join("include");
    assert!(text.contains(&near.display().to_string()) && text.contains("/usr/include"));
    assert!(text.ends_with("name the directory of the headers with --headers DIR"), "{text}");
    let elsewhere = bench.path("elsewhere");
    let text = add(&bench.store(recipe), &library, Some(&elsewhere)).unwrap_err().to_string();
    assert!(text.contains("elsewhere, ") && text.contains("elsewhere/include"), "{text}");
    assert!(bench.is_empty());
    bench.write("elsewhere/toy/toy.h", "int toy_version(void);\n");
    add(&bench.store(recipe), &library, Some(&elsewhere)).unwrap();
}

#[test]
fn headers_of_another_build_are_rejected() {
    let Some(bench) = Bench::new() else { return };
    let library = bench.tree("tree", 1);
    let store = bench.store(recipe);
    // Its header declares a function that the library lacks.
    let lacking =
        bench.compile("tree/build/lib/libtoy.so", "int toy_version(void) { return 1; }", 1);
    let text = add(&store, &lacking, None).unwrap_err().to_string();
    assert!(text.contains("do not fit this library: ") && text.contains("toy_more"), "{text}");
    // The source and the header do not agree.
    bench.write("tree/include/toy/toy.h", "char *toy_version(int a);\n");
    let text = add(&store, &library, None).unwrap_err().to_string();
    assert!(text.contains("the compiler reports:\nassay-toy.c:"), "{text}");
    // It compiles and links, but fails its smoke test.
    let library = bench.tree("tree", 1);
    for (smoke_test_failure, expected) in [
        (
            SmokeTestFailure::Died("it died in the smoke test: signal 11 (SEGV)".to_owned()),
            "do not fit this",
        ),
        (
            SmokeTestFailure::Wrong("a wrong answer".to_owned()),
            "do not fit this library: a wrong answer;",
        ),
        (
            SmokeTestFailure::NotLoaded("no libx.so".to_owned()),
            "toy@mine is not cached: no libx.so",
        ),
    ] {
        *bench.smoke_test_failure.lock().unwrap() = Some(smoke_test_failure);
        let text = add(&store, &library, None).unwrap_err().to_string();
        assert!(text.contains(expected), "{text}");
        assert!(bench.is_empty());
    }
    *bench.smoke_test_failure.lock().unwrap() = None;
    add(&store, &library, None).unwrap();
}

#[test]
fn library_of_another_engine_is_rejected_before_the_header_search() {
    let Some(bench) = Bench::new() else { return };
    let other = bench.compile("libother.so", "int other_open(void) { return 1; }", 1);
    let text = add(&bench.store(recipe), &other, None).unwrap_err().to_string();
    assert!(text.contains("libother.so is not toy: it has no function"), "{text}");
    assert!(bench.is_empty());
}
