//! Builds that several sources offer, with and without the programs that obtain them.

use std::path::Path;

use model::BuildRef;
use supply::{Client, Fetched, Maven, Npm, Offer, Progress, Result, Source, Store, SupplyError};

/// A source of one engine with a scripted end.
struct Fake {
    client: Client,
    releases: &'static [&'static str],
    fetch: fn(&str) -> Result<Fetched>,
}

impl Source for Fake {
    fn offers(&self, build: &BuildRef) -> bool {
        build.engine == "oak"
    }

    fn offer(&self, engine: &str, _arch: &str) -> Option<Offer> {
        let client = Some(self.client.clone());
        let offer = Offer { client, releases: self.releases, note: String::new() };
        Some(offer).filter(|_| engine == "oak")
    }

    fn client(&self) -> Option<Client> {
        Some(self.client.clone())
    }

    fn fetch(&self, _build: &BuildRef, place: &Path, _progress: Progress<'_>) -> Result<Fetched> {
        // The engine is not loaded: any library of this machine is one.
        std::fs::copy(std::env::current_exe().expect("this test"), place).expect("a copy");
        (self.fetch)(self.client.name)
    }
}

const INSTALLED: &str = "sh";
const ABSENT: &str = "no-such-client";

fn fake(name: &'static str, program: &str, releases: &'static [&'static str]) -> Fake {
    let fetch = |name: &str| Ok(Fetched::of(format!("{name} package")));
    Fake { client: Client::new(program, name, name), releases, fetch }
}

fn failing(name: &'static str, fetch: fn(&str) -> Result<Fetched>) -> Fake {
    Fake { fetch, ..fake(name, INSTALLED, &[]) }
}

fn no_network(name: &str) -> Result<Fetched> {
    Err(SupplyError::ClientFailed(format!("{name} has no network")))
}

fn no_release(name: &str) -> Result<Fetched> {
    Err(SupplyError::Unpublished(format!("{name} lacks the release")))
}

/// Returns the origin of `oak@1.0`, or the error, and what was reported on the way.
fn get(sources: Vec<Fake>) -> (String, Vec<String>) {
    let cache = tempfile::tempdir().expect("a directory");
    let boxed = |source| Box::new(source) as Box<dyn Source>;
    let sources = sources.into_iter().map(boxed).collect();
    let store = Store::with_sources(cache.path().to_owned(), sources).expect("a cache");
    let build: BuildRef = "oak@1.0".parse().expect("a name");
    let mut reports = Vec::new();
    let got = store.get(&build, &mut |line| reports.push(line.to_owned()));
    (got.map_or_else(|error| error.to_string(), |artifact| artifact.origin), reports)
}

#[test]
fn first_source_whose_client_is_installed_is_used() {
    let (origin, _) = get(vec![fake("a", INSTALLED, &[]), fake("b", INSTALLED, &[])]);
    assert_eq!(origin, "a package");
    let (origin, _) = get(vec![fake("a", ABSENT, &[]), fake("b", INSTALLED, &[])]);
    assert_eq!(origin, "b package");
    let (origin, _) = get(vec![fake("a", INSTALLED, &["2.0"]), fake("b", INSTALLED, &["1.0"])]);
    assert_eq!(origin, "b package", "only one of them lists the release");
}

#[test]
fn next_source_is_tried_after_a_failed_client() {
    let (origin, reports) = get(vec![failing("a", no_network), fake("b", INSTALLED, &[])]);
    assert_eq!((origin.as_str(), reports[0].as_str()), ("b package", "a has no network"));
    let (origin, _) = get(vec![failing("a", no_release), fake("b", INSTALLED, &[])]);
    assert_eq!(origin, "b package");
    let (error, reports) = get(vec![failing("a", no_release), failing("b", no_network)]);
    assert_eq!((error.as_str(), reports[0].as_str()), ("b has no network", "a lacks the release"));
    let damaged = |_: &str| Err(SupplyError::Unavailable("damaged".to_owned()));
    let (error, _) = get(vec![failing("a", damaged), fake("b", INSTALLED, &[])]);
    assert_eq!(error, "damaged", "a build that is wrong is not hidden by another");
}

#[test]
fn missing_clients_are_named_before_anything_is_fetched() {
    let (error, reports) = get(vec![fake("a", ABSENT, &[]), fake("b", "no-other-client", &[])]);
    assert_eq!(
        error,
        "there is no `no-such-client` or `no-other-client` on this machine, which obtains oak@1.0: \
         install one of them (Debian: apt install a, or apt install b), or add your own with \
         `assay engine add oak PATH`"
    );
    assert_eq!(reports, [""; 0]);
}

#[test]
fn missing_packages_of_a_build_are_those_of_the_first_source() {
    let cache = tempfile::tempdir().expect("a directory");
    let open = |npm: &str, maven: &str| {
        let npm = Npm { client: Client::new(npm, "npm", "npm") };
        let maven = Maven { client: Client::new(maven, "Maven", "maven") };
        let sources: Vec<Box<dyn Source>> = vec![
            Box::new(supply::Distribution::new(cache.path().join("system"))),
            Box::new(npm),
            Box::new(maven),
        ];
        Store::with_sources(cache.path().to_owned(), sources).expect("a cache")
    };
    let missing = |store: &Store, build: &str| {
        let build = build.parse().expect("a name");
        let missing = store.missing_packages(&build);
        assert!(missing.is_none() || store.check(&build).is_err(), "{build}");
        missing
    };
    let none = open(ABSENT, ABSENT);
    assert_eq!(missing(&none, "postgres@18.0").as_deref(), Some("npm"));
    assert_eq!(missing(&none, "postgres@18.77").as_deref(), Some("npm"));
    assert_eq!(missing(&none, "rocksdb@9.10.0").as_deref(), Some("maven"));
    assert_eq!(missing(&none, "rocksdb@system").as_deref(), Some("librocksdb-dev"));
    for build in ["mysql@system", "mysql@8.4.0", "oak@1.0", "redb"] {
        assert_eq!(missing(&none, build), None, "no package of Debian has {build}");
    }
    let only_npm = open(INSTALLED, ABSENT);
    assert_eq!(missing(&only_npm, "postgres@18.0"), None);
    assert_eq!(missing(&only_npm, "postgres@15.2").as_deref(), Some("maven"), "npm lacks it");
    let mysql = cfg!(target_arch = "x86_64").then_some("maven");
    assert_eq!(missing(&only_npm, "mysql@8.0.31").as_deref(), mysql);
    std::fs::create_dir_all(cache.path().join("engines/rocksdb/9.10.0")).expect("an entry");
    assert_eq!(missing(&none, "rocksdb@9.10.0"), None, "it is cached");
}
