//! The files of a Postgres installation that Assay needs.

use std::path::Path;

/// The program that makes data directories, next to the server's.
const INITDB: &str = "initdb";
/// A file that `initdb` reads in the directory of shared files.
const CATALOGUE: &str = "postgres.bki";
/// Directories above the program that may have the shared files below them.
///
/// Five in Debian's `/usr/lib/postgresql/15/bin/postgres`.
const LEVELS_MAX: usize = 5;
/// The remedy.
const COMPLETE: &str = "add a whole installation (Debian: apt install postgresql)";

/// Checks that `initdb` and the files that it reads are there.
///
/// # Errors
/// The missing file with the remedy.
pub(crate) fn check(program: &Path, major: u32) -> Result<(), String> {
    if !program.with_file_name(INITDB).is_file() {
        return Err(format!("`{INITDB}` is missing next to the program: {COMPLETE}"));
    }
    let names = [
        "share".to_owned(),
        "share/postgresql".to_owned(),
        "share/pgsql".to_owned(),
        format!("share/postgresql/{major}"),
        format!("share/postgresql{major}"),
        format!("share/postgresql-{major}"),
    ];
    let has = |dir: &Path| names.iter().any(|name| dir.join(name).join(CATALOGUE).is_file());
    if program.ancestors().skip(1).take(LEVELS_MAX).any(has) {
        return Ok(());
    }
    let searched = names.join(", ");
    Err(format!("no `{CATALOGUE}` in the directories {searched} above the program: {COMPLETE}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn missing_parts_of_an_installation_are_named() {
        for (bin, share) in [
            ("pg/bin", "pg/share"),
            ("pg/bin", "pg/share/postgresql"),
            ("usr/lib/postgresql/15/bin", "usr/share/postgresql/15"),
            ("usr/libexec/postgresql15", "usr/share/postgresql15"),
            ("usr/bin", "usr/share/pgsql"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let [bin, share] = [bin, share].map(|name| dir.path().join(name));
            fs::create_dir_all(&bin).unwrap();
            let program = bin.join("postgres");
            let error = check(&program, 15).unwrap_err();
            assert!(error.starts_with("`initdb` is missing next to the program: add"), "{error}");
            fs::write(bin.join("initdb"), "").unwrap();
            let error = check(&program, 15).unwrap_err();
            assert!(error.starts_with("no `postgres.bki` in the directories share, "), "{error}");
            fs::create_dir_all(&share).unwrap();
            fs::write(share.join("postgres.bki"), "").unwrap();
            assert_eq!(check(&program, 15), Ok(()), "{}", share.display());
        }
    }
}
