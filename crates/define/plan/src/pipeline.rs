//! Checks whether a step's operations can be pipelined.

use model::sql::PerDialect;
use model::{Load, OpKind, PIPELINE_MAX, Step, StopRule};
use reader::error::PlanError;
use reader::place::Place;

use crate::resolve::Resolver;

impl Resolver<'_> {
    /// Checks the depth of a pipeline written at `place`, and the fields next to it.
    pub(crate) fn check_depth(
        &self,
        depth: u32,
        place: Place,
        is_paced: bool,
    ) -> Result<(), PlanError> {
        if !(2..=PIPELINE_MAX).contains(&depth) {
            let why = format!("a pipeline of {depth} is out of range: write 2 to {PIPELINE_MAX}");
            let remedy = "leave out the load to send one operation at a time";
            return Err(PlanError::here(place, why).remedy(remedy));
        }
        if is_paced {
            let why = "a pipeline is a closed loop, which has neither a rate nor a limit";
            let remedy = "leave out `pipeline`, or the other fields";
            return Err(PlanError::here(place, why).remedy(remedy));
        }
        Ok(())
    }

    /// Returns the load of a pipelined step, or why it cannot be pipelined.
    pub(crate) fn pipelined(
        &self,
        step: &Step,
        depth: u32,
        is_adaptive: bool,
    ) -> Result<Load, String> {
        if step.stop == StopRule::Operations(0) {
            return Err("the step has no clients".to_owned());
        }
        if is_adaptive {
            return Err("adaptive clients wait for each answer".to_owned());
        }
        if let Some(exclusive_call) = self.exclusive_call(step) {
            return Err(format!("a client can have only one call in flight: {exclusive_call}"));
        }
        Ok(Load::Pipelined(depth))
    }

    /// Returns why a step's calls cannot be pipelined; `None` when they can.
    fn exclusive_call(&self, step: &Step) -> Option<String> {
        let traffic_spec = self.application.and_then(|loaded| loaded.application.step(&step.name));
        let Some(traffic_spec) = traffic_spec else {
            let info = self.known_steps().into_iter().find(|info| info.name == step.name)?;
            let has_batches = info.needs.contains(&OpKind::MultiGet);
            return has_batches.then(|| "the step reads several keys in one operation".to_owned());
        };
        let call_mix = traffic_spec.clients.as_ref()?;
        if call_mix.is_once() {
            return Some("the step does everything once".to_owned());
        }
        let application = &self.application?.application;
        let called = call_mix.positions().filter_map(|at| application.procedure(at));
        let mut several = called.filter(|procedure| {
            let PerDialect { postgres, mysql } = &procedure.statements;
            procedure.is_transaction || postgres.len() > 1 || mysql.len() > 1
        });
        several.next().map(|procedure| match procedure.is_transaction {
            true => format!("procedure `{}` is a transaction", procedure.name),
            false => format!("procedure `{}` has several statements", procedure.name),
        })
    }
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;

    use crate::experiment::load;
    use crate::overrides::Overrides;
    use crate::tests::sample::{FILE, MACHINE, TestCatalog, checked, experiment};

    fn refused(text: &str) -> String {
        let error = checked("\"10k\"", &format!("\"10k\"\n{text}")).unwrap_err();
        let help = error.help().map_or(String::new(), |help| help.to_string());
        format!("{error} | {help}")
    }

    #[test]
    fn a_pipeline_is_a_load_of_steps_that_end_by_duration_or_of_one_step() {
        let loads = |text: &str| {
            let steps = experiment("\"10k\"", &format!("\"10k\"\n{text}")).steps;
            steps.iter().map(|step| step.load.to_string()).collect::<Vec<_>>()
        };
        let (closed, pipelined) = ("closed loop", "closed loop, 16 in flight per client");
        assert_eq!(loads("load = { pipeline = 16 }"), [closed, closed, pipelined]);
        let steps = "[{ step = \"fillseq\", load = { pipeline = 16 } }, \"readwhilewriting\"]";
        let text = FILE.replace("[\"fillseq\", \"overwritesome\", \"readwhilewriting\"]", steps);
        let none = Overrides::default();
        let own = load("", &text, &none, &TestCatalog::default(), MACHINE).unwrap();
        assert_eq!(own.experiment.steps[0].load.to_string(), pipelined);
        let typed = none.with("pipeline", "16");
        let typed = load("", &text, &typed, &TestCatalog::default(), MACHINE).unwrap();
        assert_eq!(typed.experiment.steps[1].load.to_string(), pipelined);
    }

    #[test]
    fn an_invalid_depth_and_fields_of_other_loads_are_rejected() {
        let depth = "a pipeline of 1 is out of range: write 2 to 1024 | \
                     leave out the load to send one operation at a time";
        assert_eq!(refused("load = { pipeline = 1 }"), depth);
        assert!(refused("load = { pipeline = 4096 }").starts_with("a pipeline of 4096"));
        for word in ["rate = \"5k/s\"", "sla = \"p99 < 2ms\"", "arrivals = \"constant\""] {
            let both = refused(&format!("load = {{ pipeline = 8, {word} }}"));
            assert!(both.starts_with("a pipeline is a closed loop"), "{both}");
        }
        let adaptive = refused("load = { pipeline = 8 }\n[factors]\nclients = \"adaptive\"");
        let expected = "step readwhilewriting: adaptive clients wait for each answer | ";
        assert!(adaptive.starts_with(expected), "{adaptive}");
        let settle =
            checked("\"readwhilewriting\"", "{ step = \"settle\", load = { pipeline = 2 } }");
        assert_eq!(settle.unwrap_err().to_string(), "step settle: the step has no clients");
    }
}
