//! An open engine behind its shim.

use std::path::PathBuf;

use engine::{Engine, Maintenance, Result, Session, Way};
use model::{EngineState, Identity, OpKind, Options, metric};

use crate::ffi::{Handle, Numbers};
use crate::ffi_session::ShimSession;

/// An open engine.
pub(crate) struct ShimEngine {
    pub(crate) handle: Handle,
    pub(crate) identity: Identity,
    pub(crate) own_files: Vec<PathBuf>,
    /// Whether the shim changes parts of values; else the client reads and writes whole ones.
    pub(crate) is_modifying: bool,
}

impl Engine for ShimEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(ShimSession::begin(&self.handle, self.is_modifying)?))
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn way(&self, kind: OpKind) -> Option<Way> {
        let way = if self.is_modifying { Way::Native } else { Way::ReadModifyWrite };
        matches!(kind, OpKind::PartialUpdate | OpKind::Append).then_some(way)
    }

    fn effective_options(&self) -> Result<Options> {
        Ok(self.handle.options().into_iter().collect())
    }

    fn maintain(&self, work: Maintenance) -> Result<bool> {
        self.handle.maintain(work)
    }

    fn state(&self) -> Result<EngineState> {
        Ok(state_of(self.handle.state()))
    }

    fn statistics_text(&self) -> Option<String> {
        let parts = self.handle.statistics();
        let text = |(title, text): &(String, String)| format!("** {title} **\n{text}\n");
        (!parts.is_empty()).then(|| parts.iter().map(text).collect())
    }

    fn own_files(&self) -> Vec<PathBuf> {
        self.own_files.iter().filter(|path| path.is_file()).cloned().collect()
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.handle.close()
    }
}

/// Sorts a shim's counters into metrics, state fields and own counters.
fn state_of(numbers: Numbers) -> EngineState {
    let mut state = EngineState::default();
    for (name, value) in numbers {
        match name.as_str() {
            "tree_height" => state.tree_height = whole(value),
            "is_idle" => state.is_idle = Some(value > 0.0),
            _ if metric::find(&name).is_some() => _ = state.readings.insert(name, value),
            _ => _ = state.own_counters.insert(name, value),
        }
    }
    state
}

/// Returns a whole number; `None` for any other value.
#[expect(clippy::cast_possible_truncation, reason = "it is compared with the original")]
#[expect(clippy::cast_sign_loss, reason = "it is compared with the original")]
fn whole(value: f64) -> Option<u32> {
    let truncated = value as u32;
    (f64::from(truncated).total_cmp(&value).is_eq()).then_some(truncated)
}
