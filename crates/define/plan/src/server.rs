//! Checks of variants that are SQL servers.

use std::ops::Range;

use model::sql::{Application, PerDialect, Statement};
use model::{Dialect, Dsn, Placement};
use toml::Spanned;

use crate::catalog::{Builds, EngineInfo};
use crate::dsn;
use crate::error::PlanError;
use crate::nearest::nearest;
use crate::resolve::Resolver;
use crate::spec::{BenchmarkTable, VariantTable};

/// Prefix of the options of Assay's own drivers.
const OWN_OPTIONS: &str = "assay.";

impl Resolver<'_> {
    /// Checks a variant's engine and build; returns the engine's description.
    pub(crate) fn engine(&self, table: &VariantTable) -> Result<EngineInfo, PlanError> {
        let build = table.engine.get_ref();
        let known = self.catalog.engines();
        let at = |error: PlanError| error.at(self.source, table.engine.span(), "here");
        let Some(info) = known.iter().find(|info| info.name == build.engine) else {
            let names: Vec<_> = known.iter().map(|info| info.name).collect();
            let error = at(PlanError::new(format!("unknown engine `{}`", build.engine)));
            return Err(match nearest(&build.engine, names.iter().copied()) {
                Some(word) => error.remedy(format!("did you mean `{word}`?")),
                None => error.remedy(format!("engines: {}", names.join(", "))),
            });
        };
        match (info.builds, build.version.is_some(), table.dsn.is_some()) {
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
            _ => Ok(info.clone()),
        }
    }

    /// Checks that the application supports the engine's dialect.
    pub(crate) fn check_dialect(
        &self,
        table: &VariantTable,
        info: &EngineInfo,
    ) -> Result<(), PlanError> {
        let Some(loaded) = self.application else { return Ok(()) };
        let application = &loaded.application;
        let place = table.engine.span();
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
        table: &VariantTable,
        benchmark: &BenchmarkTable,
        info: &EngineInfo,
    ) -> Result<Option<Dsn>, PlanError> {
        let Some(written) = &table.dsn else { return Ok(None) };
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
        table: &VariantTable,
        benchmark: &BenchmarkTable,
    ) -> Result<(), PlanError> {
        fn place<T>(own: &Option<Spanned<T>>, shared: &Option<Spanned<T>>) -> Option<Range<usize>> {
            own.as_ref().or(shared.as_ref()).map(Spanned::span)
        }
        let settings = [
            ("profile", place(&table.profile, &None)),
            ("cache", place(&table.cache, &benchmark.cache)),
            ("direct_io", place(&table.direct_io, &benchmark.direct_io)),
            ("compression", place(&table.compression, &benchmark.compression)),
            ("background_jobs", place(&table.background_jobs, &benchmark.background_jobs)),
            ("allocator", place(&table.allocator, &benchmark.allocator)),
            ("memory", place(&None, &benchmark.memory)),
        ];
        let option = table.options.0.iter().map(|(name, _)| name);
        let option = option.into_iter().find(|name| !name.get_ref().starts_with(OWN_OPTIONS));
        let option = option.map(|name| (name.get_ref().as_str(), name.span()));
        let word = settings.into_iter().find_map(|(word, place)| Some((word, place?)));
        match option.or(word) {
            None => Ok(()),
            Some((word, place)) => Err(PlanError::new(format!(
                "`{word}` cannot be set on a running server: Assay does not configure it"
            ))
            .at(self.source, place, "here")
            .remedy(format!(
                "set it where the server is started, and leave it out for variant {}; settings of \
                the other variants belong in their [[variant]]",
                table.name.get_ref()
            ))),
        }
    }

    /// Checks the CPU placement of the client and its server.
    pub(crate) fn placement(
        &self,
        benchmark: &BenchmarkTable,
        variants: &[VariantTable],
    ) -> Result<Placement, PlanError> {
        let Some(word) = &benchmark.placement else { return Ok(Placement::Free) };
        let names = Placement::ALL.map(Placement::name);
        let found = Placement::ALL.into_iter().find(|known| known.name() == word.get_ref());
        let at = |error: PlanError| error.at(self.source, word.span(), "requested here");
        let Some(placement) = found else {
            let error = at(PlanError::new(format!("unknown placement `{}`", word.get_ref())));
            return Err(match nearest(word.get_ref(), names) {
                Some(near) => error.remedy(format!("did you mean `{near}`?")),
                None => error.remedy(format!("placements: {}", names.join(", "))),
            });
        };
        if placement.is_free() {
            return Ok(placement);
        }
        let known = self.catalog.engines();
        for variant in variants {
            let engine = &variant.engine.get_ref().engine;
            let is_server = known.iter().any(|info| info.name == *engine && info.dialect.is_some());
            let why = match (is_server, &variant.dsn) {
                (false, _) => format!("{engine} is embedded in the client"),
                (true, Some(_)) => "Assay does not place a running server".to_owned(),
                (true, None) => continue,
            };
            return Err(at(PlanError::new(format!(
                "placement \"{placement}\" needs a client and a server that Assay starts; variant \
                {}: {why}",
                variant.name.get_ref()
            )))
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
