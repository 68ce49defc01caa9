//! `assay engine show`: version, origin and capabilities of a build.

use std::collections::BTreeMap;

use miette::Result;
use model::BuildRef;
use model::capability::Feature;
use plan::Builds;
use render::{Document, Format, Report, Style};
use serde::Serialize;

use super::requested_build::{artifact, check_loaded, known, to_library};
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::registry;
use crate::ui::Ui;

/// What is known of a build.
#[derive(Serialize)]
pub(crate) struct BuildFacts {
    engine: String,
    version: String,
    origin: String,
    facts: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<Server>,
    operations: Vec<&'static str>,
    durability: Vec<&'static str>,
    features: BTreeMap<String, Feature>,
}

/// The program of a server, and the size of its files.
#[derive(Serialize)]
struct Server {
    program: String,
    bytes: u64,
    #[serde(skip)]
    size: String,
}

impl BuildFacts {
    /// Opens a build and reads what it is.
    pub(crate) fn of(build: &BuildRef, environment: &Environment, ui: &Ui) -> Result<Self> {
        if build.version.is_some() || known(&build.engine, environment)?.builds == Builds::Loaded {
            check_loaded(build, environment)?;
        }
        let artifact = artifact(build, environment, ui)?;
        let library = artifact.as_ref().map(to_library);
        let driver = registry::driver(&build.engine, library.as_ref()).into_report()?;
        let identity = driver.identity();
        let origin = library.as_ref().map_or(&identity.origin, |library| &library.origin);
        // A server's version is known once it runs: until then the build's name is shown.
        let known = Some(&identity.version).filter(|version| !version.is_empty());
        let version = known.or(build.version.as_ref()).cloned().unwrap_or_default();
        let server = artifact.filter(|artifact| artifact.tree.is_some()).map(|it| Server {
            program: it.library.display().to_string(),
            bytes: it.bytes,
            size: it.size(),
        });
        let capabilities = driver.capabilities();
        let features = capabilities.features.clone();
        let mut facts = identity.facts.clone();
        let origin = origin.clone();
        facts.extend(library.map(|library| library.facts).unwrap_or_default());
        Ok(Self {
            engine: identity.engine.clone(),
            version,
            origin,
            facts,
            server,
            operations: capabilities.operations.iter().map(|kind| kind.name()).collect(),
            durability: capabilities.durability.iter().map(|class| class.name()).collect(),
            features,
        })
    }
}

impl Report for BuildFacts {
    fn document(&self, _: Format, _: Style) -> Document {
        let mut lines = vec![format!("{} {} ({})", self.engine, self.version, self.origin)];
        let mut fact = |name: &str, value: &str| lines.push(format!("  {name}: {value}"));
        self.facts.iter().for_each(|(name, value)| fact(name, value));
        if let Some(server) = &self.server {
            fact("program", &server.program);
            fact("size", &server.size);
        }
        fact("operations", &self.operations.join(", "));
        fact("durability", &self.durability.join(", "));
        for (name, feature) in &self.features {
            match feature {
                Feature::Yes => fact(name, "yes"),
                Feature::No(why) => fact(name, &format!("no, {why}")),
            }
        }
        Document::lines(lines)
    }

    fn data(&self) -> impl Serialize {
        self
    }
}
