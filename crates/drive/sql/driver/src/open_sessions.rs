//! The open sessions of a run, by role.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::WaitProfile;

/// Whose operations a session executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionRole {
    /// A measured client's.
    Measured,
    /// A background writer's.
    Background,
}

/// The open sessions by the server's number; a session without one is in no sample.
#[derive(Debug, Default)]
pub(crate) struct OpenSessions(Mutex<BTreeMap<u64, SessionRole>>);

impl OpenSessions {
    /// Adds a session; returns whether another one had its number.
    pub(crate) fn open(&self, number: Option<u64>, role: SessionRole) -> bool {
        self.change(|sessions| number.and_then(|number| sessions.insert(number, role)).is_some())
    }

    pub(crate) fn close(&self, number: Option<u64>) {
        self.change(|sessions| {
            number.and_then(|number| sessions.remove(&number));
        });
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.change(|sessions| sessions.keys().copied().collect())
    }

    fn change<T>(&self, change: impl FnOnce(&mut BTreeMap<u64, SessionRole>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a sample of numbers and events; other sessions than ours are left out.
    pub(crate) fn add(&self, sample: &[(String, String)], profile: &mut WaitProfile) {
        self.change(|sessions| {
            for (number, event) in sample.iter().filter(|(_, event)| !event.is_empty()) {
                let role = number.parse().ok().and_then(|number: u64| sessions.get(&number));
                match role {
                    Some(SessionRole::Measured) => profile.clients.add(event),
                    Some(SessionRole::Background) => profile.writers.add(event),
                    None if number.is_empty() => profile.background.add(event),
                    None => {}
                }
            }
        });
        profile.samples += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: clients, writers and the server's own processes are distinguished; sessions of others
    /// are left out, and so is one that has ended.
    #[test]
    fn sessions_are_counted_by_role() {
        let sessions = OpenSessions::default();
        for (number, role) in [
            (Some(7), SessionRole::Measured),
            (Some(8), SessionRole::Background),
            (None, SessionRole::Measured),
            (None, SessionRole::Measured),
        ] {
            assert!(!sessions.open(number, role), "{number:?}");
        }
        assert!(sessions.open(Some(8), SessionRole::Background), "a pooler shares it");
        let row = |number: &str, event: &str| (number.to_owned(), event.to_owned());
        let sample = [
            row("7", "Lock:tuple"),
            row("8", "idle"),
            row("9", "Lock:tuple"),
            row("", "IO:DataFileWrite"),
            row("", ""),
        ];
        let mut profile = WaitProfile::default();
        sessions.add(&sample, &mut profile);
        sessions.close(Some(7));
        sessions.add(&sample, &mut profile);
        assert_eq!(profile.samples, 2);
        assert_eq!((profile.clients.sessions, profile.clients.events["Lock:tuple"]), (1, 1));
        assert_eq!((profile.writers.sessions, profile.background.sessions), (2, 2));
    }
}
