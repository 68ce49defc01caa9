//! `assay engine list`: engines, cached builds and releases.

use std::collections::BTreeMap;

use model::BuildRef;
use plan::{Builds, EngineInfo};
use render::{Document, Format, Report, Style};
use serde::Serialize;
use supply::{Artifact, KNOWN_ROCKSDB, Store};

use crate::environment::Environment;
use crate::registry;
use crate::ui::aligned;

/// Engines with the ways to obtain their builds, cached builds, and releases.
#[derive(Serialize)]
pub(crate) struct EngineList {
    engines: Vec<Engine>,
    cached: Vec<Cached>,
    /// Cached builds that cannot be used, and why.
    pub(crate) damaged: Vec<String>,
    /// Known releases of engines; others are tried too.
    releases: Vec<Releases>,
    /// Releases that can be compiled.
    compilable: Vec<Releases>,
}

#[derive(Serialize)]
struct Engine {
    name: String,
    ways: Vec<&'static str>,
    about: &'static str,
}

#[derive(Serialize)]
struct Releases {
    engine: &'static str,
    releases: Vec<String>,
}

impl Releases {
    fn of(engine: &'static str, releases: impl IntoIterator<Item = impl ToString>) -> Self {
        Self { engine, releases: releases.into_iter().map(|one| one.to_string()).collect() }
    }

    fn row(&self) -> [String; 2] {
        [self.engine.to_owned(), self.releases.join(" ")]
    }
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
        let engine = |info: EngineInfo| {
            let (ways, about) = (ways_to_get(store, &info), registry::about(&info.name));
            Engine { name: info.name, ways, about }
        };
        let servers = registry::servers().map(|it| Releases::of(it.engine, store.known(it.engine)));
        let rocksdb = [Releases::of("rocksdb", KNOWN_ROCKSDB)];
        let infos = registry::infos(&registry::own_engines(environment));
        let compilable = supply::compilable().map(|(name, all)| Releases::of(name, all));
        Self {
            engines: infos.into_iter().map(engine).collect(),
            cached: store.list().into_iter().map(Cached::from).collect(),
            damaged: store.damaged().iter().map(ToString::to_string).collect(),
            releases: rocksdb.into_iter().chain(servers).collect(),
            compilable: compilable.collect(),
        }
    }
}

impl Report for EngineList {
    fn document(&self, _: Format, _: Style) -> Document {
        let engine = |one: &Engine| [one.name.clone(), one.ways.join(", "), one.about.to_owned()];
        let mut lines = vec!["engines, and how to obtain their builds".to_owned()];
        lines.extend(rows(self.engines.iter().map(engine)));
        let get =
            "  linked: ENGINE alone; system, get: assay engine get ENGINE@system, ENGINE@RELEASE";
        lines.extend([get.to_owned(), "cached builds".to_owned()]);
        lines.extend(rows(self.cached.iter().map(|one| one.row.clone())));
        if self.cached.is_empty() {
            lines.push("  none yet: assay engine get rocksdb@VERSION".to_owned());
        }
        if let [rocksdb, servers @ ..] = &self.releases[..] {
            lines.push("known releases of rocksdb (others are tried too)".to_owned());
            lines.push(format!("  {}", rocksdb.releases.join(" ")));
            let servers = servers.iter().map(Releases::row);
            let title = "known releases of servers (other releases of postgres are tried too)";
            lines.push(title.to_owned());
            lines.extend(rows(servers));
        }
        lines.push("releases that can be compiled: assay engine build".to_owned());
        lines.extend(rows(self.compilable.iter().map(Releases::row)));
        Document::lines(lines)
    }

    fn data(&self) -> impl Serialize {
        self
    }
}

/// Returns the ways to obtain builds of an engine.
fn ways_to_get(store: &Store, info: &EngineInfo) -> Vec<&'static str> {
    let mut ways_to_get = Vec::new();
    if info.builds != Builds::Loaded {
        ways_to_get.push("linked");
    }
    if info.builds != Builds::Linked {
        let any = BuildRef { engine: info.name.clone(), version: None };
        let way = |example| if example == "system" { "system" } else { "get" };
        ways_to_get.extend(store.examples(&any).into_iter().map(way));
        // Several sources may offer releases.
        ways_to_get.dedup();
        if supply::compilable().any(|(engine, _)| engine == info.name) {
            ways_to_get.push("build");
        }
        ways_to_get.push("add");
    }
    ways_to_get
}

/// Formats rows with aligned columns.
fn rows<const N: usize>(rows: impl Iterator<Item = [String; N]>) -> impl Iterator<Item = String> {
    aligned(&rows.collect::<Vec<_>>()).into_iter().map(|row| format!("  {row}"))
}
