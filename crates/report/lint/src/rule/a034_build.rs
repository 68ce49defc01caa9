//! A034: builds that were not made alike.

use std::collections::BTreeMap;

use model::Identity;
use model::record::Severity;

use super::{Rule, Seen};
use crate::context::{ComparisonContext, RunContext};

/// A debug build, or builds of one engine from different makers or with different abilities.
pub(crate) static RULE: Rule = Rule {
    code: "A034",
    name: "build",
    severity: Severity::Blocking,
    trigger: "a build says that it has debugging code; a doubt when builds of one engine are of \
              different makers (Maven, distribution, a file), or differ in hardware checksums or \
              in the compressions they have, or when releases were compiled with different \
              compilers or flags",
    why: "Compiler, flags and libraries move results as much as releases do: the difference may be \
          that of the makers.",
    remedy: "take all builds from one source, or compile them alike (assay engine add)",
    source: "seed 002, \"clang, gcc & compiler flags vs the insert benchmark & ARM\" and \"RocksDB \
             microbenchmarks: crc32c, xxh3 and lz4 uncompress\" (gcc and clang differ by 1.4); \
             reference, analysis, section 7, L34",
    run: Some(run),
    comparison: Some(comparison),
    ..Rule::SILENT
};

/// Words in a build's facts that tell of debugging code: SQLite's compile options.
const DEBUGGING: &[&str] = &["DEBUG", "SQLITE_DEBUG", "DEBUG=1", "debug_assertions"];
/// Facts that change what an engine can do on this CPU.
const ABILITIES: &[&str] = &["fast_crc32", "compression"];
/// Facts that tell how a build was compiled.
const COMPILED: &[&str] = &["compiler", "compiler_flags"];

/// Names of compressions that releases dropped: the codec itself is still there.
const PASSING: &[&str] = &["ZSTDNotFinalCompression"];

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let Some(identity) = &context.run.identity else { return Vec::new() };
    let is_debugging = |fact: &str| fact.split([' ', ',']).any(|word| DEBUGGING.contains(&word));
    let found = identity.facts.iter().filter(|(_, fact)| is_debugging(fact));
    found.map(|(name, _)| Seen::new(format!("the build's {name} name debugging code"))).collect()
}

fn comparison(context: &ComparisonContext<'_>) -> Vec<Seen> {
    let mut engines: BTreeMap<&str, BTreeMap<&str, &Identity>> = BTreeMap::new();
    for run in context.valid() {
        if let Some(identity) = &run.identity {
            engines.entry(&identity.engine).or_default().insert(&run.cell.variant, identity);
        }
    }
    engines.iter().flat_map(|(engine, builds)| unlike(engine, builds)).collect()
}

/// Tells in what the builds of one engine differ.
fn unlike(engine: &str, builds: &BTreeMap<&str, &Identity>) -> Vec<Seen> {
    let makers = differing(builds, |build| Some(maker(&build.origin).to_owned()));
    let evidence =
        makers.map(|makers| format!("builds of {engine} are of different makers: {makers}"));
    let abilities = ABILITIES.iter().filter_map(|name| {
        let facts = differing(builds, |build| build.facts.get(*name).map(|fact| told(fact)))?;
        Some(format!("builds of {engine} differ in {}: {facts}", name.replace('_', " ")))
    });
    let compiled = COMPILED.iter().filter_map(|name| {
        // Where one release is compiled in two ways, that is what is compared.
        differing(builds, |build| Some(build.version.clone()))?;
        let facts = differing(builds, |build| build.facts.get(*name).cloned())?;
        let what = if *name == "compiler" { "compilers" } else { "compiler flags" };
        Some(format!("releases of {engine} were compiled with different {what}: {facts}"))
    });
    let graded = |evidence| Seen::new(evidence).graded(Severity::Warning);
    evidence
        .into_iter()
        .map(|evidence| graded(evidence).sized("maker", 0.0))
        .chain(abilities.map(|evidence| graded(evidence).sized("ability", 0.0)))
        .chain(compiled.take(1).map(|evidence| {
            let remedy = "read the ratio as that of the builds: an older compiler handicaps the \
                          older release, so that what it lost since is at least this much";
            graded(evidence).remedied(remedy).sized("compiler", 0.0)
        }))
        .collect()
}

/// Returns a fact without words that come and go with releases.
fn told(fact: &str) -> String {
    let words = fact.split(' ').filter(|word| !PASSING.contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the values that differ among builds, each with the first variant that has it.
fn differing(
    builds: &BTreeMap<&str, &Identity>,
    of: impl Fn(&Identity) -> Option<String>,
) -> Option<String> {
    let mut values: Vec<(String, &str)> = Vec::new();
    for (variant, build) in builds {
        let value = of(build).filter(|value| values.iter().all(|(known, _)| known != value));
        values.extend(value.map(|value| (value, *variant)));
    }
    let told = |(value, variant): &(String, &str)| format!("{value} ({variant})");
    (values.len() > 1).then(|| values.iter().map(told).collect::<Vec<_>>().join(", "))
}

/// Returns the first word of an origin; paths are files of the user's.
fn maker(origin: &str) -> &str {
    match origin.split(' ').next() {
        Some(word) if !word.starts_with('/') => word,
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
    fn builds_of_different_makers_are_told() {
        assert_eq!(with(|_, _| ()), []);
        let told = with(|variant, build| {
            if variant == "b" {
                build.origin = "/usr/local/lib/librocksdb.so".to_owned();
            }
        });
        let evidence = "builds of rocksdb are of different makers: Maven (a), file (b)";
        assert_eq!(told, [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn builds_without_hardware_checksums_are_told() {
        let told = with(|variant, build| {
            if variant == "b" {
                build.facts.insert("fast_crc32".to_owned(), "no".to_owned());
            }
        });
        let evidence = "builds of rocksdb differ in fast crc32: on x86 (a), no (b)";
        assert_eq!(told, [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn releases_of_different_compilers_are_told_and_one_release_compiled_twice_is_not() {
        let compiled = |versions: [&str; 2]| {
            with(|variant, build| {
                let at = usize::from(variant == "b");
                let compiler = ["GCC 4.1.2", "GCC 8.3.1"][at].to_owned();
                build.version = versions[at].to_owned();
                build.facts.insert("compiler".to_owned(), compiler);
            })
        };
        assert_eq!(compiled(["8.0.31", "8.0.31"]), []);
        let evidence = "releases of rocksdb were compiled with different compilers: GCC 4.1.2 (a), GCC \
                    8.3.1 (b)";
        assert_eq!(compiled(["5.6.24", "8.0.31"]), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn names_that_releases_dropped_are_no_difference() {
        let told = with(|variant, build| {
            let more = if variant == "b" { " ZSTDNotFinalCompression" } else { "" };
            build.facts.insert("compression".to_owned(), format!("LZ4Compression ZSTD{more}"));
        });
        assert_eq!(told, []);
    }

    #[test]
    fn a_debug_build_is_blocking() {
        let told = with(|_, build| {
            build.facts.insert("compile_options".to_owned(), "DEBUG, THREADSAFE=1".to_owned());
        });
        let evidence = "a: the build's compile_options name debugging code, likewise in 1 other \
                    variant (6 runs)";
        assert_eq!(told, [(Severity::Blocking, evidence.to_owned())]);
    }
}
