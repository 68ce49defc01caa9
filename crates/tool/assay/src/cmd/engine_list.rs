//! `assay engine list`: engines, cached builds, and the builds that this machine can have.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use model::BuildRef;
use plan::{Builds, EngineInfo};
use render::{Document, Format, Report, Style};
use serde::Serialize;
use supply::{Artifact, Client, Offer, Store};

use crate::environment::Environment;
use crate::registry;
use crate::ui::aligned;

/// Longest list of releases that is printed whole; of a longer one the newest of each series is.
///
/// Our choice: one line of a wide terminal.
const WHOLE_MAX: usize = 16;

/// Engines with the ways to obtain their builds, and cached builds.
#[derive(Serialize)]
pub(crate) struct EngineList {
    /// The architecture that the releases are for.
    architecture: &'static str,
    engines: Vec<Engine>,
    cached: Vec<Cached>,
    /// Cached builds that cannot be used, and why.
    pub(crate) damaged: Vec<String>,
}

/// An engine, and the ways to its builds.
#[derive(Serialize)]
struct Engine {
    name: String,
    about: &'static str,
    /// Whether a build is linked into Assay.
    is_linked: bool,
    /// The versions of its cached builds.
    cached: Vec<String>,
    ways: Vec<Way>,
}

/// One way to builds of an engine.
#[derive(Serialize)]
struct Way {
    /// The subcommand: `get`, `build` or `add`.
    action: &'static str,
    /// The program that obtains the builds; `None` when they are here.
    #[serde(serialize_with = "command")]
    client: Option<Client>,
    /// The releases for this architecture, oldest first.
    releases: Vec<&'static str>,
    /// What else there is, or why there is nothing; may be empty.
    note: String,
}

fn command<S: serde::Serializer>(client: &Option<Client>, to: S) -> Result<S::Ok, S::Error> {
    client.as_ref().map(Client::program).serialize(to)
}

#[derive(Serialize)]
struct Cached {
    build: String,
    origin: String,
    bytes: u64,
    sha256: String,
    facts: BTreeMap<String, String>,
    #[serde(skip)]
    row: [String; 4],
}

impl From<Artifact> for Cached {
    fn from(artifact: Artifact) -> Self {
        Self {
            row: artifact.row(),
            build: artifact.build.to_string(),
            origin: artifact.origin,
            bytes: artifact.bytes,
            sha256: artifact.sha256,
            facts: artifact.facts,
        }
    }
}

impl EngineList {
    /// Reads the cache of builds.
    pub(crate) fn of(store: &Store, environment: &Environment) -> Self {
        let infos = registry::infos(&registry::own_engines(environment));
        let cached = store.list();
        let version = |build: &BuildRef| build.version.clone().unwrap_or_default();
        let cached_of = |engine: &str| {
            let all = cached.iter().map(|artifact| &artifact.build);
            all.filter(|build| build.engine == engine).map(version).collect()
        };
        let ways = |engine: &str| ways(store, engine, ARCH);
        let engine = |info: EngineInfo| Engine {
            cached: cached_of(&info.name),
            about: registry::about(&info.name),
            is_linked: info.builds != Builds::Loaded,
            ways: if info.builds == Builds::Linked { Vec::new() } else { ways(&info.name) },
            name: info.name,
        };
        Self {
            architecture: ARCH,
            engines: infos.into_iter().map(engine).collect(),
            damaged: store.damaged().iter().map(ToString::to_string).collect(),
            cached: cached.into_iter().map(Cached::from).collect(),
        }
    }
}

impl Report for EngineList {
    fn document(&self, _: Format, _: Style) -> Document {
        let title = format!("engines, and the builds for {ARCH}: assay engine get ENGINE@RELEASE");
        let mut lines = vec![title];
        let heads = aligned(&self.engines.iter().map(Engine::row).collect::<Vec<_>>());
        for (engine, head) in self.engines.iter().zip(heads) {
            lines.push(format!("  {head}"));
            let here = (!engine.cached.is_empty()).then(|| engine.cached.join(" "));
            let here = here.map(|versions| ["here".to_owned(), String::new(), versions]);
            let rows: Vec<_> = here.into_iter().chain(engine.ways.iter().map(Way::row)).collect();
            lines.extend(aligned(&rows).into_iter().map(|row| format!("    {row}")));
        }
        lines.push("cached builds".to_owned());
        let cached: Vec<_> = self.cached.iter().map(|one| one.row.clone()).collect();
        lines.extend(aligned(&cached).into_iter().map(|row| format!("  {row}")));
        if cached.is_empty() {
            lines.push("  none yet: assay engine get rocksdb@VERSION".to_owned());
        }
        Document::lines(lines)
    }

    fn data(&self) -> impl Serialize {
        self
    }
}

impl Engine {
    /// Returns its row: name, description.
    fn row(&self) -> [String; 2] {
        let linked = if self.is_linked { "; linked: no release is needed" } else { "" };
        [self.name.clone(), format!("{}{linked}", self.about)]
    }
}

/// Returns the ways to builds of an engine.
fn ways(store: &Store, engine: &str, arch: &str) -> Vec<Way> {
    let get = |Offer { client, releases, note }| Way {
        action: "get",
        client,
        releases: releases.to_vec(),
        note,
    };
    let mut ways: Vec<_> = store.offers(engine, arch).into_iter().map(get).collect();
    if let Some((_, releases)) = supply::compilable().find(|(name, _)| *name == engine) {
        let client = Some(Client::new("cargo", "cargo", "cargo"));
        ways.push(Way { action: "build", client, releases, note: String::new() });
    }
    let note = match registry::kind(engine) {
        Some(_) => "the directory of an installed server",
        None => "a library",
    };
    ways.push(Way { action: "add", client: None, releases: Vec::new(), note: note.to_owned() });
    ways
}

impl Way {
    /// Returns its row: action, client, releases with the note.
    fn row(&self) -> [String; 3] {
        // Without a release for this machine, its program is of no use.
        let is_lacking = |client: &Client| !client.is_installed() && !self.releases.is_empty();
        let (client, missing) = match &self.client {
            Some(client) if is_lacking(client) => {
                let (program, package) = (client.program(), client.package);
                (program, format!("needs {program} (Debian: apt install {package}): "))
            }
            Some(client) => (client.program(), String::new()),
            None => ("", String::new()),
        };
        let releases = shown(&self.releases);
        let separator = if releases.is_empty() || self.note.is_empty() { "" } else { "; " };
        [
            self.action.to_owned(),
            client.to_owned(),
            format!("{missing}{releases}{separator}{}", self.note),
        ]
    }
}

/// Returns the releases as text, of a long list the newest of each series.
fn shown(releases: &[&str]) -> String {
    if releases.len() <= WHOLE_MAX {
        return releases.join(" ");
    }
    let series = |release: &&str| release.split('.').next().map(str::to_owned);
    let newest: Vec<_> =
        releases.chunk_by(|a, b| series(a) == series(b)).filter_map(|all| all.last()).collect();
    let text = newest.iter().map(|release| **release).collect::<Vec<_>>().join(" ");
    format!("{text} and {} older releases of these series", releases.len() - newest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_each_series_stands_for_a_long_list() {
        let names = [11, 12].map(|major| (1..=9).map(move |minor| format!("{major}.{minor}")));
        let names: Vec<_> = names.into_iter().flatten().collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        assert_eq!(shown(&names), "11.9 12.9 and 16 older releases of these series");
        assert_eq!(shown(&names[..2]), "11.1 11.2");
    }

    /// Goal: where no release is published for an architecture, the line names what to do.
    #[test]
    fn a_program_without_releases_for_an_architecture_has_a_remedy() {
        let cache = tempfile::tempdir().expect("a directory");
        let store = Store::open(cache.path().to_owned()).expect("a cache");
        let rows = |engine, arch| {
            let ways = ways(&store, engine, arch).into_iter();
            let bare = ways.filter(|way| way.action == "get" && way.releases.is_empty());
            bare.map(|way| way.row().join(" ")).collect::<Vec<_>>()
        };
        for (engine, arch, count) in
            [("mysql", "aarch64", 2), ("mariadb", "aarch64", 1), ("postgres", "s390x", 2)]
        {
            let found = rows(engine, arch);
            let start = format!("no known release for {arch}; the releases for x86_64 are ");
            let remedy = format!(": use {engine}@system, or add your own with `assay engine add ");
            assert_eq!(found.len(), count, "{found:?}");
            for row in found {
                assert!(row.contains(&start) && row.contains(&remedy), "{row}");
                assert!(!row.contains("needs "), "{row}");
            }
        }
        let mut all = registry::servers().flat_map(|server| rows(server.engine, "aarch64"));
        assert!(all.all(|row| row.contains("`assay engine add ")));
        assert_eq!(rows("postgres", "aarch64"), [""; 0]);
    }

    /// Goal: a release that a run would refuse is offered nowhere.
    #[test]
    fn every_offered_release_can_be_run() {
        let cache = tempfile::tempdir().expect("a directory");
        let store = Store::open(cache.path().to_owned()).expect("a cache");
        for server in registry::servers() {
            let kind = registry::kind(server.engine).expect("a server's kind");
            for offer in store.offers(server.engine, ARCH) {
                for release in offer.releases {
                    assert_eq!(kind.check_name(release), Ok(()), "{}@{release}", server.engine);
                }
            }
        }
    }
}
