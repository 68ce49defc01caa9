//! Checks of variants that are SQL servers.

use model::setting::Scope;
use model::sql::{Application, PerDialect, Statement};
use model::{BuildRef, Dialect, Dsn, Placement};

use crate::catalog::{Builds, EngineInfo};
use crate::dsn;
use crate::error::PlanError;
use crate::resolve::Resolver;
use crate::settings::{DSN, ENGINE, NAME, PLACEMENT};
use crate::spec::Section;

/// Prefix of the options of Assay's own drivers.
const OWN_OPTIONS: &str = "assay.";

impl Resolver<'_> {
    /// Checks a variant's engine and build; returns the engine's description.
    pub(crate) fn engine(&self, table: &Section) -> Result<(BuildRef, EngineInfo), PlanError> {
        let at = |error: PlanError| error.at(self.source, table.place_of(ENGINE), "here");
        let build = table.text(ENGINE).parse::<BuildRef>();
        let build = build.map_err(|why| at(PlanError::new(why.to_string())))?;
        let known = self.catalog.engines();
        let Some(info) = known.iter().find(|info| info.name == build.engine) else {
            let names: Vec<_> = known.iter().map(|info| info.name).collect();
            let error = at(PlanError::new(format!("unknown engine `{}`", build.engine)));
            return Err(error.meant(
                &build.engine,
                names.iter().copied(),
                format!("engines: {}", names.join(", ")),
            ));
        };
        match (info.builds, build.version.is_some(), table.get(DSN).is_some()) {
            (_, true, true) => Err(at(PlanError::new(
                "the version of a running server cannot be chosen",
            ))
            .remedy(format!("write \"{}\" without a version, or leave out `dsn`", build.engine))),
            (Builds::Loaded, false, false) => {
                Err(at(PlanError::new(format!("{} needs a version", build.engine))).remedy(
                    format!(
                        "write {0}@VERSION; `assay engine list` shows known ones",
                        build.engine
                    ),
                ))
            }
            (Builds::Linked, true, false) => {
                Err(at(PlanError::new(format!("{} is linked into Assay", build.engine)))
                    .remedy(format!("write \"{}\" without a version", build.engine)))
            }
            _ => Ok((build, info.clone())),
        }
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
            let known = self.catalog.engines();
            let servers: Vec<_> =
                known.iter().filter(|info| info.dialect.is_some()).map(|info| info.name).collect();
            return Err(PlanError::new(format!(
                "{} needs an SQL server, and {} is not one",
                application.name, info.name
            ))
            .at(self.source, place, "here")
            .remedy(format!(
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
            .at(self.source, place, "requested here")
            .remedy(format!("add `sql.{}` (or `create.{0}`) to it", key(dialect)))),
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
        let at = |error: PlanError| error.at(self.source, written.span(), "here");
        let Some(dialect) = info.dialect else {
            return Err(at(PlanError::new(format!("{} is not a server", info.name)))
                .remedy("leave out `dsn`, or name postgres, mysql or mariadb as the engine"));
        };
        let (spoken, dsn) = dsn::parse(written.get_ref())
            .map_err(|wrong| at(PlanError::new(wrong.why)).remedy(wrong.remedy))?;
        if spoken != dialect {
            return Err(at(PlanError::new(format!(
                "{} does not speak the protocol of {}://",
                info.name,
                key(spoken)
            )))
            .remedy(format!("write {}://..., or name another engine", key(dialect))));
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
        let option = table.pairs.0.iter().map(|(name, _)| name);
        let option = option.into_iter().find(|name| !name.get_ref().starts_with(OWN_OPTIONS));
        let option = option.map(|name| (name.get_ref().as_str(), name.span()));
        let mut settings = table.scoped(Scope::OwnServer).chain(benchmark.scoped(Scope::OwnServer));
        match option.or_else(|| settings.next()) {
            None => Ok(()),
            Some((word, place)) => Err(PlanError::new(format!(
                "`{word}` cannot be set on a running server: Assay does not configure it"
            ))
            .at(self.source, place, "here")
            .remedy(format!(
                "set it where the server is started, and leave it out for variant {}; settings of \
                the other variants belong in their [[variant]]",
                table.text(NAME)
            ))),
        }
    }

    /// Checks the CPU placement of the client and its server.
    pub(crate) fn placement(
        &self,
        benchmark: &Section,
        variants: &[Section],
    ) -> Result<Placement, PlanError> {
        let placement: Placement =
            self.value(&[benchmark], PLACEMENT, str::parse)?.unwrap_or_default();
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
            .at(self.source, benchmark.place_of(PLACEMENT), "requested here")
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

/// Returns a dialect's key and URL scheme.
const fn key(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => "postgres",
        Dialect::Mysql => "mysql",
    }
}
