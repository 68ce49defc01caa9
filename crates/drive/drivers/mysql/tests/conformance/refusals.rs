//! Options that a server does not take.

use engine::EngineError;
use server::ServerError;

use crate::started::Build;

pub(crate) fn options_are_refused_in_the_server_s_words(build: &Build) {
    for (name, value, words) in [
        ("innodb-bufer-pool-size", "64M", "unknown variable 'innodb-bufer-pool-size=64M'"),
        ("default_storage_engine", "papyrus", "papyrus"),
        ("datadir", "/tmp/elsewhere", "remove it"),
    ] {
        let error = build.start(&[(name, value)]).err().expect("the server does not start");
        let refused = matches!(
            &error,
            ServerError::Refused(EngineError::Option { option, reason })
                if option == name && reason.contains(words)
        );
        let told = matches!(
            &error,
            ServerError::Refused(EngineError::Fatal(reason)) if reason.contains(words)
        );
        assert!(refused || told, "{name}: {error:?}");
    }
}
