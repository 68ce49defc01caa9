//! Resumable compilation of a recipe, file by file.
//!
//! An object is complete or absent, so a killed build continues where it stopped.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use child::Role;
use trust::{Dir, Entries};

use super::recipe::{HEADERS_DIR, Recipe, Unit};
use super::toolchain::{Toolchain, compiler_errors, run};
use crate::error::{Result, SupplyError};
use crate::library::digest_of;
use crate::program::text;

/// Hex digits of the hash in the name of a directory of objects.
const HASH_DIGITS: usize = 12;

/// Full output of the command that failed.
const LOG_FILE: &str = "refused.log";

/// The objects of one build.
pub(crate) struct Objects<'a> {
    toolchain: &'a Toolchain,
    recipe: &'a Recipe,
    /// Their directory; the compiler runs there.
    pub(crate) dir: PathBuf,
}

impl<'a> Objects<'a> {
    /// Prepares the directory of a build's objects below `parent`.
    ///
    /// Its name is a hash of everything that changes an object: compiler, flags, files.
    pub(crate) fn prepare(
        parent: &Path,
        toolchain: &'a Toolchain,
        recipe: &'a Recipe,
    ) -> Result<Self> {
        let dir = parent.join(hash(toolchain, recipe));
        let objects = Self { toolchain, recipe, dir };
        let headers = objects.dir.join(HEADERS_DIR);
        Dir::create(&headers, Entries::Closed).map_err(SupplyError::cache(&headers))?;
        for (name, text) in &recipe.headers {
            let path = headers.join(name);
            let folder = path.parent().unwrap_or(&headers);
            fs::create_dir_all(folder).map_err(SupplyError::io("create", folder))?;
            fs::write(&path, text).map_err(SupplyError::io("write", &path))?;
        }
        Ok(objects)
    }

    /// Returns the number of files, and how many are compiled.
    pub(crate) fn done(&self) -> (usize, usize) {
        let is_done = |index: &usize| self.dir.join(self.name(*index)).exists();
        let total = self.recipe.units.len();
        (total, (0..total).filter(is_done).count())
    }

    /// Compiles the missing objects, `jobs` files at once; calls `on_compiled` per file.
    ///
    /// # Errors
    /// The first file that fails to compile, after the running ones have ended.
    pub(crate) fn compile(&self, jobs: usize, on_compiled: &mut dyn FnMut(&Path)) -> Result<()> {
        let next = AtomicUsize::new(0);
        let has_failed = AtomicBool::new(false);
        let (mut first_error, mut unstarted) = (None, None);
        thread::scope(|scope| {
            let (sender, outcomes) = sync_channel(jobs);
            for _ in 0..jobs {
                let (sender, next, has_failed) = (sender.clone(), &next, &has_failed);
                let started = thread::Builder::new().spawn_scoped(scope, move || {
                    while !has_failed.load(Ordering::Relaxed) {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(unit) = self.recipe.units.get(index) else { return };
                        if self.dir.join(self.name(index)).exists() {
                            continue;
                        }
                        let outcome = self.compile_one(index, unit).map(|()| &*unit.source);
                        if outcome.is_err() {
                            has_failed.store(true, Ordering::Relaxed);
                        }
                        if sender.send(outcome).is_err() {
                            return;
                        }
                    }
                });
                unstarted = unstarted.take().or(started.err());
            }
            drop(sender);
            for outcome in outcomes {
                match outcome {
                    Ok(source) => on_compiled(source),
                    Err(error) => first_error = first_error.take().or(Some(error)),
                }
            }
        });
        // Fewer threads than requested compile every file; without one, some are missing.
        let (all, done) = self.done();
        match (first_error, unstarted) {
            (Some(error), _) => Err(error),
            (None, Some(error)) if done < all => Err(SupplyError::NoThread(error)),
            (None, _) => Ok(()),
        }
    }

    /// Compiles one file.
    fn compile_one(&self, index: usize, unit: &Unit) -> Result<()> {
        let name = self.name(index);
        // Named by process: the compiler of a killed one may still be writing.
        let partial = format!("{name}.{}.partial", std::process::id());
        let mut command = command_of(self.toolchain, unit);
        command.extend(["-o".to_owned(), partial.clone()]);
        let source = unit.source.display().to_string();
        self.execute(&command, "compile", &source)?;
        let (from, to) = (self.dir.join(&partial), self.dir.join(&name));
        fs::rename(&from, &to).map_err(SupplyError::io("move", &from))
    }

    /// Links the objects to a library at `library`, an absolute path.
    pub(crate) fn link(&self, library: &Path, jobs: usize) -> Result<()> {
        let mut command = self.toolchain.link(self.has_cxx(), jobs);
        let name = library.file_name().unwrap_or_default().to_string_lossy();
        command.push(format!("-Wl,-soname,{name}"));
        command.extend(["-o".to_owned(), library.display().to_string()]);
        command.extend((0..self.recipe.units.len()).map(|index| self.name(index)));
        command.extend(self.recipe.libraries.iter().map(|word| (*word).to_owned()));
        self.execute(&command, "link", &name)
    }

    /// Returns whether any file is C++.
    pub(crate) fn has_cxx(&self) -> bool {
        self.recipe.units.iter().any(Unit::is_cxx)
    }

    /// Runs a command in the object directory; logs its output when it fails.
    fn execute(&self, command: &[String], action: &str, file: &str) -> Result<()> {
        let (program, arguments) =
            command.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        let mut compiler = child::command(Role::BuildTool, program);
        // A killed compiler leaves its temporary files where the next build finds and removes them.
        compiler.args(arguments).current_dir(&self.dir).env("TMPDIR", ".");
        let output = run(&mut compiler)?;
        if output.status.success() {
            return Ok(());
        }
        let log = self.dir.join(LOG_FILE);
        let all = format!("{}\n\n{}", command.join(" "), text(&output.stderr));
        fs::write(&log, all).map_err(SupplyError::io("write", &log))?;
        Err(SupplyError::Unavailable(format!(
            "{program} did not {action} {file}:\n{}\nfull output and command: {}; finished objects \
             are stored, and the same command continues from there",
            compiler_errors(&output),
            log.display()
        )))
    }

    /// Returns the name of a file's object.
    fn name(&self, index: usize) -> String {
        let source = &self.recipe.units[index].source;
        format!("{index:03}-{}.o", source.file_name().unwrap_or_default().to_string_lossy())
    }
}

/// Removes the objects of a finished build.
pub(crate) fn clear(dir: &Path) -> Result<()> {
    fs::remove_dir_all(dir).map_err(SupplyError::io("remove", dir))?;
    // It fails when the parent holds objects of other builds of the release.
    dir.parent().map(fs::remove_dir).map_or(Ok(()), |_removed| Ok(()))
}

/// Returns the command that compiles a file, without the object's name.
fn command_of(toolchain: &Toolchain, unit: &Unit) -> Vec<String> {
    let mut command = toolchain.compile(unit.is_cxx(), &unit.arguments);
    command.extend(["-c".to_owned(), unit.source.display().to_string()]);
    command
}

/// Returns a hash of everything that goes into the objects.
fn hash(toolchain: &Toolchain, recipe: &Recipe) -> String {
    let headers = recipe.headers.iter().flat_map(|(name, text)| [(*name).to_owned(), text.clone()]);
    let commands = recipe.units.iter().flat_map(|unit| command_of(toolchain, unit));
    let version = [toolchain.version_line.clone()].into_iter();
    digest_of(version.chain(headers).chain(commands))[..HASH_DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Returns a recipe of C files below a directory.
    fn recipe(dir: &Path, files: &[(&str, &str)]) -> Recipe {
        let mut recipe = Recipe::default();
        for (name, text) in files {
            fs::write(dir.join(name), text).unwrap();
        }
        let sources = files.iter().map(|(name, _)| dir.join(name));
        recipe.headers.push(("made/limits.h", "#define LIMIT 7\n".to_owned()));
        recipe.add(&[Path::new("include")], &[], sources);
        recipe
    }

    /// Returns the machine's compiler, or prints why the test is skipped.
    fn gcc(flags: &str) -> Option<Toolchain> {
        if Command::new("gcc").arg("--version").output().is_err() {
            println!("skipped: no gcc here (Debian: apt install gcc)");
            return None;
        }
        Some(Toolchain::find("gcc", flags, false).unwrap())
    }

    #[test]
    fn any_input_change_changes_the_object_directory() {
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

    /// Goal: objects compiled before a failure are not compiled again.
    /// Method: the second of three files is wrong, then corrected; the compiled files are recorded.
    #[test]
    fn failed_compile_keeps_finished_objects_and_quotes_the_compiler() {
        let Some(toolchain) = gcc("-O0") else { return };
        let dir = tempfile::tempdir().unwrap();
        let good = "#include <made/limits.h>\nint one(void) { return LIMIT; }\n";
        let files = [("a.c", good), ("b.c", "int two(void) { return ; oops }\n"), ("c.c", "")];
        let recipe = recipe(dir.path(), &files);
        let objects = Objects::prepare(&dir.path().join("o"), &toolchain, &recipe).unwrap();
        let mut compiled = Vec::new();
        let mut note = |path: &Path| compiled.push(path.to_owned());
        let error = objects.compile(1, &mut note).unwrap_err().to_string();
        assert!(error.starts_with("gcc did not compile /"), "{error}");
        assert!(error.contains("b.c:\n/") && error.contains("error: ") && error.contains("oops"));
        let log = fs::read_to_string(objects.dir.join(LOG_FILE)).unwrap();
        assert!(log.starts_with("gcc -Iinclude -fPIC -w -O0 -c ") && log.contains("oops"), "{log}");
        assert_eq!(objects.done(), (3, 1));
        fs::write(dir.path().join("b.c"), "int two(void) { return 2; }\n").unwrap();
        objects.compile(2, &mut note).unwrap();
        assert_eq!(compiled.len(), 3, "each file once: {compiled:?}");
        let library = dir.path().join("libx.so");
        objects.link(&library, 1).unwrap();
        crate::library::check_loadable(&library).unwrap();
        clear(&objects.dir).unwrap();
        assert!(!dir.path().join("o").exists());
    }

    #[test]
    fn undefined_symbol_fails_at_link_time() {
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
