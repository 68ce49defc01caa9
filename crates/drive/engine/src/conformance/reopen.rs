//! Checks of what a clean close leaves: every row, and files that stay.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Durability, OpKind};

use super::answers::{kinds, same_answer, same_rows};
use super::client::Client;
use super::stream::{SEED, Stream};
use super::subject::{Subject, close, fresh_dir, open_oracle};
use crate::traits::Maintenance;

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
            .map_err(|reason| after_close(round, &reason))?;
        for _ in 0..subject.scaled(600) {
            same_answer(&stream.next(), &mut client, &mut oracle)?;
        }
        drop(client);
        close(engine)?;
    }
    let engine = subject.open(dir.path())?;
    same_rows(&subject, &mut Client::new(&*engine)?, &mut oracle)
        .map_err(|reason| after_close(ROUNDS, &reason))?;
    close(engine)
}

/// Returns the failure of an engine that lost rows between a clean close and an open.
fn after_close(closes: u64, reason: &str) -> String {
    match closes {
        0 => format!("of a new directory: {reason}"),
        _ => format!("close number {closes} must store every row, in every class: {reason}"),
    }
}

/// Files that the driver calls immutable are never rewritten, only removed.
///
/// Each is given a second name; the engine then overwrites every row and compacts everything.
pub(super) fn immutable_files_stay(subject: &Subject<'_>) -> Result<(), String> {
    let ends = subject.driver.immutable_files();
    if ends.is_empty() {
        return Ok(());
    }
    let (dir, aside) = (fresh_dir()?, fresh_dir()?);
    write_and_compact(subject, dir.path(), 1)?;
    let of_io = |error: std::io::Error| error.to_string();
    let mut before = Vec::new();
    for file in files_below(dir.path()).map_err(of_io)? {
        if ends.iter().any(|end| file.as_os_str().as_encoded_bytes().ends_with(end.as_bytes())) {
            let second = aside.path().join(before.len().to_string());
            fs::hard_link(&file, &second).map_err(of_io)?;
            let content = fs::read(&second).map_err(of_io)?;
            before.push((file, second, content));
        }
    }
    if before.is_empty() {
        let ends = ends.join(" or ");
        return Err(format!("expected a file whose name ends with {ends}, got none"));
    }
    write_and_compact(subject, dir.path(), 2)?;
    for (file, second, content) in before {
        if fs::read(&second).map_err(of_io)? != content {
            let file = file.display();
            return Err(format!("expected {file} to stay as it was written, got other content"));
        }
    }
    Ok(())
}

/// Writes every row and compacts all of them.
fn write_and_compact(subject: &Subject<'_>, dir: &Path, byte: u8) -> Result<(), String> {
    let engine = subject.open(dir)?;
    let mut client = Client::new(&*engine)?;
    for row in 0..subject.scaled(2_000) {
        client.put(format!("key{row:08}").as_bytes(), &[byte; 200])?;
    }
    drop(client);
    for work in [Maintenance::Flush, Maintenance::CompactAll] {
        engine.maintain(work).map_err(|error| error.to_string())?;
    }
    close(engine)
}

/// Returns the files below a directory.
fn files_below(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut files, mut todo) = (Vec::new(), vec![dir.to_path_buf()]);
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_dir() { todo.push(path) } else { files.push(path) }
        }
    }
    Ok(files)
}
