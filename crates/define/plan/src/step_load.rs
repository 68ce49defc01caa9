//! Resolves a step's load from step, benchmark and client factor.

use model::{Limit, Load, Nanos, OpenLoad, Pace, Rate, Step, StopRule};
use reader::error::{Errors, PlanError, Source};
use reader::place::{Place, Placed};

use crate::clients::ClientsFactor;
use crate::rate::{self, WrittenRate};
use crate::resolve::Resolver;
use crate::settings::{ARRIVALS, PACING, PIPELINE, RATE, REUSE, SLA, Setting};
use crate::spec::Section;
use crate::window::{self, TooShort};
use crate::workload::RELATIVE;

/// The forms of a load.
const FORMS: &str = "write \"closed\", { rate = \"50k/s\" } for an open loop, \
                     { sla = \"p99.9 < 2ms\" } for the highest rate within a limit, or \
                     { pipeline = 16 } for a closed loop with 16 in flight";

/// The same on the command line.
const FLAGS: &str = "give --rate 50k/s for an open loop, --sla 'p99.9 < 2ms' for the highest \
                     rate within a limit, or --pipeline 16 for 16 in flight";

/// The checked fields of a load.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadFields {
    rate: Option<Rate>,
    limit: Option<Limit>,
    /// Operations in flight of each client.
    pipeline: Option<u32>,
    pace: Pace,
}

/// The load of one step.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StepLoad {
    pub(crate) load: Load,
    pub(crate) limit: Option<Limit>,
    /// Place of its deciding field, the rate first; empty when not in a file.
    pub(crate) place: Place,
}

impl Resolver<'_> {
    /// Resolves a step's load.
    ///
    /// The step's own fields win. The benchmark's apply to steps that end by duration: fills,
    /// maintenance and other steps that end by count stay a closed loop. Adaptive clients are for
    /// steps that end by duration and have no client count of their own.
    pub(crate) fn step_load(
        &self,
        step: &Step,
        own: Option<&Section>,
        shared: Option<&Section>,
        factor: &ClientsFactor,
    ) -> Result<StepLoad, PlanError> {
        if let Some(reuse) = own.and_then(|own| own.get(REUSE)) {
            let why = format!("step {}: runs can share a loaded database, steps cannot", step.name);
            let remedy = "write the setting as `load` of [benchmark]";
            return Err(PlanError::here(&reuse.place, why).remedy(remedy));
        }
        let written = own.or(shared.filter(|_| is_timed(step)));
        let fields = written.map(|table| self.load_fields(table)).transpose()?.unwrap_or_default();
        let none = Section::default();
        let table = written.unwrap_or(&none);
        let place_of = |settings: &[&Setting]| {
            settings.iter().find_map(|setting| table.get(setting)).map(|text| text.place.clone())
        };
        let place = place_of(&[RATE, SLA, PIPELINE]).unwrap_or(table.place.clone());
        let refuse = |at: &Place, why: &str, remedy: &str| {
            PlanError::here(at.clone(), format!("step {}: {why}", step.name)).remedy(remedy)
        };
        let is_searched = factor.is_adaptive && step.clients == 0 && is_timed(step);
        let LoadFields { rate, limit, pipeline, pace } = fields;
        let (load, limit) = match (pipeline, rate, limit) {
            (Some(depth), ..) => {
                let remedy = "set a load in the step, such as load = \"closed\"";
                let load = self.pipelined(step, depth, is_searched);
                (load.map_err(|why| refuse(&place, &why, remedy))?, None)
            }
            (None, Some(_), _) if is_searched => {
                let remedy = "leave out the rate, or give clients as a list or as \"sweep\"";
                let why = "adaptive clients are a closed loop, which has no rate";
                return Err(refuse(&place, why, remedy));
            }
            (None, None, limit) if is_searched => {
                if let Some(at) = place_of(&[ARRIVALS, PACING]) {
                    let why = "adaptive clients are a closed loop, which has no arrivals";
                    return Err(refuse(&at, why, "leave out arrivals and pacing"));
                }
                (Load::FindClients, limit)
            }
            (None, Some(_), _) if step.stop == StopRule::Operations(0) => {
                let why = "the step has no clients whose operations could arrive";
                return Err(refuse(&place, why, "leave out the step's load"));
            }
            (None, None, Some(_)) if !is_timed(step) => {
                let remedy = "give the step a rate, or search in a step that ends by duration";
                let why = "the step ends by count, and a search needs a step that ends by duration";
                return Err(refuse(&place, why, remedy));
            }
            (None, Some(rate), limit) => (Load::Open(OpenLoad { rate, pace }), limit),
            (None, None, Some(limit)) => (Load::FindRate(pace), Some(limit)),
            (None, None, None) => (Load::Closed, None),
        };
        self.check_window(step, StepLoad { load, limit, place }, table.place_of(SLA))
    }

    /// Checks that the step is long enough for its rate and its limit.
    fn check_window(
        &self,
        step: &Step,
        requested: StepLoad,
        limit_place: Place,
    ) -> Result<StepLoad, PlanError> {
        let refuse = |at: Place, TooShort { why, remedy }| {
            PlanError::here(at, format!("step {}: {why}", step.name)).remedy(remedy)
        };
        if let Load::Open(open) = &requested.load {
            let checked = window::check_rate(&open.rate, step.stop);
            checked.map_err(|short| refuse(requested.place.clone(), short))?;
        }
        if let Some(limit) = &requested.limit {
            let checked = window::check(limit, &requested.load, step.stop);
            checked.map_err(|short| refuse(limit_place, short))?;
        }
        Ok(requested)
    }

    pub(crate) fn load_fields(&self, table: &Section) -> Result<LoadFields, PlanError> {
        let place = table.place.clone();
        match table.load_word() {
            None => {}
            Some("closed") => return Ok(LoadFields::default()),
            Some(word) => {
                return Err(PlanError::here(place, format!("unknown load `{word}`")).remedy(FORMS));
            }
        }
        let is_absent = |setting: &&Setting| !table.may_have(setting);
        let of_requests: [&Setting; 5] = [RATE, SLA, PIPELINE, ARRIVALS, PACING];
        if table.get(REUSE).is_some() && of_requests.iter().all(is_absent) {
            return Ok(LoadFields::default());
        }
        let mut errors = Errors::default();
        let rate = table.get(RATE).and_then(|text| errors.ok(self.rate(text)));
        let (limit, pipeline) = (table.value(SLA), table.value(PIPELINE));
        let pace = Pace {
            arrivals: table.value(ARRIVALS).unwrap_or_default(),
            pacing: table.value(PACING).unwrap_or_default(),
        };
        let pace_place = table.get(ARRIVALS).or(table.get(PACING)).map(|text| text.place.clone());
        if let Some(depth) = pipeline {
            let is_paced = rate.is_some() || limit.is_some() || pace_place.is_some();
            errors.ok(self.check_depth(depth, table.place_of(PIPELINE), is_paced));
        } else if of_requests[..3].iter().all(is_absent) {
            let why = match pace_place {
                Some(_) => "arrivals and pacing belong to a rate, but no rate is given",
                None => "the load has neither a rate nor a limit",
            };
            let at = pace_place.unwrap_or(place);
            let remedy = if at.is_text() { FORMS } else { FLAGS };
            errors.push(PlanError::here(at, why).remedy(remedy));
        }
        errors.result(LoadFields { rate, limit, pipeline, pace })
    }

    /// Parses a rate, reading its file if it names one.
    fn rate(&self, text: &Placed<String>) -> Result<Rate, PlanError> {
        let refuse = |why: String| PlanError::here(&text.place, why);
        let path = match rate::parse(&text.value).map_err(refuse)? {
            WrittenRate::Known(rate) => return Ok(rate),
            WrittenRate::InFile(path) => path,
        };
        let path = self.folder(&text.place).join(path);
        let name = path.display().to_string();
        let lines = self.catalog.file(&path);
        let lines = lines.map_err(|why| {
            let is_absent = why.to_lowercase().contains("no such file");
            let error = refuse(format!("cannot read the rate file {name}: {why}"));
            if is_absent { error.remedy(RELATIVE) } else { error }
        })?;
        rate::parse_file(&lines).map_err(|wrong| {
            let message = format!("rate file {name}, line {}: {}", wrong.number, wrong.why);
            PlanError::here(wrong.place, message).within(&Source::new(name, lines))
        })
    }
}

/// Returns whether a step ends by duration.
pub(crate) fn is_timed(step: &Step) -> bool {
    matches!(step.stop, StopRule::Duration(span) if span > Nanos(0))
}

#[cfg(test)]
mod tests {
    use model::{Experiment, RatePiece};

    use super::*;
    use crate::experiment::load;
    use crate::overrides::Overrides;
    use crate::tests::sample::{FILE, MACHINE, TestCatalog, checked, experiment};

    /// Returns the loads of the sample's steps, with their limits, when `fields` follow its rows.
    fn loads(fields: &str) -> Vec<String> {
        descriptions(&experiment("\"10k\"", &format!("\"10k\"\n{fields}")))
    }

    fn descriptions(experiment: &Experiment) -> Vec<String> {
        let descriptions = |step: &Step| match &step.limit {
            Some(limit) => format!("{} with {limit}", step.load),
            None => step.load.to_string(),
        };
        experiment.steps.iter().map(descriptions).collect()
    }

    /// Returns the error of the sample with this text.
    fn refused(fields: &str) -> String {
        checked("\"10k\"", &format!("\"10k\"\n{fields}")).unwrap_err().to_string()
    }

    fn refused_step(step: &str) -> String {
        checked("\"readwhilewriting\"", step).unwrap_err().to_string()
    }

    #[test]
    fn the_benchmarks_load_applies_to_timed_steps() {
        let closed = "closed loop";
        assert_eq!(loads(""), [closed; 3]);
        assert_eq!(loads("load = \"closed\""), [closed; 3]);
        let open = loads("load = { rate = \"5k/s\" }");
        assert_eq!(open, [closed, closed, "open loop, 5,000/s, poisson"]);
        let fields = "rate = \"5k/s\", arrivals = \"constant\", pacing = \"hybrid\"";
        let check_window = loads(&format!("load = {{ {fields}, sla = \"p99 < 2ms\" }}"));
        assert_eq!(check_window[2], "open loop, 5,000/s, constant, hybrid with p99 < 2.00 ms");
        let search = loads("load = { sla = \"p99 < 2ms\", arrivals = \"constant\" }");
        assert_eq!(search, [closed, closed, "highest rate, constant with p99 < 2.00 ms"]);
    }

    #[test]
    fn a_steps_own_load_wins() {
        let steps = "[{ step = \"fillseq\", load = { rate = \"9k/s\" } }, \"overwritesome\", \
                     { step = \"readwhilewriting\", load = \"closed\" }, \"readrandom\"]";
        let file = "[\"fillseq\", \"overwritesome\", \"readwhilewriting\"]";
        let steps = format!("{steps}\nload = {{ rate = \"5k/s\" }}");
        assert_eq!(
            descriptions(&experiment(file, &steps)),
            [
                "open loop, 9,000/s, poisson",
                "closed loop",
                "closed loop",
                "open loop, 5,000/s, poisson"
            ]
        );
    }

    #[test]
    fn adaptive_clients_apply_to_timed_steps_that_follow_the_factor() {
        let adaptive = "[factors]\nclients = \"adaptive\"";
        let closed = "closed loop";
        assert_eq!(loads(adaptive), [closed, closed, "adaptive clients"]);
        let limited = loads(&format!("load = {{ sla = \"p99 < 2ms\" }}\n{adaptive}"));
        assert_eq!(limited, [closed, closed, "adaptive clients with p99 < 2.00 ms"]);
        assert_eq!(
            refused(&format!("load = {{ rate = \"5k/s\" }}\n{adaptive}")),
            "step readwhilewriting: adaptive clients are a closed loop, which has no rate"
        );
        let paced = format!("load = {{ sla = \"p99 < 2ms\", pacing = \"spin\" }}\n{adaptive}");
        assert!(refused(&paced).ends_with("which has no arrivals"));
        let text = FILE.replace("\"readwhilewriting\"", "{ step = \"readrandom\", clients = 2 }");
        let text = format!("{text}\n{adaptive}");
        let none = load("", &text, &Overrides::default(), &TestCatalog::default(), MACHINE);
        assert_eq!(none.unwrap_err().to_string(), "no step can try numbers of clients");
    }

    #[test]
    fn a_load_that_cannot_be_offered_is_rejected_with_the_reason() {
        assert_eq!(
            refused_step("{ step = \"overwritesome\", load = { sla = \"p99 < 2ms\" } }"),
            "step overwritesome: the step ends by count, and a search needs a step that ends by \
             duration"
        );
        assert_eq!(
            refused_step("{ step = \"settle\", load = { rate = \"5k/s\" } }"),
            "step settle: the step has no clients whose operations could arrive"
        );
        assert_eq!(refused("load = {}"), "the load has neither a rate nor a limit");
        assert_eq!(
            refused("load = { arrivals = \"constant\" }"),
            "arrivals and pacing belong to a rate, but no rate is given"
        );
        let untimed = "[\"fillseq\", \"overwritesome\"]\nload = { rate = \"5k/s\" }";
        let file = "[\"fillseq\", \"overwritesome\", \"readwhilewriting\"]";
        let none = checked(file, untimed).unwrap_err().to_string();
        assert_eq!(none, "no step takes the benchmark's load");
    }

    #[test]
    fn the_command_line_replaces_only_the_fields_it_sets() {
        let requested = |load_fields: &str, overrides: &Overrides| {
            let text = FILE.replace("rows", &format!("{load_fields}\nrows"));
            let checked = load("", &text, overrides, &TestCatalog::default(), MACHINE);
            checked.map(|checked| descriptions(&checked.experiment).remove(2))
        };
        let rate = Overrides::default().with("rate", "7k/s");
        let file = "load = { rate = \"5k/s\", arrivals = \"constant\", sla = \"p99 < 2ms\" }";
        let both = "open loop, 7,000/s, constant with p99 < 2.00 ms";
        assert_eq!(requested(file, &rate).unwrap(), both);
        assert_eq!(requested("load = \"closed\"", &rate).unwrap(), "open loop, 7,000/s, poisson");
        let limit = Overrides::default().with("sla", "p95 < 1ms");
        assert_eq!(requested("", &limit).unwrap(), "highest rate, poisson with p95 < 1.00 ms");
        let most = limit.clone().with("clients", "adaptive");
        assert_eq!(requested("", &most).unwrap(), "adaptive clients with p95 < 1.00 ms");
        let mixed = rate.with("clients", "adaptive");
        let refused = requested("", &mixed).unwrap_err().to_string();
        assert!(refused.ends_with("which has no rate"), "{refused}");
        let pace = limit.with("pacing", "spinn");
        assert_eq!(
            requested("", &pace).unwrap_err().to_string(),
            "--pacing: unknown pacing `spinn`"
        );
    }

    #[test]
    fn a_rate_file_is_relative_to_the_experiment_or_the_current_directory() {
        let known = TestCatalog {
            rate_files: vec![
                ("dir/day.csv", "t,rate\n0,100\n60,200\n"),
                ("day.csv", "t,rate\n0,300\n"),
                ("dir/bad.csv", "t,rate\n0,100\n30,0\n"),
            ],
            ..TestCatalog::default()
        };
        let requested = |file: &str, overrides: &Overrides| {
            let fields = format!("load = {{ rate = \"file {file}\" }}\nrows");
            let text = FILE.replace("rows", &fields);
            let mut experiment =
                load("dir/mine.toml", &text, overrides, &known, MACHINE)?.experiment;
            Ok::<_, PlanError>(experiment.steps.remove(2).load)
        };
        let none = Overrides::default();
        let Load::Open(open) = requested("day.csv", &none).unwrap() else { panic!("an open loop") };
        let first =
            RatePiece { length: Nanos::from_secs(60), from_ops_per_s: 100.0, to_ops_per_s: 100.0 };
        assert!(
            matches!(open.rate, Rate::Pieces(pieces) if pieces.len() == 2 && pieces[0] == first)
        );
        let typed = none.clone().with("rate", "file day.csv");
        let load = requested("gone.csv", &typed).unwrap();
        assert_eq!(load.to_string(), "open loop, 300/s, poisson");
        let gone = requested("gone.csv", &none).unwrap_err().to_string();
        assert_eq!(gone, "cannot read the rate file dir/gone.csv: no such file");
        let bad = requested("bad.csv", &none).unwrap_err().to_string();
        assert_eq!(bad, "rate file dir/bad.csv, line 3: the rate is zero: write a rate above zero");
    }
}
