//! The capabilities with which root runs servers under another account.

use rustix::thread::{CapabilitySet, capabilities};

use crate::error::ServerError;

/// Those for the end of servers, their start, their group and their data. Source: capabilities(7).
const NEEDED: [(CapabilitySet, &str); 5] = [
    (CapabilitySet::KILL, "KILL"),
    (CapabilitySet::SETUID, "SETUID"),
    (CapabilitySet::SETGID, "SETGID"),
    (CapabilitySet::CHOWN, "CHOWN"),
    (CapabilitySet::DAC_OVERRIDE, "DAC_OVERRIDE"),
];

/// Checks that root has the capabilities for servers under another account.
///
/// # Errors
/// Those that it lacks, as in a container without them, and the remedy.
pub(crate) fn check() -> Result<(), ServerError> {
    // A kernel that does not report them refuses what they are needed for.
    let had = capabilities(None).map_or(CapabilitySet::all(), |sets| sets.effective);
    refusal(had).map_or(Ok(()), |text| Err(ServerError::fatal(text)))
}

/// Returns the refusal of a process that has these capabilities; `None` where it has all.
fn refusal(had: CapabilitySet) -> Option<String> {
    let lacking: Vec<_> = NEEDED.iter().filter(|it| !had.contains(it.0)).map(|it| it.1).collect();
    let list = |prefix: &str| lacking.iter().map(|it| format!("{prefix}{it}")).collect::<Vec<_>>();
    (!lacking.is_empty()).then(|| {
        format!(
            "root runs servers under another account, and this process lacks {}: add the \
             capabilities where the container is started (`docker run {}`, in Kubernetes \
             `securityContext.capabilities.add`), or run Assay as an ordinary user",
            list("CAP_").join(", "),
            list("--cap-add ").join(" "),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_without_a_capability_is_refused_with_its_name_and_the_remedy() {
        assert_eq!(refusal(CapabilitySet::all()), None);
        for (one, name) in NEEDED {
            let text = refusal(CapabilitySet::all() - one).unwrap();
            assert!(text.contains(&format!("lacks CAP_{name}: add")), "{text}");
            assert!(text.contains(&format!("`docker run --cap-add {name}`")), "{text}");
        }
        let text = refusal(CapabilitySet::all() - CapabilitySet::KILL - CapabilitySet::CHOWN);
        assert!(text.unwrap().contains("`docker run --cap-add KILL --cap-add CHOWN`"));
    }
}
