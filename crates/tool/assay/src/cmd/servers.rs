//! The servers of an experiment: those to start, and those that run already.

use std::collections::BTreeMap;

use miette::{Report, miette};
use model::{Dsn, Endpoint, Experiment, Password, Variant};
use plan::Checked;
use runner::Served;

use crate::environment::password;
use crate::registry;

/// Begin of the name of the variable that holds a variant's password when it is not in the file.
const PASSWORD: &str = "ASSAY_PASSWORD_";

/// A password that nobody has told.
#[derive(Debug)]
pub(crate) struct NoPassword {
    variant: String,
    /// The variable it may be in.
    variable: String,
    dsn: String,
}

/// Returns how the server of each variant that has one is had, by the variant's name.
///
/// # Errors
/// When a password is needed and neither file nor environment has it.
pub(crate) fn of(experiment: &Experiment) -> Result<BTreeMap<String, Served>, NoPassword> {
    let mut servers = BTreeMap::new();
    for variant in &experiment.variants {
        let served = match &variant.dsn {
            Some(dsn) => Some(Served::Foreign(endpoint(variant, dsn)?)),
            None => registry::kind(&variant.build.engine).map(Served::Started),
        };
        servers.extend(served.map(|served| (variant.name.clone(), served)));
    }
    Ok(servers)
}

fn endpoint(variant: &Variant, dsn: &Dsn) -> Result<Endpoint, NoPassword> {
    let Dsn { address, user, database, .. } = dsn.clone();
    let password = password_of(&variant.name, dsn, password)?;
    Ok(Endpoint { address, user, password, database, is_foreign: true })
}

/// Returns the password: as written, else from the variable that the file names or, for an
/// experiment that is resumed, the one that the variant's name gives.
fn password_of(
    variant: &str,
    dsn: &Dsn,
    read: impl Fn(&str) -> Option<Password>,
) -> Result<Option<Password>, NoPassword> {
    if dsn.password.is_some() || !dsn.has_password {
        return Ok(dsn.password.clone());
    }
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let own = || format!("{PASSWORD}{}", variant.chars().map(upper).collect::<String>());
    let variable = dsn.password_from.clone().unwrap_or_else(own);
    match read(&variable) {
        Some(password) => Ok(Some(password)),
        None => Err(NoPassword { variant: variant.to_owned(), variable, dsn: dsn.to_string() }),
    }
}

impl NoPassword {
    /// Returns the report at the variant that needs it.
    pub(crate) fn at(&self, checked: &Checked) -> Report {
        checked.variant_error(&self.variant, &self.to_string()).into()
    }

    /// Returns the report where there is no file to point at.
    pub(crate) fn alone(&self) -> Report {
        miette!(
            help = "passwords are kept in no record: an experiment that is resumed asks again",
            "variant {}: {self}",
            self.variant
        )
    }
}

impl std::fmt::Display for NoPassword {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { variable, dsn, .. } = self;
        write!(f, "the password of {dsn} is not known: put it into the variable {variable}")
    }
}

#[cfg(test)]
mod tests {
    use model::Address;

    use super::*;

    fn dsn(has_password: bool, from: Option<&str>) -> Dsn {
        Dsn {
            address: Address::Tcp { host: "db".to_owned(), port: 5432 },
            user: "me".to_owned(),
            database: "bench".to_owned(),
            password: None,
            password_from: from.map(str::to_owned),
            has_password,
        }
    }

    #[test]
    fn a_password_is_asked_of_the_variable_that_is_named() {
        let read = |name: &str| Some(Password(name.to_owned()));
        let found = |dsn: &Dsn| password_of("pg-15.a", dsn, read).unwrap().map(|it| it.0);
        assert_eq!(found(&dsn(false, None)), None);
        assert_eq!(found(&dsn(true, Some("PG"))).as_deref(), Some("PG"));
        assert_eq!(found(&dsn(true, None)).as_deref(), Some("ASSAY_PASSWORD_PG_15_A"));
        let written = Dsn { password: Some(Password("hush".to_owned())), ..dsn(true, None) };
        assert_eq!(found(&written).as_deref(), Some("hush"));
        let lack = password_of("pg", &dsn(true, None), |_| None).unwrap_err().to_string();
        let told = "the password of me@db:5432/bench is not known: put it into the variable \
                    ASSAY_PASSWORD_PG";
        assert_eq!(lack, told);
    }
}
