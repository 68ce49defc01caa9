//! Which variants can produce the metrics that a question names.

use model::{Metric, Variant, metric};
use reader::error::PlanError;
use reader::place::Place;

use crate::resolve::Resolver;

/// The kind of engine of which alone a metric can be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// An engine in the worker's own process.
    Embedded,
    /// A server, by its own counters.
    Server,
    /// A server that Assay starts, by its control group.
    StartedServer,
}

/// Metrics that not every kind of engine has.
///
/// Source: the formulas of `analysis::metrics`: an embedded engine is the worker, a server has a
/// control group of its own, and one that is already running has neither.
const SCOPES: [(Scope, &[Metric]); 3] = [
    (
        Scope::Embedded,
        &[metric::BACKGROUND_CPU_US_PER_OP, metric::RSS_PEAK_BYTES, metric::RSS_PER_CACHE],
    ),
    (
        Scope::Server,
        &[
            metric::COMMITS_PER_FSYNC,
            metric::HEAP_FETCHES_PER_OP,
            metric::WAL_PAGE_IMAGES_PER_OP,
            metric::BINLOG_BYTES_PER_OP,
            metric::DOUBLEWRITE_KIB_PER_OP,
            metric::ROWS_PER_OP,
            metric::WRITER_ROWS_PER_S,
            metric::WRITER_RATE_SHARE,
        ],
    ),
    (
        Scope::StartedServer,
        &[
            metric::SERVER_CPU_US_PER_OP,
            metric::SERVER_CONTEXT_SWITCHES_PER_OP,
            metric::SERVER_READS_PER_OP,
            metric::SERVER_READ_KIB_PER_OP,
            metric::SERVER_WRITES_PER_OP,
            metric::SERVER_WRITE_KIB_PER_OP,
            metric::SERVER_WRITES_PER_ROW_PUT,
            metric::SERVER_WRITE_KIB_PER_ROW_PUT,
        ],
    ),
];

impl Scope {
    /// Returns the scope of a metric; `None` where every engine may have it.
    fn of(name: &str) -> Option<Self> {
        let has = |(_, metrics): &&(_, &[Metric])| metrics.iter().any(|one| one.name == name);
        SCOPES.iter().find(has).map(|(scope, _)| *scope)
    }

    const fn phrase(self) -> &'static str {
        match self {
            Self::Embedded => "embedded engines",
            Self::Server => "servers",
            Self::StartedServer => "servers that Assay starts",
        }
    }
}

impl Resolver<'_> {
    /// Checks that variants can produce a metric; returns a warning where some cannot.
    ///
    /// # Errors
    /// When none can: hours of measuring would leave the question without an answer.
    pub(crate) fn check_answerable(
        &self,
        name: &str,
        variants: &[Variant],
        place: Place,
    ) -> Result<Option<String>, PlanError> {
        let Some(scope) = Scope::of(name) else { return Ok(None) };
        let without = variants.iter().filter(|variant| !self.can_have(variant, scope));
        let without: Vec<&str> = without.map(|variant| variant.name.as_str()).collect();
        let (whose, lacking) = (scope.phrase(), without.join(", "));
        match without.len() {
            0 => Ok(None),
            count if count == variants.len() => {
                Err(PlanError::new(format!("no variant reports `{name}`: only {whose} have it"))
                    .at(place, "named here")
                    .remedy(format!(
                        "name a metric that {lacking} can have; docs/reference/metrics.md lists all"
                    )))
            }
            _ => {
                Ok(Some(format!("`{name}` stays unknown (NA) for {lacking}: only {whose} have it")))
            }
        }
    }

    /// Returns whether a variant's engine may be of that kind.
    ///
    /// An engine of the user's own reports what it likes.
    fn can_have(&self, variant: &Variant, scope: Scope) -> bool {
        let engines = self.catalog.engines();
        let Some(info) = engines.iter().find(|info| info.name == variant.build.engine) else {
            return true;
        };
        let is_server = info.dialect.is_some();
        info.is_own
            || match scope {
                Scope::Embedded => !is_server,
                Scope::Server => is_server,
                Scope::StartedServer => is_server && variant.dsn.is_none(),
            }
    }
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;

    use crate::overrides::Overrides;
    use crate::tests::sample::{FILE, MACHINE, TestCatalog};

    /// Returns the warnings on the sample with these metrics and further variants.
    ///
    /// Of a refusal: its message, and the text it points at.
    fn answer(metrics: &str, more: &str) -> Result<Vec<String>, (String, String)> {
        let question = "question = \"?\"";
        let file = FILE.replacen(question, &format!("{question}\nanswer = {metrics}"), 1) + more;
        let (typed, catalog) = (Overrides::default(), TestCatalog::default());
        let checked = crate::experiment::load("sample.toml", &file, &typed, &catalog, MACHINE);
        checked.map(|checked| checked.warnings).map_err(|error| {
            let label = error.labels().and_then(|mut labels| labels.next()).expect("a place");
            let place = &file[label.offset()..label.offset() + label.len()];
            (error.to_string(), place.to_owned())
        })
    }

    const SERVER: &str = "[[variant]]\nname = \"b\"\nengine = \"pg@15\"\n";
    const RUNNING: &str =
        "[[variant]]\nname = \"c\"\nengine = \"pg\"\ndsn = \"postgres://me@db/x\"\n";

    #[test]
    fn metric_that_no_variant_can_have_is_refused_at_its_place() {
        let list = "[\"cpu_us_per_op\", \"server_reads_per_op\"]";
        let (message, place) = answer(list, "").unwrap_err();
        assert_eq!(
            message,
            "no variant reports `server_reads_per_op`: only servers that Assay starts have it"
        );
        assert_eq!(place, list);
        assert!(answer("[\"commits_per_fsync\"]", "").is_err());
    }

    #[test]
    fn metric_that_some_variants_lack_is_a_warning_that_names_them() {
        let more = format!("{SERVER}{RUNNING}");
        assert_eq!(
            answer("[\"server_reads_per_op\", \"rss_per_cache\"]", &more).unwrap(),
            [
                "`server_reads_per_op` stays unknown (NA) for a, c: only servers that Assay \
                 starts have it",
                "`rss_per_cache` stays unknown (NA) for b, c: only embedded engines have it",
            ]
        );
        let warned = answer("[\"commits_per_fsync\"]", &more).unwrap();
        assert!(warned[0].contains("for a: only servers"), "{warned:?}");
        assert!(answer("[\"device_reads_per_op\"]", &more).unwrap().is_empty());
    }
}
