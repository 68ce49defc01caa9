//! Declarations made before a run: measured steps and metrics, control, waivers.

use model::limits::joined_name;
use model::metric::{self, Kind, METRICS};
use model::{Step, Variant, Waiver};
use reader::error::{Errors, PlanError};
use reader::nearest;
use reader::place::{Place, Placed};

use crate::resolve::Resolver;
use crate::settings::{ANSWER, CODE, MEASURE, NAME, REASON};
use crate::spec::{File, Section};

impl Resolver<'_> {
    /// Checks the steps that the question is about: each is one of the experiment's.
    ///
    /// Without valid steps their names are not checked.
    pub(crate) fn measure(
        &self,
        experiment: &Section,
        steps: &[Step],
    ) -> Result<Vec<String>, PlanError> {
        let Some(list) = experiment.get(MEASURE) else { return Ok(Vec::new()) };
        let mut errors = Errors::default();
        let names: Vec<&str> = list.value.lines().collect();
        let known = || steps.iter().map(|step| step.name.as_str());
        for name in names.iter().filter(|name| !steps.is_empty() && known().all(|it| it != **name))
        {
            let error = PlanError::new(format!("`measure` names `{name}`, which is not a step"));
            let steps: Vec<&str> = known().collect();
            errors.push(
                error
                    .at(&list.place, "no such step")
                    .remedy(format!("steps: {}", steps.join(", "))),
            );
        }
        if names.is_empty() {
            errors.push(empty(list, "measure", "step"));
        }
        errors.result(names.into_iter().map(str::to_owned).collect())
    }

    /// Checks the metrics that the question is about: each is derived, and named once.
    ///
    /// Returns them with a warning for each that some variants cannot have.
    pub(crate) fn answer(
        &self,
        experiment: &Section,
        variants: &[Variant],
    ) -> Result<(Vec<String>, Vec<String>), PlanError> {
        let Some(list) = experiment.get(ANSWER) else { return Ok((Vec::new(), Vec::new())) };
        let (mut names, mut warnings) = (Vec::new(), Vec::new());
        let mut errors = Errors::default();
        for word in list.value.lines() {
            let name = errors.ok(self.derived_metric(word, list.place.clone()));
            warnings.extend(errors.or_default(self.check_answerable(
                word,
                variants,
                list.place.clone(),
            )));
            if name.is_some() && names.contains(&name) {
                errors.push(
                    PlanError::here(&list.place, format!("`answer` names `{word}` twice"))
                        .remedy("leave out one mention: the first metric decides"),
                );
            }
            names.push(name);
        }
        if names.is_empty() {
            errors.push(empty(list, "answer", "metric"));
        }
        errors.result((names.into_iter().flatten().collect(), warnings))
    }

    /// Checks the name of a metric that has ratios; an unknown one comes with the nearest.
    pub(crate) fn derived_metric(&self, word: &str, place: Place) -> Result<String, PlanError> {
        let message = match metric::find(word) {
            Some(found) if found.kind == Kind::Derived => return Ok(word.to_owned()),
            Some(_) => format!("`{word}` is a raw reading, which has no ratio"),
            None => format!("no metric is named `{word}`"),
        };
        let derived = METRICS.iter().filter(|one| one.kind == Kind::Derived).map(|one| one.name);
        let error = PlanError::here(place, message);
        let is_alike = |name: &&str| !word.is_empty() && name.contains(word);
        let alike: Vec<&str> = derived.clone().filter(is_alike).collect();
        let otherwise = "docs/reference/metrics.md lists all; for instance cpu_us_per_op";
        Err(match alike[..] {
            [] => error.meant(word, derived, otherwise),
            _ => error.remedy(format!("did you mean {}?", alike.join(" or "))),
        })
    }

    /// Checks the waivers: known rules, one reason each.
    pub(crate) fn waivers(&self, tables: &[Section]) -> Result<Vec<Waiver>, PlanError> {
        let (mut waivers, mut errors) = (Vec::new(), Errors::default());
        let whole = |table: &&Section| table.get(CODE).is_some() && table.get(REASON).is_some();
        for table in tables.iter().filter(whole) {
            waivers.extend(errors.ok(self.waiver(table, &waivers)));
        }
        errors.result(waivers)
    }

    fn waiver(&self, table: &Section, others: &[Waiver]) -> Result<Waiver, PlanError> {
        let (place, word, codes) =
            (table.place_of(CODE), table.text(CODE).trim(), self.catalog.rule_codes());
        let Some(code) = codes.iter().find(|known| known.eq_ignore_ascii_case(word)) else {
            let error = PlanError::new(format!("no rule has the code `{word}`"));
            let error = error.at(place, "unknown code");
            return Err(match nearest(&word.to_ascii_uppercase(), codes.iter().copied()) {
                Some(near) => error.remedy(format!("did you mean {near}?")),
                None => error.remedy(format!("rules: {}", codes.join(", "))),
            });
        };
        let reason = table.text(REASON).trim().to_owned();
        if reason.is_empty() {
            return Err(PlanError::new(format!("the waiver of {code} has no reason"))
                .at(table.place_of(REASON), "no reason")
                .remedy("give the reason: it is shown in the first line of every result"));
        }
        if others.iter().any(|waiver| waiver.code == *code) {
            return Err(PlanError::new(format!("{code} is waived twice"))
                .at(place, "the second time")
                .remedy(format!("keep one waiver of {code}, with the whole reason")));
        }
        Ok(Waiver { code: (*code).to_owned(), reason })
    }

    /// Adds the control, a copy of the base, right after it.
    pub(crate) fn add_control(
        &self,
        variants: &mut Vec<Variant>,
        base: &str,
        file: &File,
    ) -> Result<(), PlanError> {
        let name = joined_name(base, "control");
        if let Some(same) = file.variants.iter().find(|table| table.text(NAME) == name) {
            let place = same.place_of(NAME);
            return Err(PlanError::new(format!("the name `{name}` is needed for the control"))
                .at(place, "has the control's name")
                .remedy("give this variant another name, or leave the control out"));
        }
        let at = variants.iter().position(|variant| variant.name == base).unwrap_or(0);
        let control = Variant { name, is_control: true, ..variants[at].clone() };
        variants.insert(at + 1, control);
        Ok(())
    }
}

/// Returns the error of a list that names nothing.
fn empty(list: &Placed<String>, key: &str, what: &str) -> PlanError {
    let error = PlanError::new(format!("`{key}` names no {what}")).at(&list.place, "an empty list");
    error.remedy(format!("name the {what}s that the question is about, or leave `{key}` out"))
}

#[cfg(test)]
mod tests {
    use model::Waiver;

    use crate::catalog::Machine;
    use crate::experiment::load;
    use crate::overrides::Overrides;
    use crate::tests::sample::{FILE, MACHINE, TestCatalog, checked, experiment};

    const QUESTION: &str = "question = \"?\"";

    fn refused(old: &str, new: &str) -> (String, String) {
        use miette::Diagnostic as _;
        let error = checked(old, new).unwrap_err();
        let help = error.help().map_or(String::new(), |help| help.to_string());
        (error.to_string(), help)
    }

    #[test]
    fn the_margin_is_a_percentage_and_two_by_default() {
        let margin = |text: &str| experiment(QUESTION, &format!("{QUESTION}\n{text}")).margin;
        assert!((margin("") - 0.02).abs() < 1e-12);
        assert!((margin("margin = \"5 %\"") - 0.05).abs() < 1e-12);
        let (message, _) = refused(QUESTION, &format!("{QUESTION}\nmargin = 0.02"));
        assert_eq!(message, "`0.02` is not a percentage: write 2% or 0.5%");
    }

    #[test]
    fn measured_steps_are_steps_of_the_experiment() {
        let with = |text: &str| format!("{QUESTION}\nmeasure = {text}");
        let name = &experiment(QUESTION, QUESTION).steps[0].name;
        let measured = experiment(QUESTION, &with(&format!("[\"{name}\"]"))).measure;
        assert_eq!(measured, [name.as_str()]);
        let (message, help) = refused(QUESTION, &with("[\"readrandum\"]"));
        assert_eq!(message, "`measure` names `readrandum`, which is not a step");
        assert!(help.starts_with("steps: ") && help.contains(name.as_str()), "{help}");
        assert_eq!(refused(QUESTION, &with("[]")).0, "`measure` names no step");
    }

    #[test]
    fn the_answer_is_one_or_more_derived_metrics() {
        let with = |text: &str| format!("{QUESTION}\nanswer = {text}");
        let answer = experiment(QUESTION, &with("[\"device_reads_per_op\", \"cpu_us_per_op\"]"));
        assert_eq!(answer.answer, ["device_reads_per_op", "cpu_us_per_op"]);
        assert!(experiment(QUESTION, QUESTION).answer.is_empty());
        let refused = |text: &str| refused(QUESTION, &with(text));
        let (message, help) = refused("[\"cpu_us_per_ops\"]");
        assert_eq!(message, "no metric is named `cpu_us_per_ops`");
        assert_eq!(help, "did you mean `cpu_us_per_op`?");
        let (_, help) = refused("[\"reads_per_op\"]");
        assert_eq!(help, "did you mean device_reads_per_op or server_reads_per_op?");
        let (message, _) = refused("[\"server_reads\"]");
        assert_eq!(message, "`server_reads` is a raw reading, which has no ratio");
        let (message, _) = refused("[\"settle_s\", \"settle_s\"]");
        assert_eq!(message, "`answer` names `settle_s` twice");
        assert_eq!(refused("[]").0, "`answer` names no metric");
    }

    #[test]
    fn a_control_is_a_copy_of_the_base_right_after_it() {
        let two = "\"tree\"\n[[variant]]\nname = \"b\"\nengine = \"tree\"\ncache = \"1GiB\"\n\
                   [[variant]]\nname = \"c\"\nengine = \"tree\"";
        let text = FILE.replacen("\"tree\"", two, 1).replacen(
            QUESTION,
            "question = \"?\"\nbase = \"b\"\ncontrol = true",
            1,
        );
        let found =
            load("f.toml", &text, &Overrides::default(), &TestCatalog::default(), MACHINE).unwrap();
        let variants = &found.experiment.variants;
        let names: Vec<_> = variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "b-control", "c"]);
        assert!(variants[2].is_control && !variants[1].is_control);
        assert_eq!(variants[2].settings, variants[1].settings);
        // An error of the control points at the base's text.
        let [base, control] =
            ["b", "b-control"].map(|name| found.setting_refusal(name, "cache", "too small", ""));
        let place = |error: &reader::error::PlanError| {
            use miette::Diagnostic as _;
            error.labels().and_then(|mut labels| labels.next()).map(|label| label.offset())
        };
        assert!(place(&base).is_some());
        assert_eq!(place(&base), place(&control));
    }

    #[test]
    fn the_controls_name_must_be_free() {
        let clash = "\"tree\"\n[[variant]]\nname = \"a-control\"\nengine = \"tree\"";
        let overrides = Overrides::default().with("control", "true");
        let text = FILE.replacen("\"tree\"", clash, 1);
        let known = TestCatalog::default();
        let machine: Machine = MACHINE;
        let message = load("f.toml", &text, &overrides, &known, machine).unwrap_err().to_string();
        assert_eq!(message, "the name `a-control` is needed for the control");
    }

    #[test]
    fn a_waiver_names_a_rule_and_has_a_reason() {
        let waive = |text: &str| format!("\"tree\"\n[[waive]]\n{text}");
        let waived =
            experiment("\"tree\"", &waive("code = \"a001\"\nreason = \" it is the question \""));
        let expected = Waiver { code: "A001".to_owned(), reason: "it is the question".to_owned() };
        assert_eq!(waived.waivers, [expected]);
        let refused = |text: &str| refused("\"tree\"", &waive(text));
        let (message, help) = refused("code = \"A01\"\nreason = \"x\"");
        assert_eq!((&*message, &*help), ("no rule has the code `A01`", "did you mean A001?"));
        let (_, help) = refused("code = \"frequency\"\nreason = \"x\"");
        assert_eq!(help, "rules: A001, A008, A039");
        let (message, help) = refused("code = \"A008\"\nreason = \" \"");
        assert_eq!(message, "the waiver of A008 has no reason");
        assert!(help.starts_with("give the reason"), "{help}");
        let (message, _) =
            refused("code = \"A008\"\nreason = \"x\"\n[[waive]]\ncode = \"a008\"\nreason = \"y\"");
        assert_eq!(message, "A008 is waived twice");
        let (message, help) = refused("code = \"A008\"\nreasons = \"x\"");
        assert_eq!(
            (&*message, &*help),
            ("unknown key `reasons` in [[waive]]", "did you mean `reason`?")
        );
    }

    #[test]
    fn a_typed_waiver_replaces_the_files() {
        let file =
            FILE.replacen("\"tree\"", "\"tree\"\n[[waive]]\ncode = \"A001\"\nreason = \"old\"", 1);
        let typed = |code: &str, reason: &str| Waiver { code: code.into(), reason: reason.into() };
        let overrides = Overrides {
            waivers: vec![typed("a001", "new"), typed("A039", "quick")],
            ..Overrides::default().with("margin", "1%")
        };
        let found = load("f.toml", &file, &overrides, &TestCatalog::default(), MACHINE).unwrap();
        assert_eq!(found.experiment.waivers, [typed("A001", "new"), typed("A039", "quick")]);
        assert!((found.experiment.margin - 0.01).abs() < 1e-12);
    }
}
