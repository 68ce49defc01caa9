//! Check that a clean close preserves every row.

use model::{Durability, OpKind};

use super::answers::{kinds, same_answer, same_rows};
use super::client::Client;
use super::stream::{SEED, Stream};
use super::subject::{Subject, close, fresh_dir, open_oracle};

/// Times the data is opened, changed and closed per class.
const ROUNDS: u64 = 3;

/// Rows, overwrites and deletes survive close and reopen, in every class.
pub(super) fn reopen_preserves_rows(subject: &Subject<'_>) -> Result<(), String> {
    for &durability in &subject.capabilities.durability {
        reopen_with(subject, durability)
            .map_err(|reason| format!("durability {durability}: {reason}"))?;
    }
    Ok(())
}

fn reopen_with(subject: &Subject<'_>, durability: Durability) -> Result<(), String> {
    let mut subject = Subject::new(subject.driver, &subject.settings, subject.options);
    subject.settings.durability = durability;
    let writes: Vec<OpKind> = kinds(&subject).into_iter().filter(|kind| kind.is_write()).collect();
    let (dir, oracle_dir) = (fresh_dir()?, fresh_dir()?);
    let oracle_engine = open_oracle(oracle_dir.path())?;
    let mut oracle = Client::new(&*oracle_engine)?;
    for round in 0..ROUNDS {
        let mut stream = Stream::new(SEED + round, writes.clone(), &subject);
        let engine = subject.open(dir.path())?;
        let mut client = Client::new(&*engine)?;
        same_rows(&subject, &mut client, &mut oracle)
            .map_err(|reason| format!("after {round} reopens: {reason}"))?;
        for _ in 0..subject.scaled(600) {
            same_answer(&stream.next(), &mut client, &mut oracle)?;
        }
        drop(client);
        close(engine)?;
    }
    let engine = subject.open(dir.path())?;
    same_rows(&subject, &mut Client::new(&*engine)?, &mut oracle)
        .map_err(|reason| format!("after {ROUNDS} reopens: {reason}"))?;
    close(engine)
}
