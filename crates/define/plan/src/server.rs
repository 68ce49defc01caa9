//! Checks of variants that are SQL servers.

use model::setting::Scope;
use model::sql::{Application, PerDialect, Statement};
use model::{BuildRef, Dialect, Dsn, Placement};
use reader::error::PlanError;
use reader::place::Place;
use reader::secret::has_at_behind;

use crate::catalog::{Builds, EngineInfo};
use crate::dsn;
use crate::resolve::Resolver;
use crate::settings::{DSN, ENGINE, IS_PROFILED, NAME, PLACEMENT, Table};
use crate::spec::Section;

/// Prefix of the options of Assay's own drivers.
const OWN_OPTIONS: &str = "assay.";

impl Resolver<'_> {
    /// Checks a variant's engine and build; returns the engine's description.
    pub(crate) fn engine(&self, table: &Section) -> Result<(BuildRef, EngineInfo), PlanError> {
        let refuse = |why: String| PlanError::here(table.place_of(ENGINE), why);
        let text = table.text(ENGINE);
        let build: BuildRef = text.parse().map_err(|why| match dsn::parse(text) {
            Ok(_) => refuse("`engine` has an address in the place of a name".to_owned())
                .remedy("write the kind of the server, such as postgres, and the address as `dsn`"),
            // What is wrong with the address comes first.
            Err(error) if dsn::is_meant(text) => error.at(table.place_of(ENGINE), "here"),
            Err(_other) => refuse(why),
        })?;
        let (known, name) = (self.catalog.engines(), &build.engine);
        let Some(info) = known.iter().find(|info| info.name == *name) else {
            let names: Vec<_> = known.iter().map(|info| info.name.as_str()).collect();
            let otherwise = format!(
                "engines: {}; to add your library: assay engine add {name}@1 LIBRARY",
                names.join(", ")
            );
            return Err(refuse(format!("unknown engine `{name}`")).meant(name, names, otherwise));
        };
        let (why, remedy) = match (info.builds, build.version.is_some(), table.get(DSN).is_some()) {
            _ if !table.is_certain(DSN) => return Ok((build, info.clone())),
            (_, true, true) => (
                "the version of a running server cannot be chosen".to_owned(),
                format!("write \"{name}\" without a version, or leave out `dsn`"),
            ),
            (Builds::Loaded, false, false) => (
                format!("{name} needs a version"),
                format!("write {name}@VERSION; `assay engine list` shows the known versions"),
            ),
            (Builds::Linked, true, false) => (
                format!("{name} is linked into Assay"),
                format!("write \"{name}\" without a version"),
            ),
            _ => return Ok((build, info.clone())),
        };
        Err(refuse(why).remedy(remedy))
    }

    /// Checks that the application supports the engine's dialect.
    pub(crate) fn check_dialect(
        &self,
        table: &Section,
        info: &EngineInfo,
    ) -> Result<(), PlanError> {
        let Some(loaded) = self.application else { return Ok(()) };
        let application = &loaded.application;
        let place = table.place_of(ENGINE);
        let Some(dialect) = info.dialect else {
            let known = self.catalog.engines().into_iter();
            let servers: Vec<_> =
                known.filter(|info| info.dialect.is_some()).map(|info| info.name).collect();
            let why =
                format!("{} needs an SQL server, and {} is not one", application.name, info.name);
            return Err(PlanError::here(place, why).remedy(format!(
                "servers: {}; embedded engines run steps such as fillseq and readrandom, without \
                 `workload`",
                servers.join(", ")
            )));
        };
        match missing_sql(application, dialect) {
            None => Ok(()),
            Some(what) => Err(PlanError::new(format!(
                "{} lacks {what} in the SQL of {}",
                application.name, info.name
            ))
            .at(place, "requested here")
            .remedy(format!("add `sql.{}` (or `create.{0}`) to the application", dialect))),
        }
    }

    /// Parses the address of a running server, and rejects settings it cannot take.
    pub(crate) fn dsn(
        &self,
        table: &Section,
        benchmark: &Section,
        info: &EngineInfo,
    ) -> Result<Option<Dsn>, PlanError> {
        let Some(written) = table.get(DSN) else { return Ok(None) };
        let refuse = |why: String| PlanError::here(&written.place, why);
        let Some(dialect) = info.dialect else {
            return Err(refuse(format!("{} is not a server", info.name))
                .remedy("leave out `dsn`, or name postgres, mysql or mariadb as the engine"));
        };
        let is_ended = match &written.place {
            Place::Text(range) => has_at_behind(&self.source.text, range.end),
            Place::Flag(_) | Place::Unwritten => false,
        };
        let dsn::Parsed { dialect: spoken, dsn } = dsn::parse(&written.value)
            .map_err(|error| if is_ended { dsn::ended_by_quote() } else { error })
            .map_err(|error| error.at(&written.place, "here"))?;
        if spoken != dialect {
            let why = format!("{} does not speak the protocol of {}://", info.name, spoken);
            let remedy = format!("write {}://..., or name another engine", dialect);
            return Err(refuse(why).remedy(remedy));
        }
        self.reject_server_settings(table, benchmark)?;
        Ok(Some(dsn))
    }

    /// Rejects settings that only a server started by Assay can take.
    fn reject_server_settings(
        &self,
        table: &Section,
        benchmark: &Section,
    ) -> Result<(), PlanError> {
        let mut options =
            table.pairs.iter().map(|(name, _)| (name.value.as_str(), name.place.clone()));
        let option = options.find(|(name, _)| !name.starts_with(OWN_OPTIONS));
        let own = table.scoped(Table::Variant, Scope::OwnServer);
        let mut settings = own.chain(benchmark.scoped(Table::Benchmark, Scope::OwnServer));
        match option.or_else(|| settings.next()) {
            None => Ok(()),
            Some((word, place)) => {
                let why = "cannot be set on a running server, which Assay does not configure";
                Err(PlanError::here(place, format!("`{word}` {why}")).remedy(format!(
                    "set `{word}` where the server is started, and leave `{word}` out for variant \
                     {}; settings of the other variants belong in their [[variant]]",
                    table.text(NAME)
                )))
            }
        }
    }

    /// Returns whether CPU profiles are taken; rejects them with a server that runs already.
    pub(crate) fn cpu_profiles(
        &self,
        benchmark: &Section,
        variants: &[Section],
    ) -> Result<bool, PlanError> {
        if benchmark.value(IS_PROFILED) != Some(true) {
            return Ok(false);
        }
        let Some(variant) = variants.iter().find(|variant| variant.get(DSN).is_some()) else {
            return Ok(true);
        };
        let why = format!(
            "Assay takes CPU profiles only of servers that it started itself, and variant {} is a \
             running server",
            variant.text(NAME)
        );
        Err(PlanError::here(benchmark.place_of(IS_PROFILED), why).remedy(
            "leave out `profile` (--profile), or let Assay start the server: leave out `dsn`, and \
             name the engine with a version, such as postgres@15.10",
        ))
    }

    /// Checks the CPU placement of the client and its server.
    pub(crate) fn placement(
        &self,
        benchmark: &Section,
        variants: &[Section],
    ) -> Result<Placement, PlanError> {
        let placement = benchmark.value(PLACEMENT).unwrap_or_default();
        if placement.is_free() {
            return Ok(placement);
        }
        let known = self.catalog.engines();
        for variant in variants {
            let engine = variant.text(ENGINE).split('@').next().unwrap_or_default();
            let Some(info) = known.iter().find(|info| info.name == engine) else { continue };
            let why = match (info.dialect.is_some(), variant.get(DSN)) {
                (false, _) => format!("{engine} is embedded in the client"),
                (true, Some(_)) => "Assay does not place a running server".to_owned(),
                (true, None) => continue,
            };
            return Err(PlanError::new(format!(
                "placement \"{placement}\" needs a client and a server that Assay starts; variant \
                {}: {why}",
                variant.text(NAME)
            ))
            .at(benchmark.place_of(PLACEMENT), "requested here")
            .remedy("leave out `placement`, or the variant"));
        }
        Ok(placement)
    }
}

/// Returns the SQL that an application lacks in a dialect, if any.
fn missing_sql(application: &Application, dialect: Dialect) -> Option<String> {
    let is_missing = |sql: &PerDialect<Vec<Statement>>| sql.by(dialect).is_empty();
    let table = application.tables.iter().find(|table| is_missing(&table.create));
    let procedure = application.procedures.iter().find(|known| is_missing(&known.statements));
    table
        .map(|table| format!("`create` of table `{}`", table.name))
        .or(procedure.map(|procedure| format!("`{}`", procedure.name)))
}
