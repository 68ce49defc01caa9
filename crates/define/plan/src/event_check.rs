//! Checks that loads, hosts and engines can have the events of steps.

use model::sql::Dialect;
use model::{EventKind, Experiment, Load, StepEvent, Variant, server};
use reader::error::{Errors, PlanError};
use reader::place::Place;

use crate::resolve::Resolver;
use crate::settings::EVENTS;
use crate::spec::File;

/// Why a variant cannot have an event, and the remedy.
type Misfit = Option<(&'static str, &'static str)>;

impl Resolver<'_> {
    /// Checks that the loads, the hosts and the engines of an experiment can have its events.
    ///
    /// # Errors
    /// The events that cannot be done, each with the remedy.
    pub(crate) fn check_events(
        &self,
        file: &File,
        experiment: &Experiment,
    ) -> Result<(), PlanError> {
        let tables = self.requested_steps(&file.benchmark);
        let mut errors = Errors::default();
        let steps = experiment.steps.iter().zip(&tables);
        let mut has_failed_over = false;
        for (step, table) in steps.filter(|(step, _)| !step.events.is_empty()) {
            let mut refuse = |at: Place, why: String, remedy: &str| {
                let error = PlanError::here(at, format!("step {}: {why}", step.name));
                errors.push(error.remedy(remedy));
            };
            let all = table.place_of(EVENTS);
            if !matches!(step.load, Load::Closed | Load::Open(_)) {
                let why = "events need a closed loop or a rate".to_owned();
                refuse(all.clone(), why, "write such a load into the step: load = \"closed\"");
            }
            if experiment.hosts.is_some() {
                let why = "events need client and server on one machine".to_owned();
                refuse(all.clone(), why, "leave out the events, or [hosts]");
            }
            if experiment.is_profiled && step.events.iter().any(|it| !it.kind.is_of_embedded()) {
                let why = "perf cannot follow a server through its events".to_owned();
                refuse(all, why, "leave out the events, or `profile`");
            }
            if has_failed_over {
                let why = "an earlier step has a failover, after which the server has no standby";
                let remedy = "leave out the events, or write the step before that step";
                refuse(table.place_of(EVENTS), why.to_owned(), remedy);
            }
            has_failed_over |= step.events.iter().any(|it| it.kind == EventKind::Failover);
            let places = table.tables.iter().flatten().map(|it| it.place.clone());
            for (event, place) in step.events.iter().zip(places) {
                // One variant is enough to show what is wrong.
                let reopens =
                    |later: &StepEvent| later.at > event.at && later.kind.is_of_embedded();
                let is_last = !step.events.iter().any(reopens);
                let unfit = experiment.variants.iter().find_map(|variant| {
                    self.misfit(event.kind, is_last, variant).map(|(why, remedy)| {
                        (
                            format!("variant {} cannot have `{}`: {why}", variant.name, event.kind),
                            remedy,
                        )
                    })
                });
                unfit.into_iter().for_each(|(why, remedy)| refuse(place.clone(), why, remedy));
            }
        }
        errors.result(())
    }

    /// Returns why a variant cannot have an event, with the remedy; `None` where it can.
    ///
    /// `is_last` if no `reopen` follows the event.
    fn misfit(&self, event: EventKind, is_last: bool, variant: &Variant) -> Misfit {
        let engines = self.catalog.engines();
        let info = engines.iter().find(|info| info.name == variant.build.engine);
        let dialect = info.and_then(|info| info.dialect);
        let is_server = dialect.is_some();
        let has_standby = variant.options.get(server::REPLICA).is_some();
        match (is_server, event.is_of_embedded()) {
            (false, false) if event.is_of_disk() => is_last.then_some((
                "an engine that could not write may refuse every operation until it is opened again",
                "write a `reopen` after it, which opens the engine again",
            )),
            (false, true) => None,
            (false, false) => Some((
                "the engine runs in the client, which the event would end too",
                "write do = \"reopen\", or name an SQL server such as postgres",
            )),
            (true, true) => Some((
                "a server is not opened by its client",
                "write do = \"kill\" or do = \"restart\"",
            )),
            (true, false) if variant.dsn.is_some() => Some((
                "Assay has not started the server of the dsn, and ends no server of others",
                "leave out the events, or name a build such as postgres@15.10 in place of the dsn",
            )),
            (true, false) if event == EventKind::Failover => match dialect {
                Some(Dialect::Postgres) if has_standby => None,
                Some(Dialect::Postgres) => Some((
                    "the server has no standby",
                    "write the option assay.replica, \"async\" or \"sync\"",
                )),
                Some(Dialect::Mysql) | None => Some((
                    "Assay promotes standbys of Postgres only",
                    "write do = \"kill\", or name an engine such as postgres@15.10",
                )),
            },
            (true, false) if has_standby => Some((
                "the standby would be ended with its server",
                "leave out the events, or the option assay.replica",
            )),
            (true, false) => None,
        }
    }
}
