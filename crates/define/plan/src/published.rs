//! What others published: each finding as written, checked against the experiment it is held to.

use std::ops::Range;

use model::metric::{self, Kind, METRICS};
use model::{Expected, Published, PublishedFinding, Step, Variant};
use toml::Spanned;

use crate::error::PlanError;
use crate::nearest::nearest;
use crate::overrides::Overrides;
use crate::resolve::Words;
use crate::spec::{ClientsEntry, File, FindingTable, PublishedTable};

/// The metric of a finding that names none.
const METRIC_DEFAULT: &str = "throughput_ops_per_s";

/// What may be expected where graphs and words tell no number.
const EXPECTED: [(&str, Expected); 3] =
    [("higher", Expected::Higher), ("lower", Expected::Lower), ("same", Expected::Same)];

/// What the file itself says, whatever the command line puts in its place: a finding is about the
/// experiment as it is written, and one that the command line leaves no room for is not measured.
#[derive(Debug, Clone)]
pub(crate) struct AsWritten {
    base: Option<Spanned<String>>,
    clients: Option<ClientsEntry>,
    /// Whether the command line names the key distribution.
    is_distribution_typed: bool,
}

impl AsWritten {
    /// Takes what findings need, before the command line's words are put in.
    pub(crate) fn of(file: &File, overrides: &Overrides) -> Self {
        Self {
            base: file.experiment.base.clone(),
            clients: file.factors.clients.as_ref().map(|entry| entry.get_ref().clone()),
            is_distribution_typed: overrides.distribution.is_some(),
        }
    }

    /// Returns the levels the file lists; `None` where a word stands for them.
    fn levels(&self) -> Option<&[u32]> {
        match &self.clients {
            None => Some(&[1]),
            Some(ClientsEntry::Levels(levels)) => Some(levels),
            Some(ClientsEntry::Word(_)) => None,
        }
    }

    /// Returns whether the file asks for several levels.
    fn has_several_levels(&self) -> bool {
        match &self.clients {
            Some(ClientsEntry::Word(word)) => word == "sweep",
            _ => self.levels().is_some_and(|levels| levels.len() > 1),
        }
    }
}

/// What findings are held to.
pub(crate) struct Ground<'a> {
    pub(crate) written: &'a AsWritten,
    pub(crate) variants: &'a [Variant],
    pub(crate) steps: &'a [Step],
    /// The levels that will be run.
    pub(crate) levels: &'a [u32],
}

impl Words<'_> {
    /// Checks all publications.
    pub(crate) fn published(
        &self,
        tables: &[PublishedTable],
        ground: &Ground<'_>,
    ) -> Result<Vec<Published>, PlanError> {
        tables.iter().map(|table| self.publication(table, ground)).collect()
    }

    fn publication(
        &self,
        table: &PublishedTable,
        ground: &Ground<'_>,
    ) -> Result<Published, PlanError> {
        let source = self.told(&table.source, "who published it?", "author, date and title")?;
        let setup = self.told(
            &table.setup,
            "on what was it measured?",
            "hardware, engine builds, rows and clients of the publication",
        )?;
        if table.finding.is_empty() {
            return Err(PlanError::new("the publication has no finding")
                .at(self.source, table.source.span(), "nothing to hold against it")
                .remedy(
                    "add a [[published.finding]] with `claim`, `variant`, `step` and a ratio",
                ));
        }
        let findings = table.finding.iter().map(|finding| self.finding(finding, ground));
        let scaled = table.scaled.trim().to_owned();
        Ok(Published { source, setup, scaled, findings: findings.collect::<Result<_, _>>()? })
    }

    /// Checks that a text says something.
    fn told(
        &self,
        text: &Spanned<String>,
        question: &str,
        remedy: &str,
    ) -> Result<String, PlanError> {
        let told = text.get_ref().trim();
        if !told.is_empty() {
            return Ok(told.to_owned());
        }
        Err(PlanError::new(question)
            .at(self.source, text.span(), "empty")
            .remedy(format!("write it here: {remedy}")))
    }

    fn finding(
        &self,
        table: &Spanned<FindingTable>,
        ground: &Ground<'_>,
    ) -> Result<PublishedFinding, PlanError> {
        let (table, place) = (table.get_ref(), table.span());
        let variant = self.variant_named(&table.variant, ground)?;
        let base = match (&table.base, &ground.written.base) {
            (Some(own), _) => self.variant_named(own, ground)?,
            (None, Some(base)) => self.variant_named(base, ground)?,
            (None, None) => ground.variants[0].name.clone(),
        };
        if variant == base {
            return Err(PlanError::new(format!("`{variant}` is held against itself"))
                .at(self.source, table.variant.span(), "the base too")
                .remedy("name another variant, or another `base`"));
        }
        let step = self.step_named(table, ground)?;
        let (value, base_value, expected) = self.expected(table, place)?;
        Ok(PublishedFinding {
            claim: self.told(&table.claim, "what was found?", "one sentence")?,
            variant,
            base,
            step,
            distribution: table.distribution.as_ref().map(|text| text.get_ref().clone()),
            clients: self.level(table, ground)?,
            metric: self.metric(table.metric.as_ref())?,
            value,
            base_value,
            expected,
            reasons: table.reasons.clone(),
        })
    }

    fn variant_named(
        &self,
        name: &Spanned<String>,
        ground: &Ground<'_>,
    ) -> Result<String, PlanError> {
        let names: Vec<&str> = ground.variants.iter().map(|one| one.name.as_str()).collect();
        self.one_of(name, "variant", &names)
    }

    /// Checks a name against those there are.
    fn one_of(
        &self,
        name: &Spanned<String>,
        what: &str,
        names: &[&str],
    ) -> Result<String, PlanError> {
        let word = name.get_ref();
        if names.contains(&word.as_str()) {
            return Ok(word.clone());
        }
        let error = PlanError::new(format!("the experiment has no {what} `{word}`"));
        let error = error.at(self.source, name.span(), format!("no such {what}"));
        Err(match nearest(word, names.iter().copied()) {
            Some(near) => error.remedy(format!("did you mean `{near}`?")),
            None => error.remedy(format!("{what}s: {}", names.join(", "))),
        })
    }

    /// Checks that one step, and one only, is meant.
    fn step_named(&self, table: &FindingTable, ground: &Ground<'_>) -> Result<String, PlanError> {
        let mut names: Vec<&str> = Vec::new();
        for step in ground.steps {
            if !names.contains(&step.name.as_str()) {
                names.push(&step.name);
            }
        }
        let meant: Vec<&Step> =
            ground.steps.iter().filter(|step| step.name == *table.step.get_ref()).collect();
        let name = self.one_of(&table.step, "step", &names)?;
        let distributions: Vec<&str> =
            meant.iter().map(|step| step.distribution.as_str()).collect();
        let Some(distribution) = &table.distribution else {
            if meant.len() == 1 {
                return Ok(name);
            }
            return Err(PlanError::new(format!("there are {} steps `{name}`", meant.len()))
                .at(self.source, table.step.span(), "which of them?")
                .remedy(format!("add `distribution`: {}", distributions.join(", "))));
        };
        let of_it = distributions.iter().filter(|known| *known == distribution.get_ref()).count();
        match of_it {
            1 => Ok(name),
            // What the command line names may be in none of them.
            0 if ground.written.is_distribution_typed => Ok(name),
            0 => {
                let word = distribution.get_ref();
                Err(PlanError::new(format!("no step `{name}` has the distribution `{word}`"))
                    .at(self.source, distribution.span(), "no such step")
                    .remedy(format!("distributions of `{name}`: {}", distributions.join(", "))))
            }
            several => Err(PlanError::new(format!("there are {several} such steps `{name}`"))
                .at(self.source, table.step.span(), "which of them?")
                .remedy("findings are held to steps that differ in name or distribution")),
        }
    }

    /// Checks the number of clients; a level that only this machine may lack is no error.
    fn level(&self, table: &FindingTable, ground: &Ground<'_>) -> Result<Option<u32>, PlanError> {
        let written = ground.written;
        let listed = written.levels().unwrap_or_default();
        let levels = || listed.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let Some(clients) = &table.clients else {
            if written.has_several_levels() {
                let known = if listed.is_empty() { String::new() } else { levels() };
                return Err(PlanError::new("with how many clients?")
                    .at(self.source, table.step.span(), "run at several levels")
                    .remedy(
                        format!("add `clients`; levels: {known}").trim_end_matches("; levels: "),
                    ));
            }
            // The command line asks for several where the file has one: that one is meant.
            let is_one = ground.levels.len() == 1;
            return Ok(if is_one { None } else { listed.first().copied() });
        };
        let level = self.clients(*clients.get_ref(), clients.span())?;
        if listed.is_empty() || listed.contains(&level) {
            return Ok(Some(level));
        }
        Err(PlanError::new(format!("the experiment has no level of {level} clients"))
            .at(self.source, clients.span(), "no such level")
            .remedy(format!("levels: {}", levels())))
    }

    fn metric(&self, name: Option<&Spanned<String>>) -> Result<String, PlanError> {
        let Some(name) = name else { return Ok(METRIC_DEFAULT.to_owned()) };
        let word = name.get_ref();
        let derived = || METRICS.iter().filter(|one| one.kind == Kind::Derived).map(|one| one.name);
        let found = metric::find(word);
        if found.is_some_and(|one| one.kind == Kind::Derived) {
            return Ok(word.clone());
        }
        let message = match found {
            Some(_) => format!("`{word}` is a raw reading, and has no ratio"),
            None => format!("no metric is named `{word}`"),
        };
        let error = PlanError::new(message).at(self.source, name.span(), "here");
        Err(match nearest(word, derived()) {
            Some(near) => error.remedy(format!("did you mean `{near}`?")),
            None => error.remedy("GLOSSARY.md lists all; for instance cpu_us_per_op"),
        })
    }

    /// Checks what was published: two values, a ratio or a word, and only one of these.
    fn expected(
        &self,
        table: &FindingTable,
        place: Range<usize>,
    ) -> Result<(Option<f64>, Option<f64>, Expected), PlanError> {
        const FORMS: &str = "write `value` and `base_value`, or `ratio`, or `expect`";
        let at = |message: String, place: Range<usize>, label: &str| {
            PlanError::new(message).at(self.source, place, label).remedy(FORMS)
        };
        let values = [&table.value, &table.base_value];
        let asked = [
            values.iter().find_map(|value| value.as_ref().map(Spanned::span)),
            table.ratio.as_ref().map(Spanned::span),
            table.expect.as_ref().map(Spanned::span),
        ];
        let mut asked = asked.into_iter().flatten();
        if asked.next().is_none() {
            let place = place.start..table.claim.span().end.min(place.end);
            return Err(at("what was published of the two?".to_owned(), place, "no number"));
        }
        if let Some(second) = asked.next() {
            return Err(at("it is told twice what was published".to_owned(), second, "once more"));
        }
        if let Some(word) = &table.expect {
            return Ok((None, None, self.expectation(word)?));
        }
        if let Some(ratio) = &table.ratio {
            return Ok((None, None, Expected::Ratio(self.above_zero(ratio, "a ratio")?)));
        }
        let missing = |known: &Option<Spanned<f64>>, name: &str| {
            let place = known.as_ref().map_or(place.clone(), Spanned::span);
            at(format!("a ratio needs `{name}` too"), place, "only this")
        };
        let Some(value) = &table.value else { return Err(missing(&table.base_value, "value")) };
        let Some(base) = &table.base_value else { return Err(missing(&table.value, "base_value")) };
        let value = self.above_zero(value, "a value")?;
        let base = self.above_zero(base, "a value")?;
        Ok((Some(value), Some(base), Expected::Ratio(value / base)))
    }

    fn expectation(&self, word: &Spanned<String>) -> Result<Expected, PlanError> {
        let text = word.get_ref();
        if let Some((_, found)) = EXPECTED.iter().find(|(name, _)| name == text) {
            return Ok(*found);
        }
        let error = PlanError::new(format!("`{text}` is nothing to expect"));
        let error = error.at(self.source, word.span(), "here");
        Err(match nearest(text, EXPECTED.map(|(name, _)| name)) {
            Some(near) => error.remedy(format!("did you mean `{near}`?")),
            None => error.remedy(
                "write \"higher\", \"lower\" or \"same\"; \
                                  a number goes into `ratio`",
            ),
        })
    }

    fn above_zero(&self, number: &Spanned<f64>, what: &str) -> Result<f64, PlanError> {
        let value = *number.get_ref();
        if value > 0.0 && value.is_finite() {
            return Ok(value);
        }
        Err(PlanError::new(format!("{what} of {value} cannot be compared")).at(
            self.source,
            number.span(),
            "must be more than zero",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::load;
    use crate::sample::{FILE, Knowledge, MACHINE};

    /// A second variant, and a publication with one finding; `FINDING` stands for its words.
    const MORE: &str = r#"
[[variant]]
name = "b"
engine = "tree"

[[published]]
source = " Somebody, 2022, Trees "
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
        let checked = load("f.toml", text, overrides, &Knowledge::default(), MACHINE)?;
        Ok(checked.experiment.published)
    }

    fn found(finding: &str) -> PublishedFinding {
        loaded(&file(finding), &Overrides::default()).unwrap()[0].findings[0].clone()
    }

    /// Returns what is said, the words it points at, and the remedy.
    fn refused(text: &str) -> (String, String, String) {
        use miette::Diagnostic as _;
        let error = loaded(text, &Overrides::default()).unwrap_err();
        let place = error.labels().and_then(|mut labels| labels.next());
        let words = place.map(|at| text[at.offset()..at.offset() + at.len()].to_owned());
        let help = error.help().map_or(String::new(), |help| help.to_string());
        (error.to_string(), words.unwrap_or_default(), help)
    }

    fn refused_finding(finding: &str) -> (String, String, String) {
        refused(&file(finding))
    }

    const B: &str = "variant = \"b\"\nstep = \"readwhilewriting\"\n";

    #[test]
    fn a_finding_is_about_the_throughput_against_the_base_when_it_says_no_more() {
        let all = loaded(&file(&format!("{B}ratio = 1.4")), &Overrides::default()).unwrap();
        assert_eq!(
            (all[0].source.as_str(), all[0].scaled.as_str()),
            ("Somebody, 2022, Trees", "10k rows")
        );
        let one = &all[0].findings[0];
        assert_eq!((one.base.as_str(), one.metric.as_str()), ("a", METRIC_DEFAULT));
        assert_eq!((one.clients, one.expected), (None, Expected::Ratio(1.4)));
    }

    #[test]
    fn two_values_make_the_ratio_and_words_stand_for_a_direction() {
        let one = found(&format!("{B}value = 300\nbase_value = 200.0"));
        assert_eq!((one.value, one.base_value), (Some(300.0), Some(200.0)));
        assert_eq!(one.expected, Expected::Ratio(1.5));
        for (word, expected) in EXPECTED {
            assert_eq!(found(&format!("{B}expect = \"{word}\"")).expected, expected);
        }
    }

    #[test]
    fn what_was_published_is_told_once_and_can_be_compared() {
        let said = |words: &str| {
            let (said, place, _) = refused_finding(&format!("{B}{words}"));
            (said, place)
        };
        let told = |said: &str, place: &str| (said.to_owned(), place.to_owned());
        assert_eq!(said("").0, "what was published of the two?");
        let twice = said("ratio = 2\nexpect = \"higher\"");
        assert_eq!(twice, told("it is told twice what was published", "\"higher\""));
        assert_eq!(said("value = 7"), told("a ratio needs `base_value` too", "7"));
        assert_eq!(said("base_value = 7"), told("a ratio needs `value` too", "7"));
        assert_eq!(said("ratio = 0"), told("a ratio of 0 cannot be compared", "0"));
        assert_eq!(said("ratio = inf"), told("a ratio of inf cannot be compared", "inf"));
        let negative = said("value = 3\nbase_value = -1.5");
        assert_eq!(negative, told("a value of -1.5 cannot be compared", "-1.5"));
        let (said, place, help) = refused_finding(&format!("{B}expect = \"hihger\""));
        assert_eq!((&*said, &*place), ("`hihger` is nothing to expect", "\"hihger\""));
        assert_eq!(help, "did you mean `higher`?");
    }

    #[test]
    fn every_name_is_one_of_the_experiment_s() {
        let finding = |variant: &str, step: &str, more: &str| {
            refused_finding(&format!(
                "variant = \"{variant}\"\nstep = \"{step}\"\nratio = 2\n{more}"
            ))
        };
        let (said, place, help) = finding("c", "fillseq", "");
        assert_eq!((&*said, &*place), ("the experiment has no variant `c`", "\"c\""));
        assert!(help.starts_with("did you mean `"), "{help}");
        let (said, _, help) = finding("b", "readwhilewritin", "");
        assert_eq!(&*said, "the experiment has no step `readwhilewritin`");
        assert_eq!(help, "did you mean `readwhilewriting`?");
        let (_, _, help) = finding("b", "settle", "");
        assert_eq!(help, "steps: fillseq, overwritesome, readwhilewriting");
        let (said, _, _) = finding("b", "fillseq", "base = \"b\"");
        assert_eq!(said, "`b` is held against itself");
        let (said, _, help) = finding("b", "fillseq", "metric = \"cpu_us_per_ops\"");
        assert_eq!(said, "no metric is named `cpu_us_per_ops`");
        assert_eq!(help, "did you mean `cpu_us_per_op`?");
        let (said, _, _) = finding("b", "fillseq", "metric = \"device_reads\"");
        assert_eq!(said, "`device_reads` is a raw reading, and has no ratio");
        let (said, _, help) = finding("b", "fillseq", "clients = 4");
        assert_eq!((&*said, &*help), ("the experiment has no level of 4 clients", "levels: 1"));
        let (said, _, help) = finding("b", "fillseq", "wariant = \"b\"");
        assert_eq!(said, "unknown key `wariant` in [[published.finding]]");
        assert_eq!(help, "did you mean `variant`?");
    }

    #[test]
    fn a_publication_says_who_on_what_and_finds_something() {
        let whole = file(&format!("{B}ratio = 2"));
        let (said, ..) = refused(&whole.replace("a big machine", " "));
        assert_eq!(said, "on what was it measured?");
        let (said, ..) = refused(&whole.replace(" Somebody, 2022, Trees ", ""));
        assert_eq!(said, "who published it?");
        let (said, ..) = refused(&whole.replace("b is faster", ""));
        assert_eq!(said, "what was found?");
        let (none, _) = whole.split_once("[[published.finding]]").unwrap();
        let (said, place, _) = refused(none);
        assert_eq!(said, "the publication has no finding");
        assert_eq!(place, "\" Somebody, 2022, Trees \"");
        let (said, _, help) = refused(&whole.replace("setup", "setups"));
        assert_eq!(said, "unknown key `setups` in [[published]]");
        assert_eq!(help, "did you mean `setup`?");
    }

    #[test]
    fn steps_of_one_name_are_told_apart_by_their_distribution() {
        let steps = "\"overwritesome\", { step = \"readwhilewriting\", duration = \"1s\" }, ";
        let twins = |words: &str| {
            file(&format!("{B}ratio = 2\n{words}")).replacen("\"overwritesome\", ", steps, 1)
        };
        let (said, _, help) = refused(&twins(""));
        assert_eq!(said, "there are 2 steps `readwhilewriting`");
        assert_eq!(help, "add `distribution`: uniform, uniform");
        let (said, ..) = refused(&twins("distribution = \"uniform\""));
        assert_eq!(said, "there are 2 such steps `readwhilewriting`");
        let (said, place, help) =
            refused_finding(&format!("{B}ratio = 2\ndistribution = \"zipf\""));
        assert_eq!(said, "no step `readwhilewriting` has the distribution `zipf`");
        assert_eq!((&*place, &*help), ("\"zipf\"", "distributions of `readwhilewriting`: uniform"));
        let one = found(&format!("{B}ratio = 2\ndistribution = \"uniform\""));
        assert_eq!(one.distribution.as_deref(), Some("uniform"));
    }

    /// Goal: the command line may take the ground from under a finding, which then is not measured,
    /// and never refused; what the file itself says wrong is refused all the same.
    #[test]
    fn what_the_command_line_changes_refuses_no_finding() {
        let clients = |levels: &str, finding: &str| {
            file(&format!("{B}ratio = 2\n{finding}")).replacen(
                "[[variant]]",
                &format!("[factors]\nclients = {levels}\n[[variant]]"),
                1,
            )
        };
        let level = |text: &str, typed: Option<&str>| {
            let typed = typed.map(str::to_owned);
            let overrides = Overrides { clients: typed, ..Overrides::default() };
            loaded(text, &overrides).map(|all| all[0].findings[0].clients)
        };
        assert_eq!(level(&clients("[2]", ""), None).unwrap(), None);
        assert_eq!(level(&clients("[2]", ""), Some("4")).unwrap(), None, "the only level");
        assert_eq!(level(&clients("[2]", ""), Some("4,8")).unwrap(), Some(2), "the file's");
        assert_eq!(level(&clients("[1, 2]", "clients = 2"), Some("4")).unwrap(), Some(2));
        assert_eq!(level(&clients("\"sweep\"", "clients = 90"), None).unwrap(), Some(90));
        let (said, place, help) = refused(&clients("[1, 2]", ""));
        assert_eq!((&*said, &*place), ("with how many clients?", "\"readwhilewriting\""));
        assert_eq!(help, "add `clients`; levels: 1, 2");
        assert_eq!(refused(&clients("\"sweep\"", "")).2, "add `clients`");
        assert!(level(&clients("[1, 2]", "clients = 3"), Some("3")).is_err());
        // A base from the command line is not the one a finding was published against.
        let overrides = Overrides {
            base: Some("b".to_owned()),
            distribution: Some("uniform".to_owned()),
            ..Overrides::default()
        };
        let text = file(&format!("{B}ratio = 2\ndistribution = \"zipf:0.9\""));
        assert_eq!(loaded(&text, &overrides).unwrap()[0].findings[0].base, "a");
    }
}
