//! Checks published findings against the experiment.

use model::{Expected, Published, PublishedFinding, Step, Variant};
use reader::error::PlanError;
use reader::place::{Place, Placed};

use crate::resolve::Resolver;
use crate::settings::{
    BASE, BASE_CLIENTS, BASE_VALUE, CLAIM, CLIENTS, DISTRIBUTION, EXPECT, Key, METRIC, OCCURRENCE,
    RATIO, REASONS, SCALED, SETUP, SIZE, SIZES, SOURCE, STEP, STEP_CLIENTS, Setting, VALUE,
    VARIANT,
};
use crate::spec::{File, Section};
use crate::value::Levels;

/// The metric of a finding that names none.
const METRIC_DEFAULT: &str = "throughput_ops_per_s";

/// An experiment as written.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    /// The file before the command line's values.
    pub(crate) file: &'a File,
    /// Whether the command line names the key distribution.
    pub(crate) is_distribution_typed: bool,
}

/// The experiment that findings are checked against.
///
/// A finding refers to the experiment as written; one that the command line excludes is not
/// measured.
pub(crate) struct FindingContext<'a> {
    pub(crate) written: Written<'a>,
    pub(crate) variants: &'a [Variant],
    pub(crate) steps: &'a [Step],
    /// The levels that will be run.
    pub(crate) levels: &'a [u32],
}

impl Resolver<'_> {
    /// Checks all publications.
    pub(crate) fn published(
        &self,
        tables: &[Section],
        context: &FindingContext<'_>,
    ) -> Result<Vec<Published>, PlanError> {
        tables.iter().map(|table| self.publication(table, context)).collect()
    }

    fn publication(
        &self,
        table: &Section,
        context: &FindingContext<'_>,
    ) -> Result<Published, PlanError> {
        let findings = table.tables.as_deref().unwrap_or_default();
        if findings.is_empty() {
            return Err(PlanError::new("the publication has no finding")
                .at(table.place_of(SOURCE), "nothing to compare with")
                .remedy(
                    "add a [[published.finding]] with `claim`, `variant`, `step` and a ratio",
                ));
        }
        let findings = findings.iter().map(|finding| self.finding([finding, table], context));
        let scaled = table.text(SCALED).trim().to_owned();
        Ok(Published {
            source: table.value(SOURCE).unwrap_or_default(),
            setup: table.value(SETUP).unwrap_or_default(),
            scaled,
            findings: findings.collect::<Result<_, _>>()?,
        })
    }

    /// Checks a finding; its sizes are the publication's where it names none.
    fn finding(
        &self,
        [table, publication]: [&Section; 2],
        context: &FindingContext<'_>,
    ) -> Result<PublishedFinding, PlanError> {
        let sizes = self.sizes([table, publication], context)?;
        let names: Vec<_> = context.variants.iter().map(|one| one.name.as_str()).collect();
        let variant = self.one_of(table.get(VARIANT), "variant", &names)?;
        let clients = self.level(table, context, &sizes)?;
        let base_clients = self.level_named(table, BASE_CLIENTS, context, &sizes)?;
        let base = match (table.get(BASE), context.written.file.experiment.get(BASE)) {
            (None, _) if base_clients.is_some() => variant.clone(),
            (None, None) => context.variants[0].name.clone(),
            (own, of_file) => self.one_of(own.or(of_file), "variant", &names)?,
        };
        // Without a level of its own a finding is of the only one.
        let own_level = clients.or_else(|| levels_of(context).1.first().copied());
        if variant == base && base_clients.is_none_or(|level| Some(level) == own_level) {
            return Err(PlanError::new(format!("`{variant}` is compared with itself"))
                .at(table.place_of(VARIANT), "the base too")
                .remedy("name another variant, another `base`, or other `base_clients`"));
        }
        let (step, occurrence) = self.step_named(table, context)?;
        let (value, base_value, expected) = self.expected(table)?;
        let distribution = table.get(DISTRIBUTION).map(|text| text.value.clone());
        Ok(PublishedFinding {
            claim: table.value(CLAIM).unwrap_or_default(),
            variant,
            base,
            step,
            distribution,
            occurrence,
            clients,
            base_clients,
            sizes,
            metric: self.metric(table)?,
            value,
            base_value,
            expected,
            reasons: table.text(REASONS).lines().map(str::to_owned).collect(),
        })
    }

    /// Checks a name against the known ones.
    fn one_of(
        &self,
        name: Option<&Placed<String>>,
        what: &str,
        names: &[&str],
    ) -> Result<String, PlanError> {
        let (word, place) =
            name.map_or(("", Place::Unwritten), |name| (&name.value, name.place.clone()));
        if names.contains(&word) {
            return Ok(word.to_owned());
        }
        Err(PlanError::new(format!("the experiment has no {what} `{word}`"))
            .at(place, format!("no such {what}"))
            .meant(word, names.iter().copied(), format!("{what}s: {}", names.join(", "))))
    }

    /// Checks that the finding refers to exactly one step; returns its name and which of these.
    fn step_named(
        &self,
        table: &Section,
        context: &FindingContext<'_>,
    ) -> Result<(String, Option<u32>), PlanError> {
        let mut names: Vec<&str> = context.steps.iter().map(|step| step.name.as_str()).collect();
        names.dedup();
        let name = self.one_of(table.get(STEP), "step", &names)?;
        let of_name = context.steps.iter().filter(|step| step.name == name);
        let known: Vec<_> = of_name.map(|step| step.distribution.as_str()).collect();
        let named = table.get(DISTRIBUTION).map(|text| &text.value);
        let is_meant = |known: &&&str| named.is_none_or(|named| named == **known);
        let occurrence = table.value(OCCURRENCE);
        match (known.iter().filter(is_meant).count(), named, occurrence) {
            (1, _, None) => Ok((name, None)),
            (several, _, Some(at)) if at >= 1 && at as usize <= several => Ok((name, Some(at))),
            // The command line's distribution may be in none of them.
            (0, ..) if context.written.is_distribution_typed => Ok((name, None)),
            (0, Some(word), _) => {
                Err(PlanError::new(format!("no step `{name}` has the distribution `{word}`"))
                    .at(table.place_of(DISTRIBUTION), "no such step")
                    .remedy(format!("distributions of `{name}`: {}", known.join(", "))))
            }
            (several, _, Some(at)) => {
                Err(PlanError::new(format!("there is no step `{name}` number {at}"))
                    .at(table.place_of(OCCURRENCE), "no such step")
                    .remedy(format!("write a number from 1 to {several}")))
            }
            (several, ..) => Err(PlanError::new(format!(
                "there are {several} such steps `{name}`"
            ))
            .at(table.place_of(STEP), "which of them?")
            .remedy(format!(
                "add `occurrence`, the number of the step among these steps, or `distribution`, if \
                 the steps differ in it: {}",
                known.join(", ")
            ))),
        }
    }

    /// Checks the names of the sizes that can decide a finding.
    fn sizes(
        &self,
        tables: [&Section; 2],
        context: &FindingContext<'_>,
    ) -> Result<Vec<String>, PlanError> {
        let Some(list) = tables.iter().find_map(|table| table.get(SIZES)) else {
            return Ok(Vec::new());
        };
        let known = context.written.file.size_names();
        if let Some(name) = list.value.lines().find(|name| !known.contains(name)) {
            return Err(PlanError::new(format!("the experiment has no size `{name}`"))
                .at(&list.place, "no such size")
                .meant(name, known.iter().copied(), format!("sizes: {}", known.join(", "))));
        }
        Ok(list.value.lines().map(str::to_owned).collect())
    }

    /// Checks the number of clients, which a finding of a file of one level may leave out.
    fn level(
        &self,
        table: &Section,
        context: &FindingContext<'_>,
        sizes: &[String],
    ) -> Result<Option<u32>, PlanError> {
        let level = self.level_named(table, STEP_CLIENTS, context, sizes)?;
        if level.is_some() {
            return Ok(level);
        }
        let (is_sweep, listed) = levels_of(context);
        if is_sweep || listed.len() > 1 {
            let levels = if listed.is_empty() {
                String::new()
            } else {
                format!("; levels: {}", text_of(&listed))
            };
            return Err(PlanError::new("the finding has no number of clients")
                .at(table.place_of(STEP), "run at several levels")
                .remedy(format!("add `clients`{levels}")));
        }
        // The command line has several levels where the file has one: the file's applies.
        let is_one = context.levels.len() == 1;
        Ok(if is_one { None } else { listed.first().copied() })
    }

    /// Checks a level of clients that a finding names; one missing on this machine alone is valid.
    ///
    /// So is any level of a finding that another size decides.
    fn level_named(
        &self,
        table: &Section,
        key: &Key<u32>,
        context: &FindingContext<'_>,
        sizes: &[String],
    ) -> Result<Option<u32>, PlanError> {
        let Some(level) = table.value(key) else { return Ok(None) };
        let size = context.written.file.experiment.get(SIZE).map(|size| &size.value);
        let is_elsewhere = size.is_some_and(|own| !sizes.is_empty() && !sizes.contains(own));
        let (_, listed) = levels_of(context);
        if listed.is_empty() || listed.contains(&level) || is_elsewhere {
            return Ok(Some(level));
        }
        Err(PlanError::new(format!("the experiment has no level of {level} clients"))
            .at(table.place_of(key), "no such level")
            .remedy(format!("levels: {}", text_of(&listed))))
    }

    fn metric(&self, table: &Section) -> Result<String, PlanError> {
        let Some(name) = table.get(METRIC) else { return Ok(METRIC_DEFAULT.to_owned()) };
        self.derived_metric(&name.value, name.place.clone())
    }

    /// Checks the published result: two values, a ratio or a keyword, and only one of these.
    fn expected(&self, table: &Section) -> Result<(Option<f64>, Option<f64>, Expected), PlanError> {
        let [value, base, ratio] = [VALUE, BASE_VALUE, RATIO].map(|key| table.value(key));
        let (message, setting, label): (_, &Setting, _) =
            match (value, base, ratio, table.value(EXPECT)) {
                (Some(value), Some(base), None, None) => {
                    return Ok((Some(value), Some(base), Expected::Ratio(value / base)));
                }
                (None, None, Some(ratio), None) => return Ok((None, None, Expected::Ratio(ratio))),
                (None, None, None, Some(expected)) => return Ok((None, None, expected)),
                (None, None, None, None) => ("the finding has no result", CLAIM, "no number"),
                (Some(_), None, None, None) => {
                    ("the ratio of `value` to `base_value` needs `base_value`", VALUE, "only this")
                }
                (None, Some(_), None, None) => {
                    ("the ratio of `value` to `base_value` needs `value`", BASE_VALUE, "only this")
                }
                (.., Some(_)) => ("the finding has two results", EXPECT, "the second"),
                (.., None) => ("the finding has two results", RATIO, "the second"),
            };
        Err(PlanError::new(message)
            .at(table.place_of(setting), label)
            .remedy("write `value` and `base_value`, or `ratio`, or `expect`"))
    }
}

/// Returns whether the file sweeps over levels of clients, and those that it lists.
fn levels_of(context: &FindingContext<'_>) -> (bool, Vec<u32>) {
    match context.written.file.factors.value(CLIENTS) {
        None => (false, vec![1]),
        Some(Levels::Listed(levels)) => (false, levels),
        Some(Levels::Sweep) => (true, Vec::new()),
        Some(Levels::Adaptive) => (false, Vec::new()),
    }
}

fn text_of(levels: &[u32]) -> String {
    levels.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::load;
    use crate::overrides::Overrides;
    use crate::tests::sample::{FILE, MACHINE, TestCatalog};

    /// A second variant, and a publication with one finding; `FINDING` stands for its text.
    const MORE: &str = r#"
[[variant]]
name = "b"
engine = "tree"

[[published]]
source = " Author, 2022, Trees "
setup = "a big machine"
scaled = "10k rows"
[[published.finding]]
claim = "b is faster"
FINDING
"#;

    fn file(finding: &str) -> String {
        FILE.to_owned() + &MORE.replace("FINDING", finding)
    }

    fn loaded(text: &str, overrides: &Overrides) -> Result<Vec<Published>, PlanError> {
        let checked = load("f.toml", text, overrides, &TestCatalog::default(), MACHINE)?;
        Ok(checked.experiment.published)
    }

    fn found(finding: &str) -> PublishedFinding {
        loaded(&file(finding), &Overrides::default()).unwrap()[0].findings[0].clone()
    }

    /// Returns the message, the text it points at, and the remedy.
    fn refused(text: &str) -> (String, String, String) {
        use miette::Diagnostic as _;
        let error = loaded(text, &Overrides::default()).unwrap_err();
        let place = error.labels().and_then(|mut labels| labels.next());
        let text = place.map(|at| text[at.offset()..at.offset() + at.len()].to_owned());
        let help = error.help().map_or(String::new(), |help| help.to_string());
        (error.to_string(), text.unwrap_or_default(), help)
    }

    fn refused_finding(finding: &str) -> (String, String, String) {
        refused(&file(finding))
    }

    const B: &str = "variant = \"b\"\nstep = \"readwhilewriting\"\n";

    #[test]
    fn a_finding_defaults_to_throughput_against_the_base() {
        let all = loaded(&file(&format!("{B}ratio = 1.4")), &Overrides::default()).unwrap();
        assert_eq!(
            (all[0].source.as_str(), all[0].scaled.as_str()),
            ("Author, 2022, Trees", "10k rows")
        );
        let one = &all[0].findings[0];
        assert_eq!((one.base.as_str(), one.metric.as_str()), ("a", METRIC_DEFAULT));
        assert_eq!((one.clients, one.expected), (None, Expected::Ratio(1.4)));
    }

    #[test]
    fn two_values_give_the_ratio_and_keywords_a_direction() {
        let one = found(&format!("{B}value = 300\nbase_value = 200.0"));
        assert_eq!((one.value, one.base_value), (Some(300.0), Some(200.0)));
        assert_eq!(one.expected, Expected::Ratio(1.5));
        for (word, expected) in crate::value::EXPECTED {
            assert_eq!(found(&format!("{B}expect = \"{word}\"")).expected, expected);
        }
    }

    #[test]
    fn a_finding_has_one_comparable_result() {
        let message = |text: &str| {
            let (message, place, _) = refused_finding(&format!("{B}{text}"));
            (message, place)
        };
        let required_text = |message: &str, place: &str| (message.to_owned(), place.to_owned());
        assert_eq!(message("").0, "the finding has no result");
        let twice = message("ratio = 2\nexpect = \"higher\"");
        assert_eq!(twice, required_text("the finding has two results", "\"higher\""));
        assert_eq!(
            message("value = 7"),
            required_text("the ratio of `value` to `base_value` needs `base_value`", "7")
        );
        assert_eq!(
            message("base_value = 7"),
            required_text("the ratio of `value` to `base_value` needs `value`", "7")
        );
        assert_eq!(message("ratio = 0"), required_text("a ratio of 0 cannot be compared", "0"));
        assert_eq!(
            message("ratio = inf"),
            required_text("a ratio of inf cannot be compared", "inf")
        );
        let negative = message("value = 3\nbase_value = -1.5");
        assert_eq!(negative, required_text("a value of -1.5 cannot be compared", "-1.5"));
        let (message, place, help) = refused_finding(&format!("{B}expect = \"hihger\""));
        assert_eq!((&*message, &*place), ("`hihger` is not a known expectation", "\"hihger\""));
        assert_eq!(help, "did you mean `higher`?");
    }

    #[test]
    fn every_name_must_be_in_the_experiment() {
        let finding = |variant: &str, step: &str, more: &str| {
            refused_finding(&format!(
                "variant = \"{variant}\"\nstep = \"{step}\"\nratio = 2\n{more}"
            ))
        };
        let (message, place, help) = finding("c", "fillseq", "");
        assert_eq!((&*message, &*place), ("the experiment has no variant `c`", "\"c\""));
        assert!(help.starts_with("did you mean `"), "{help}");
        let (message, _, help) = finding("b", "readwhilewritin", "");
        assert_eq!(&*message, "the experiment has no step `readwhilewritin`");
        assert_eq!(help, "did you mean `readwhilewriting`?");
        let (_, _, help) = finding("b", "settle", "");
        assert_eq!(help, "steps: fillseq, overwritesome, readwhilewriting");
        let (message, _, _) = finding("b", "fillseq", "base = \"b\"");
        assert_eq!(message, "`b` is compared with itself");
        let (message, _, help) = finding("b", "fillseq", "metric = \"cpu_us_per_ops\"");
        assert_eq!(message, "no metric is named `cpu_us_per_ops`");
        assert_eq!(help, "did you mean `cpu_us_per_op`?");
        let (message, _, _) = finding("b", "fillseq", "metric = \"device_reads\"");
        assert_eq!(message, "`device_reads` is a raw reading, which has no ratio");
        let (message, _, help) = finding("b", "fillseq", "clients = 4");
        assert_eq!((&*message, &*help), ("the experiment has no level of 4 clients", "levels: 1"));
        let (message, _, help) = finding("b", "fillseq", "wariant = \"b\"");
        assert_eq!(message, "unknown key `wariant` in [[published.finding]]");
        assert_eq!(help, "did you mean `variant`?");
    }

    #[test]
    fn a_finding_names_the_sizes_that_decide_it() {
        let sized = |finding: &str, more: &str| {
            let text = file(&format!("{B}ratio = 2\n{finding}"));
            text.replace("scaled", &format!("{more}scaled")) + "\n[size.night]\nrows = \"1k\"\n"
        };
        let sizes = |finding: &str, more: &str, chosen: Option<&str>| {
            let size = chosen.map(str::to_owned);
            let loaded = loaded(&sized(finding, more), &Overrides { size, ..Overrides::default() });
            loaded.map(|all| all[0].findings[0].sizes.join(" "))
        };
        assert_eq!(sizes("", "", None).unwrap(), "");
        let night = "sizes = [\"night\"]\n";
        assert_eq!(sizes("", night, None).unwrap(), "night", "the publication's");
        assert_eq!(sizes(night, "", Some("night")).unwrap(), "night");
        let (message, _, help) = refused(&sized("sizes = [\"nigth\"]", ""));
        assert_eq!(
            (&*message, &*help),
            ("the experiment has no size `nigth`", "did you mean `night`?")
        );
        // Another size has other levels.
        let elsewhere = format!("{night}clients = 64");
        assert!(sizes(&elsewhere, "", Some("night")).is_err());
        let of_brief = sized("sizes = [\"brief\"]", "");
        let of_brief = of_brief.replacen("question", "size = \"brief\"\nquestion", 1);
        let at_night = Overrides { size: Some("night".to_owned()), ..Overrides::default() };
        assert_eq!(
            super::tests::loaded(&of_brief, &at_night).unwrap()[0].findings[0].sizes,
            ["brief"]
        );
        let own = sized(&elsewhere, "").replacen("question", "size = \"brief\"\nquestion", 1);
        assert_eq!(
            super::tests::loaded(&own, &Overrides::default()).unwrap()[0].findings[0].clients,
            Some(64)
        );
    }

    #[test]
    fn a_publication_has_source_setup_and_findings() {
        let whole = file(&format!("{B}ratio = 2"));
        let (message, ..) = refused(&whole.replace("a big machine", " "));
        assert_eq!(message, "the publication has no setup");
        let (message, ..) = refused(&whole.replace(" Author, 2022, Trees ", ""));
        assert_eq!(message, "the publication has no source");
        let (message, ..) = refused(&whole.replace("b is faster", ""));
        assert_eq!(message, "the finding has no claim");
        let (none, _) = whole.split_once("[[published.finding]]").unwrap();
        let (message, place, _) = refused(none);
        assert_eq!(message, "the publication has no finding");
        assert_eq!(place, "\" Author, 2022, Trees \"");
        let (message, _, help) = refused(&whole.replace("setup", "setups"));
        assert_eq!(message, "unknown key `setups` in [[published]]");
        assert_eq!(help, "did you mean `setup`?");
    }

    #[test]
    fn steps_of_one_name_are_distinguished_by_distribution() {
        let steps = "\"overwritesome\", { step = \"readwhilewriting\", duration = \"1s\" }, ";
        let twins = |text: &str| {
            file(&format!("{B}ratio = 2\n{text}")).replacen("\"overwritesome\", ", steps, 1)
        };
        let (message, _, help) = refused(&twins(""));
        assert_eq!(message, "there are 2 such steps `readwhilewriting`");
        let remedy = "add `occurrence`, the number of the step among these steps, or \
                      `distribution`, if the steps differ in it: uniform, uniform";
        assert_eq!(help, remedy);
        let second = loaded(&twins("occurrence = 2"), &Overrides::default()).unwrap();
        assert_eq!(second[0].findings[0].occurrence, Some(2));
        let (message, place, help) = refused(&twins("occurrence = 3"));
        assert_eq!(message, "there is no step `readwhilewriting` number 3");
        assert_eq!((&*place, &*help), ("3", "write a number from 1 to 2"));
        let (message, ..) = refused(&twins("distribution = \"uniform\""));
        assert_eq!(message, "there are 2 such steps `readwhilewriting`");
        let (message, place, help) =
            refused_finding(&format!("{B}ratio = 2\ndistribution = \"zipf\""));
        assert_eq!(message, "no step `readwhilewriting` has the distribution `zipf`");
        assert_eq!((&*place, &*help), ("\"zipf\"", "distributions of `readwhilewriting`: uniform"));
        let one = found(&format!("{B}ratio = 2\ndistribution = \"uniform\""));
        assert_eq!(one.distribution.as_deref(), Some("uniform"));
    }

    /// Goal: a finding that the command line excludes is not measured, and never rejected; errors
    /// of the file itself are rejected all the same.
    #[test]
    fn overrides_never_reject_a_finding() {
        let clients = |levels: &str, finding: &str| {
            file(&format!("{B}ratio = 2\n{finding}")).replacen(
                "[[variant]]",
                &format!("[factors]\nclients = {levels}\n[[variant]]"),
                1,
            )
        };
        let level = |text: &str, typed: Option<&str>| {
            let none = Overrides::default();
            let overrides = typed.iter().fold(none, |all, text| all.with("clients", text));
            loaded(text, &overrides).map(|all| all[0].findings[0].clients)
        };
        assert_eq!(level(&clients("[2]", ""), None).unwrap(), None);
        assert_eq!(level(&clients("[2]", ""), Some("4")).unwrap(), None, "the only level");
        assert_eq!(level(&clients("[2]", ""), Some("4,8")).unwrap(), Some(2), "the file's");
        assert_eq!(level(&clients("[1, 2]", "clients = 2"), Some("4")).unwrap(), Some(2));
        assert_eq!(level(&clients("\"sweep\"", "clients = 90"), None).unwrap(), Some(90));
        let (message, place, help) = refused(&clients("[1, 2]", ""));
        assert_eq!(
            (&*message, &*place),
            ("the finding has no number of clients", "\"readwhilewriting\"")
        );
        assert_eq!(help, "add `clients`; levels: 1, 2");
        assert_eq!(refused(&clients("\"sweep\"", "")).2, "add `clients`");
        assert!(level(&clients("[1, 2]", "clients = 3"), Some("3")).is_err());
        // A level against another of the same variant.
        let levels = |finding: &str| clients("[1, 2]", &format!("clients = 2\n{finding}"));
        let found = loaded(&levels("base_clients = 1"), &Overrides::default()).unwrap();
        let found = &found[0].findings[0];
        assert_eq!((&*found.base, found.clients, found.base_clients), ("b", Some(2), Some(1)));
        assert_eq!(refused(&levels("base_clients = 2")).0, "`b` is compared with itself");
        assert_eq!(refused(&levels("base_clients = 3")).2, "levels: 1, 2");
        let only = clients("[2]", "base_clients = 2");
        assert_eq!(refused(&only).0, "`b` is compared with itself");
        // A base from the command line is not the one a finding was published against.
        let overrides = Overrides::default().with("base", "b").with("distribution", "uniform");
        let text = file(&format!("{B}ratio = 2\ndistribution = \"zipf:0.9\""));
        assert_eq!(loaded(&text, &overrides).unwrap()[0].findings[0].base, "a");
    }
}
