//! Compiles file by file; an object is complete or absent, so a killed build goes on where it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use sha2::{Digest, Sha256};

use super::recipe::{HEADERS_DIR, Language, Recipe, Unit};
use super::toolchain::{Toolchain, run, words};
use crate::error::SupplyError;

/// Hex digits of the hash in the name of a directory of objects.
const HASH_DIGITS: usize = 12;

/// Room one object may take: the largest of RocksDB's with link-time optimisation take 2 MB, most
/// a quarter of one.
const OBJECT_BYTES: u64 = 1 << 20;

/// Room the library and the linker's own files may take.
const LIBRARY_BYTES: u64 = 512 << 20;

/// What the compiler said of the file that it refused, all of it.
const LOG_FILE: &str = "refused.log";

/// The objects of one build while it is made.
pub(crate) struct Objects<'a> {
    toolchain: &'a Toolchain,
    recipe: &'a Recipe,
    /// Where they lie; the compiler runs there.
    dir: PathBuf,
}

impl<'a> Objects<'a> {
    /// Prepares the directory of a build's objects below `parent`.
    ///
    /// Its name changes with whatever changes an object: compiler, flags, files.
    ///
    /// # Errors
    /// When it cannot be written, or the disk has too little room.
    pub(crate) fn prepare(
        parent: &Path,
        toolchain: &'a Toolchain,
        recipe: &'a Recipe,
    ) -> Result<Self, SupplyError> {
        let dir = parent.join(hash(toolchain, recipe));
        let objects = Self { toolchain, recipe, dir };
        let headers = objects.dir.join(HEADERS_DIR);
        fs::create_dir_all(&headers).map_err(SupplyError::io("create", &headers))?;
        for (name, text) in &recipe.headers {
            let path = headers.join(name);
            let folder = path.parent().unwrap_or(&headers);
            fs::create_dir_all(folder).map_err(SupplyError::io("create", folder))?;
            fs::write(&path, text).map_err(SupplyError::io("write", &path))?;
        }
        objects.check_room()?;
        Ok(objects)
    }

    /// Returns how many files there are, and how many of them are compiled already.
    pub(crate) fn done(&self) -> (usize, usize) {
        let is_done = |index: &usize| self.dir.join(self.name(*index)).exists();
        let total = self.recipe.units.len();
        (total, (0..total).filter(is_done).count())
    }

    /// Compiles what is not compiled yet, `jobs` files at once; `told` hears of each file.
    ///
    /// # Errors
    /// At the first file that is refused, when those begun with it have ended.
    pub(crate) fn compile(
        &self,
        jobs: usize,
        told: &mut dyn FnMut(&Path),
    ) -> Result<(), SupplyError> {
        let next = AtomicUsize::new(0);
        let is_over = AtomicBool::new(false);
        let mut refusal = None;
        thread::scope(|scope| {
            let (sender, outcomes) = sync_channel(jobs);
            for _ in 0..jobs {
                let (sender, next, is_over) = (sender.clone(), &next, &is_over);
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(unit) = self.recipe.units.get(index) else { return };
                        if self.dir.join(self.name(index)).exists() {
                            continue;
                        }
                        let outcome = self.compile_one(index, unit).map(|()| &*unit.source);
                        if outcome.is_err() {
                            is_over.store(true, Ordering::Relaxed);
                        }
                        if sender.send(outcome).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for outcome in outcomes {
                match outcome {
                    Ok(source) => told(source),
                    Err(error) => refusal = refusal.take().or(Some(error)),
                }
            }
        });
        refusal.map_or(Ok(()), Err)
    }

    /// Compiles one file.
    fn compile_one(&self, index: usize, unit: &Unit) -> Result<(), SupplyError> {
        let name = self.name(index);
        // Another process's name, should a killed one's compiler still be writing.
        let partial = format!("{name}.{}.partial", std::process::id());
        let mut command = command_of(self.toolchain, unit);
        command.extend(["-o".to_owned(), partial.clone()]);
        let source = unit.source.display().to_string();
        self.execute(&command, "compile", &source)?;
        let (from, to) = (self.dir.join(&partial), self.dir.join(&name));
        fs::rename(&from, &to).map_err(SupplyError::io("move", &from))
    }

    /// Links the objects to a library at `library`, an absolute path.
    ///
    /// # Errors
    /// When the linker refuses, in its own words.
    pub(crate) fn link(&self, library: &Path, jobs: usize) -> Result<(), SupplyError> {
        let language = if self.has_cxx() { Language::Cxx } else { Language::C };
        let mut command = self.toolchain.link(language, jobs);
        let name = library.file_name().unwrap_or_default().to_string_lossy();
        command.push(format!("-Wl,-soname,{name}"));
        command.extend(["-o".to_owned(), library.display().to_string()]);
        command.extend((0..self.recipe.units.len()).map(|index| self.name(index)));
        command.extend(self.recipe.libraries.iter().map(|word| (*word).to_owned()));
        self.execute(&command, "link", &name)
    }

    /// Returns where the objects lie.
    pub(crate) fn into_dir(self) -> PathBuf {
        self.dir
    }

    /// Returns whether any file is C++.
    pub(crate) fn has_cxx(&self) -> bool {
        self.recipe.units.iter().any(|unit| unit.language == Language::Cxx)
    }

    /// Runs a command among the objects; what it says when it fails is kept, and told in part.
    fn execute(
        &self,
        command: &[String],
        action: &'static str,
        file: &str,
    ) -> Result<(), SupplyError> {
        let (program, arguments) =
            command.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        let output = run(Command::new(program).args(arguments).current_dir(&self.dir), program)?;
        if output.status.success() {
            return Ok(());
        }
        let log = self.dir.join(LOG_FILE);
        let said = String::from_utf8_lossy(&output.stderr);
        let line = command.join(" ");
        fs::write(&log, format!("{line}\n\n{said}")).map_err(SupplyError::io("write", &log))?;
        Err(SupplyError::CompileFailed {
            action,
            file: file.to_owned(),
            program: program.to_owned(),
            words: words(&said, output.status),
            log,
        })
    }

    /// Returns the name of a file's object.
    fn name(&self, index: usize) -> String {
        let source = &self.recipe.units[index].source;
        format!("{index:03}-{}.o", source.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Checks that the disk has room for what is not compiled yet.
    fn check_room(&self) -> Result<(), SupplyError> {
        let stat = rustix::fs::statvfs(&self.dir)
            .map_err(|error| SupplyError::io("read the free space of", &self.dir)(error.into()))?;
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        let (total, done) = self.done();
        let needed = OBJECT_BYTES.saturating_mul((total - done) as u64) + LIBRARY_BYTES;
        if free < needed {
            return Err(SupplyError::NoRoom {
                dir: self.dir.clone(),
                needed: model::Bytes(needed),
                free: model::Bytes(free),
            });
        }
        Ok(())
    }
}

/// Removes the objects of a build that is made.
///
/// # Errors
/// When they cannot be removed.
pub(crate) fn clear(dir: &Path) -> Result<(), SupplyError> {
    fs::remove_dir_all(dir).map_err(SupplyError::io("remove", dir))?;
    if let Some(parent) = dir.parent()
        && fs::remove_dir(parent).is_err()
    {
        // Objects of other builds of the release lie there.
    }
    Ok(())
}

/// Returns the command that compiles a file, without the object's name.
fn command_of(toolchain: &Toolchain, unit: &Unit) -> Vec<String> {
    let mut command = toolchain.compile(unit.language, &unit.arguments);
    command.extend(["-c".to_owned(), unit.source.display().to_string()]);
    command
}

/// Returns a name for everything that goes into the objects.
fn hash(toolchain: &Toolchain, recipe: &Recipe) -> String {
    let mut hasher = Sha256::new();
    let mut add = |text: &str| {
        hasher.update(text.as_bytes());
        hasher.update([0]);
    };
    add(&toolchain.version_line);
    for (name, text) in &recipe.headers {
        add(name);
        add(text);
    }
    for unit in &recipe.units {
        for word in command_of(toolchain, unit) {
            add(&word);
        }
    }
    let digest = hasher.finalize();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex[..HASH_DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a recipe of C files below a directory.
    fn recipe(dir: &Path, files: &[(&str, &str)]) -> Recipe {
        let mut recipe = Recipe::default();
        for (name, text) in files {
            fs::write(dir.join(name), text).unwrap();
        }
        let sources = files.iter().map(|(name, _)| dir.join(name));
        recipe.headers.push(("made/limits.h", "#define LIMIT 7\n".to_owned()));
        recipe.add(Language::C, &["-Iinclude".to_owned()], sources);
        recipe
    }

    /// Returns the machine's compiler, or says that there is none.
    fn gcc(flags: &str) -> Option<Toolchain> {
        let found = Toolchain::find("gcc", flags, false);
        if matches!(found, Err(SupplyError::NoCompiler { .. })) {
            println!("skipped: no gcc here (Debian: apt install gcc)");
        }
        found.ok()
    }

    #[test]
    fn whatever_changes_an_object_changes_the_directory() {
        let Some(plain) = gcc("-O1") else { return };
        let dir = tempfile::tempdir().unwrap();
        let one = recipe(dir.path(), &[("a.c", ""), ("b.c", "")]);
        let of = |toolchain: &Toolchain, recipe: &Recipe| hash(toolchain, recipe);
        let first = of(&plain, &one);
        assert_eq!(first.len(), HASH_DIGITS);
        assert_eq!(first, of(&plain, &one));
        let mut other_flags = plain.clone();
        other_flags.flags.push("-O2".to_owned());
        let mut other_compiler = plain.clone();
        other_compiler.version_line.push('1');
        let mut linked_together = plain.clone();
        linked_together.is_lto = true;
        for other in [&other_flags, &other_compiler, &linked_together] {
            assert_ne!(first, of(other, &one));
        }
        let mut other_header = one.clone();
        other_header.headers[0].1.push(' ');
        assert_ne!(first, of(&plain, &other_header));
        assert_ne!(first, of(&plain, &recipe(dir.path(), &[("a.c", "")])));
    }

    /// Goal: what was compiled before a file was refused is not compiled again.
    /// Method: the second of three files is wrong, then mended; its neighbours are watched.
    #[test]
    fn a_refused_file_keeps_what_is_compiled_and_is_told_in_the_compiler_s_words() {
        let Some(toolchain) = gcc("-O0") else { return };
        let dir = tempfile::tempdir().unwrap();
        let good = "#include <made/limits.h>\nint one(void) { return LIMIT; }\n";
        let files = [("a.c", good), ("b.c", "int two(void) { return ; oops }\n"), ("c.c", "")];
        let recipe = recipe(dir.path(), &files);
        let objects = Objects::prepare(&dir.path().join("o"), &toolchain, &recipe).unwrap();
        let mut compiled = Vec::new();
        let mut note = |path: &Path| compiled.push(path.to_owned());
        let error = objects.compile(1, &mut note).unwrap_err();
        let SupplyError::CompileFailed { file, words, log, .. } = &error else { panic!("{error}") };
        assert!(file.ends_with("b.c"), "{file}");
        assert!(words.starts_with("/") && words.contains("error: ") && words.contains("oops"));
        let log = fs::read_to_string(log).unwrap();
        assert!(log.starts_with("gcc -Iinclude -fPIC -w -O0 -c ") && log.contains("oops"), "{log}");
        assert_eq!(objects.done(), (3, 1));
        fs::write(dir.path().join("b.c"), "int two(void) { return 2; }\n").unwrap();
        objects.compile(2, &mut note).unwrap();
        assert_eq!(compiled.len(), 3, "each file once: {compiled:?}");
        let library = dir.path().join("libx.so");
        objects.link(&library, 1).unwrap();
        crate::library::check_loadable(&library).unwrap();
        clear(&objects.into_dir()).unwrap();
        assert!(!dir.path().join("o").exists());
    }

    #[test]
    fn what_is_missing_is_told_when_the_library_is_linked() {
        let Some(toolchain) = gcc("-O0") else { return };
        let dir = tempfile::tempdir().unwrap();
        let files = [("a.c", "int gone(void);\nint one(void) { return gone(); }\n")];
        let recipe = recipe(dir.path(), &files);
        let objects = Objects::prepare(dir.path(), &toolchain, &recipe).unwrap();
        objects.compile(1, &mut |_| ()).unwrap();
        let error = objects.link(&dir.path().join("libx.so"), 1).unwrap_err().to_string();
        assert!(error.contains("undefined reference to `gone'"), "{error}");
    }
}
