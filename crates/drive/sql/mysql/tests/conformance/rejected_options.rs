//! Options that a server rejects.

use engine::EngineError;
use server::ServerError;

use crate::test_server::Build;

pub(crate) fn rejected_options_carry_the_server_message(build: &Build) {
    for (name, value, text) in [
        ("innodb-bufer-pool-size", "64M", "unknown variable 'innodb-bufer-pool-size=64M'"),
        ("default_storage_engine", "papyrus", "papyrus"),
        ("datadir", "/tmp/elsewhere", "remove the option"),
    ] {
        let error = build.start(&[(name, value)]).err().expect("the server does not start");
        let refused = matches!(
            &error,
            ServerError::Refused(error)
                if error.refused_option() == Some(name) && error.to_string().contains(text)
        );
        let is_fatal = matches!(
            &error,
            ServerError::Refused(EngineError::Fatal(reason)) if reason.contains(text)
        );
        assert!(refused || is_fatal, "{name}: {error:?}");
    }
}
