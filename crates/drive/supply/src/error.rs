//! How getting a build fails, by what the user may do about it.

use std::io;
use std::path::{Path, PathBuf};

use model::Bytes;

/// Why there is no library for the build asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SupplyError {
    /// The name cannot be a build's.
    #[error("{0}")]
    BadName(String),
    /// No source has builds of this name.
    #[error("no source offers {build}: {hint}")]
    NoSource {
        /// The build asked for.
        build: String,
        /// What would be accepted.
        hint: String,
    },
    /// The release is older than the driver supports.
    #[error("{build} is too old: the oldest supported release is rocksdb@{oldest}")]
    TooOld {
        /// The build asked for.
        build: String,
        /// The oldest release that is supported.
        oldest: &'static str,
    },
    /// The version was never published.
    #[error("{build} does not exist: the nearest known release is {nearest}")]
    NoSuchVersion {
        /// The build asked for.
        build: String,
        /// The known release nearest to it, with its engine.
        nearest: String,
    },
    /// There is no Maven client to ask.
    #[error(
        "no Maven client (`{command}`) on this machine: install one (Debian: apt install maven), \
         or give your own {own}"
    )]
    NoMaven {
        /// The command that was not found.
        command: String,
        /// What the user may give instead, with the call.
        own: String,
    },
    /// The artifact repository was not reached.
    #[error(
        "{build} could not be fetched, Maven did not reach its repository ({reason}): check the \
         network and Maven's proxy settings and repeat; builds already cached keep working"
    )]
    Unreachable {
        /// The build asked for.
        build: String,
        /// What went wrong, without host names.
        reason: String,
    },
    /// Maven failed for a reason of its own.
    #[error(
        "{build} could not be fetched, Maven says: {summary}; repeat by hand: mvn {goal} \
         -Dartifact={artifact}"
    )]
    MavenFailed {
        /// The build asked for.
        build: String,
        /// The first error line, without addresses.
        summary: String,
        /// The goal that was run.
        goal: &'static str,
        /// The artifact that was asked for.
        artifact: String,
    },
    /// Nobody publishes the server for this machine.
    #[error("{build} is not published for {arch}: add your own installation with `{add}`")]
    NotForMachine {
        /// The build asked for.
        build: String,
        /// This machine's architecture.
        arch: &'static str,
        /// The call by which the user gives their own.
        add: String,
    },
    /// A package is not laid out as it was when this source was written.
    #[error("{build}: {package} has no {wanted}, it changed since Assay learned of it")]
    OtherLayout {
        /// The build asked for.
        build: String,
        /// The package.
        package: String,
        /// What was looked for.
        wanted: String,
    },
    /// A program that obtains packages is missing.
    #[error(
        "no `{command}` on this machine, which obtains {build}: install it (Debian: apt install \
         {package}), or add your own installation with `{add}`"
    )]
    NoClient {
        /// The command that was not found.
        command: &'static str,
        /// The build asked for.
        build: String,
        /// The package that brings it.
        package: &'static str,
        /// The call by which the user gives their own.
        add: String,
    },
    /// A program that obtains packages failed.
    #[error(
        "{build} could not be fetched, {command} says: {summary}; check the network and repeat; \
         builds already cached keep working"
    )]
    ClientFailed {
        /// The build asked for.
        build: String,
        /// The command.
        command: &'static str,
        /// Its words, without addresses.
        summary: String,
    },
    /// The distribution has no package of the server.
    #[error(
        "this distribution has no package {package} for {build}: add your own installation with \
         `{add}`"
    )]
    NoPackage {
        /// The build asked for.
        build: String,
        /// The package.
        package: &'static str,
        /// The call by which the user gives their own.
        add: String,
    },
    /// The distribution has another version of the server.
    #[error(
        "{build} is not what this distribution has: it has {has}, which `assay engine get \
         {nearest}` obtains; or add your own installation with `{add}`"
    )]
    OtherVersion {
        /// The build asked for.
        build: String,
        /// The version it has.
        has: String,
        /// The name of that build.
        nearest: String,
        /// The call by which the user gives their own.
        add: String,
    },
    /// The artifact has no library for this machine.
    #[error(
        "{build} has no native library `{wanted}` for this machine (it has: {found}): choose \
         another release, or give your own library with `assay engine add rocksdb PATH`"
    )]
    NoNativeLibrary {
        /// The build asked for.
        build: String,
        /// The file that was looked for.
        wanted: String,
        /// The native libraries it has.
        found: String,
    },
    /// The distribution has no such library.
    #[error(
        "no {library}N among the distribution's libraries ({searched}): install it (Debian: apt \
         install {package})"
    )]
    NoDistributionLibrary {
        /// The begin of its file name.
        library: &'static str,
        /// The package that brings it.
        package: &'static str,
        /// The directories that were searched.
        searched: String,
    },
    /// The distribution has no such server installed.
    #[error(
        "no {program} of {build} is installed (searched: {searched}): install it (Debian: apt \
         install {package})"
    )]
    NoDistributionServer {
        /// The build asked for.
        build: String,
        /// The program, from the root of an installation.
        program: &'static str,
        /// The package that brings it.
        package: &'static str,
        /// The directories that were searched.
        searched: String,
    },
    /// No crate carries the release's source.
    #[error("no crate carries the source of {build}: {hint}")]
    NotCompilable {
        /// The build asked for.
        build: String,
        /// What could be compiled.
        hint: String,
    },
    /// There is no cargo to obtain the source.
    #[error(
        "no `cargo` on this machine, which obtains the source of engines: install it (Debian: apt install cargo)"
    )]
    NoCargo,
    /// Cargo could not obtain the source.
    #[error(
        "the source of {build} ({package}) could not be obtained, cargo says: {summary}; check \
         the network and cargo's settings and repeat; what was obtained before keeps working"
    )]
    NoCrate {
        /// The build asked for.
        build: String,
        /// The crate and its version.
        package: String,
        /// Cargo's words, without addresses.
        summary: String,
    },
    /// The compiler or its flags cannot be what was meant.
    #[error("{0}")]
    BadFlags(String),
    /// There is no such compiler.
    #[error("no compiler `{command}` on this machine: install it (Debian: apt install {command})")]
    NoCompiler {
        /// The command that was not found.
        command: String,
    },
    /// The compiler does not take the flags.
    #[error("{compiler} does not take the flags {flags}:\n{words}")]
    FlagsRefused {
        /// The compiler.
        compiler: String,
        /// The flags.
        flags: String,
        /// Its own words.
        words: String,
    },
    /// A file was not compiled, or the objects not linked.
    #[error(
        "{program} did not {action} {file}:\n{words}\nall of it, with the command: {}; what \
         is compiled is kept, the same call goes on from there", log.display()
    )]
    CompileFailed {
        /// What was tried: `compile` or `link`.
        action: &'static str,
        /// The file, or the library.
        file: String,
        /// The compiler.
        program: String,
        /// Its own words, from its first error on.
        words: String,
        /// Where all of them are.
        log: PathBuf,
    },
    /// The disk has too little room to compile on.
    #[error(
        "{} has {free} free, compiling needs {needed}: make room, or choose another cache with \
         --cache DIR", dir.display()
    )]
    NoRoom {
        /// The directory.
        dir: PathBuf,
        /// Bytes needed.
        needed: Bytes,
        /// Bytes free.
        free: Bytes,
    },
    /// The file is no library this machine can load.
    #[error("{} cannot be loaded here: {reason}", path.display())]
    WrongLibrary {
        /// The file.
        path: PathBuf,
        /// Why it cannot be loaded.
        reason: String,
    },
    /// There is no C compiler for a shim.
    #[error(
        "no C compiler (`{command}`) on this machine: install one (Debian: apt install gcc \
         libc6-dev), or name yours in the variable CC"
    )]
    NoShimCompiler {
        /// The command that was not found.
        command: String,
    },
    /// The headers that a shim is compiled against are not found.
    #[error("no header `{header}` for {build} (searched: {searched}): {remedy}")]
    NoHeader {
        /// The build.
        build: String,
        /// The header.
        header: String,
        /// The directories that were searched.
        searched: String,
        /// How to give it.
        remedy: String,
    },
    /// The compiler refuses the shim.
    #[error(
        "the shim of {engine} does not compile against the headers in {}, the compiler says:\n\
         {words}", headers.display()
    )]
    NotCompiled {
        /// The engine.
        engine: String,
        /// The directory of the headers.
        headers: PathBuf,
        /// What the compiler said.
        words: String,
    },
    /// The library is another build than its headers are of.
    #[error(
        "the headers in {} do not fit this library: {reason}; give the headers of this very build \
         with --headers DIR", headers.display()
    )]
    Misfit {
        /// The directory of the headers.
        headers: PathBuf,
        /// What showed it.
        reason: String,
    },
    /// The program of a server does not run on this machine.
    #[error("{} does not run here: {reason}", program.display())]
    DoesNotRun {
        /// The program.
        program: PathBuf,
        /// Why, and what would help.
        reason: String,
    },
    /// A server is added as a directory.
    #[error(
        "{} is no directory: give the one the server is installed in, as in {directory}",
        path.display()
    )]
    NotInstallation {
        /// What was given.
        path: PathBuf,
        /// The directory that may have been meant.
        directory: String,
    },
    /// There is no server's program in the directory.
    #[error("no program of {engine} in {} (searched: {searched}){other}", root.display())]
    NoProgram {
        /// The engine.
        engine: &'static str,
        /// The directory.
        root: PathBuf,
        /// The places that were searched.
        searched: String,
        /// The server that it has instead, in words.
        other: String,
    },
    /// Only its owner may run the program, and servers run as nobody special.
    #[error(
        "{} is closed to other users, but a server that root starts runs as another: chmod -R \
         a+rX {}", program.display(), root.display()
    )]
    Closed {
        /// The directory of the installation.
        root: PathBuf,
        /// Its program.
        program: PathBuf,
    },
    /// The library is of another engine.
    #[error("{} is not {engine}: {reason}", path.display())]
    OtherEngine {
        /// The file.
        path: PathBuf,
        /// The engine it was said to be.
        engine: String,
        /// What it lacks.
        reason: String,
    },
    /// The library is not of that engine, or does not work.
    #[error("{build} is not kept: {reason}")]
    NotWorking {
        /// The build.
        build: String,
        /// What showed it.
        reason: String,
    },
    /// The cached build is not what was put there.
    #[error(
        "the cached {build} in {} is damaged ({reason}): run `assay engine remove {build}`, then \
         {remedy}", dir.display()
    )]
    Damaged {
        /// The build asked for.
        build: String,
        /// Its directory.
        dir: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// How to get it back.
        remedy: String,
    },
    /// Another library is already cached under this name.
    #[error(
        "{build} is cached already, from elsewhere ({origin}): choose another name, or run \
         `assay engine remove {build}` first"
    )]
    Exists {
        /// The build's name.
        build: String,
        /// Where the cached one came from.
        origin: String,
    },
    /// The build is not in the cache.
    #[error("{build} is not cached: `assay engine list` shows what is")]
    NotCached {
        /// The build asked for.
        build: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl SupplyError {
    /// Returns a function that turns a system error into "cannot `action` `path`".
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
