//! Servers of an experiment: started here, or already running.

use std::collections::BTreeMap;
use std::path::Path;

use model::secret::PASSWORD_VARIABLE;
use model::{Dsn, Endpoint, Experiment, Password, Variant};
use runner::Served;
use sampler::ServerGroup;
use server::User;

use crate::environment::{Environment, device, password};
use crate::registry;
use crate::ui::{Process, Ui};

/// Data directory of servers that cannot enter the default one. Source: FHS 3.0, `/var/lib`.
pub(super) const OPEN_DATA_DIR: &str = "/var/lib/assay/data";

/// A password that neither the file nor the environment has.
#[derive(Debug)]
pub(crate) struct MissingPassword {
    pub(crate) variant: String,
    pub(crate) message: String,
}

/// Returns the server of each variant that has one, by variant name.
///
/// A running one is printed with the place of its password, before anything connects to it.
///
/// # Errors
/// When a password is needed and neither file nor environment has it.
pub(crate) fn of(
    experiment: &Experiment,
    process: Process<'_>,
) -> Result<BTreeMap<String, Served>, MissingPassword> {
    let mut servers = BTreeMap::new();
    for variant in &experiment.variants {
        let served = match &variant.dsn {
            Some(dsn) => Some(Served::Foreign(endpoint(variant, dsn, process)?.into())),
            None => registry::kind(&variant.build.engine).map(Served::Started),
        };
        servers.extend(served.map(|served| (variant.name.clone(), served)));
    }
    Ok(servers)
}

/// Returns the environment with a data directory that the experiment's servers can reach.
///
/// The default one may lie in a closed home of root. Data never move to another file system: there,
/// and where the user named the directory, it stays and is refused with its remedy before the first
/// run.
pub(crate) fn with_open_data(
    environment: &Environment,
    experiment: &Experiment,
    ui: &Ui,
) -> Environment {
    let mut environment = environment.clone();
    let is_started = |variant: &Variant| {
        variant.dsn.is_none() && registry::kind(&variant.build.engine).is_some()
    };
    let user = environment.server_user.as_deref();
    let has_server = experiment.variants.iter().any(is_started);
    if let Some(user) = user.filter(|_| has_server) {
        ui.status(format_args!("account   servers run as {user} (ASSAY_SERVER_USER)"));
    }
    let group = has_server.then(|| ServerGroup::create(None, &environment.nearest_dir()).ok());
    if let Some(absence) = group.flatten().as_ref().and_then(ServerGroup::absence) {
        ui.status(format_args!("counters  of servers are incomplete: {absence}"));
    }
    let is_open = |dir: &Path| User::check_data_dir(dir, user, false).is_ok();
    if !environment.is_data_dir_named
        && has_server
        && !is_open(&environment.data_dir)
        && is_same_file_system(&environment.nearest_dir(), Path::new(OPEN_DATA_DIR))
        && is_open(Path::new(OPEN_DATA_DIR))
    {
        ui.status(format_args!(
            "data      in {OPEN_DATA_DIR}: the account that runs servers cannot use {}; \
             --data-dir names another place",
            std::path::absolute(&environment.data_dir)
                .as_deref()
                .unwrap_or(&environment.data_dir)
                .display()
        ));
        environment.data_dir = OPEN_DATA_DIR.into();
    }
    environment
}

/// Returns whether two directories, or their nearest parents, lie on one file system.
fn is_same_file_system(one: &Path, two: &Path) -> bool {
    let of = |dir: &Path| device(&sampler::nearest_existing(dir));
    of(one).is_some() && of(one) == of(two)
}

/// Checks that the password of a variant's running server is known.
pub(super) fn check_password(
    variant: &Variant,
    environment: &Environment,
) -> Result<(), MissingPassword> {
    if environment.passwords.contains_key(&variant.name) {
        return Ok(());
    }
    let found = variant.dsn.as_ref().map(|dsn| password_of(&variant.name, dsn, password));
    found.transpose().map(drop)
}

/// Returns the passwords of an experiment's running servers, by variant.
pub(super) fn passwords(
    experiment: &Experiment,
) -> Result<BTreeMap<String, Password>, MissingPassword> {
    let mut passwords = BTreeMap::new();
    for variant in &experiment.variants {
        let Some(dsn) = &variant.dsn else { continue };
        let found = password_of(&variant.name, dsn, password)?;
        passwords.extend(found.map(|password| (variant.name.clone(), password)));
    }
    Ok(passwords)
}

fn endpoint(
    variant: &Variant,
    dsn: &Dsn,
    Process { environment, ui }: Process<'_>,
) -> Result<Endpoint, MissingPassword> {
    let Dsn { address, user, database, login, .. } = dsn.clone();
    let sent = environment.passwords.get(&variant.name).cloned();
    let is_sent = sent.is_some();
    let password = match sent {
        None => password_of(&variant.name, dsn, password)?,
        sent => sent,
    };
    let with = match (&password, &dsn.password) {
        (None, _) => "without a password".to_owned(),
        (Some(_), _) if is_sent => "with the password that the controller sent".to_owned(),
        (Some(_), Some(_)) => "with the password of the file".to_owned(),
        (Some(_), None) => format!("with the password in {}", variable_of(&variant.name, dsn)),
    };
    let clear = password.as_ref().map_or("", |_| dsn.exposure());
    let transport = address.transport();
    ui.status(format_args!("{}: connects to {dsn} ({transport}) {with}{clear}", variant.name));
    dsn.notes.iter().for_each(|note| ui.status(format_args!("{}: {note}", variant.name)));
    Ok(Endpoint { address, user, password, database, is_foreign: true, login })
}

/// Returns the variable with the password of a variant.
///
/// It is the one that the file names, or is derived from the variant's name. In the archive of a
/// stranger another one may be named: it is not read.
fn variable_of(variant: &str, dsn: &Dsn) -> String {
    let named = dsn.password_from.as_ref().filter(|name| name.starts_with(PASSWORD_VARIABLE));
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let own = || format!("{PASSWORD_VARIABLE}{}", variant.chars().map(upper).collect::<String>());
    named.cloned().unwrap_or_else(own)
}

/// Returns the password, from the file or from an environment variable.
fn password_of(
    variant: &str,
    dsn: &Dsn,
    read: impl Fn(&str) -> Option<Password>,
) -> Result<Option<Password>, MissingPassword> {
    if dsn.password.is_some() || !dsn.has_password {
        return Ok(dsn.password.clone());
    }
    let variable = variable_of(variant, dsn);
    let Some(password) = read(&variable) else {
        let remedy = format!("put the password into the variable {variable}");
        let message = format!("the password of {dsn} is not known: {remedy}");
        return Err(MissingPassword { variant: variant.to_owned(), message });
    };
    Ok(Some(password))
}

#[cfg(test)]
mod tests {
    use model::Address;

    use super::*;

    fn dsn(has_password: bool, from: Option<&str>) -> Dsn {
        Dsn {
            address: Address::tcp("db", 5432),
            user: "me".to_owned(),
            database: "bench".to_owned(),
            password: None,
            password_from: from.map(str::to_owned),
            has_password,
            login: model::LoginOptions::default(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn password_comes_from_the_named_variable() {
        let read = |name: &str| Some(Password(name.to_owned()));
        let found = |dsn: &Dsn| password_of("pg-15.a", dsn, read).unwrap().map(|it| it.0);
        assert_eq!(found(&dsn(false, None)), None);
        let named = found(&dsn(true, Some("ASSAY_PASSWORD_X")));
        assert_eq!(named.as_deref(), Some("ASSAY_PASSWORD_X"));
        let foreign = found(&dsn(true, Some("AWS_SECRET_ACCESS_KEY")));
        assert_eq!(foreign.as_deref(), Some("ASSAY_PASSWORD_PG_15_A"), "of an archive");
        assert_eq!(found(&dsn(true, None)).as_deref(), Some("ASSAY_PASSWORD_PG_15_A"));
        let written = Dsn { password: Some(Password("hush".to_owned())), ..dsn(true, None) };
        assert_eq!(found(&written).as_deref(), Some("hush"));
        let missing = password_of("pg", &dsn(true, None), |_| None).unwrap_err().message;
        let expected = "the password of me@db:5432/bench is not known: put the password into \
                        the variable ASSAY_PASSWORD_PG";
        assert_eq!(missing, expected);
    }
}
