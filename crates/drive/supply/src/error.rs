//! Errors of obtaining a build, by remedy.

use std::io;
use std::path::{Path, PathBuf};

use model::Bytes;

/// Why a requested build cannot be supplied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SupplyError {
    /// The name cannot be a build's.
    #[error("{0}")]
    BadName(String),
    /// No source has builds of this name.
    #[error("no source offers {build}: {hint}")]
    NoSource {
        /// The requested build.
        build: String,
        /// What would be accepted.
        hint: String,
    },
    /// The release is older than the driver supports.
    #[error("{build} is too old: the oldest supported release is rocksdb@{oldest}")]
    TooOld {
        /// The requested build.
        build: String,
        /// The oldest release that is supported.
        oldest: &'static str,
    },
    /// The version was never published.
    #[error("{build} does not exist: the nearest known release is {nearest}")]
    NoSuchVersion {
        /// The requested build.
        build: String,
        /// The known release nearest to it, with its engine.
        nearest: String,
    },
    /// No Maven client is installed.
    #[error(
        "no Maven client (`{command}`) on this machine: install one (Debian: apt install maven), \
         or give your own {own}"
    )]
    NoMaven {
        /// The command that was not found.
        command: String,
        /// What the user may give instead, with the command.
        own: String,
    },
    /// The artifact repository was not reached.
    #[error(
        "{build} could not be fetched, Maven did not reach its repository ({reason}): check the \
         network and Maven's proxy settings and repeat; builds already cached keep working"
    )]
    Unreachable {
        /// The requested build.
        build: String,
        /// What went wrong, without host names.
        reason: String,
    },
    /// Maven failed for a reason of its own.
    #[error(
        "{build} could not be fetched, Maven reports: {summary}; repeat by hand: mvn {goal} \
         -Dartifact={artifact}"
    )]
    MavenFailed {
        /// The requested build.
        build: String,
        /// The first error line, without addresses.
        summary: String,
        /// The goal that was run.
        goal: &'static str,
        /// The requested artifact.
        artifact: String,
    },
    /// The server is not published for this machine.
    #[error("{build} is not published for {arch}: add your own installation with `{add}`")]
    NotForMachine {
        /// The requested build.
        build: String,
        /// This machine's architecture.
        arch: &'static str,
        /// The command that adds the user's own.
        add: String,
    },
    /// A package has an unknown layout.
    #[error("{build}: {package} has no {wanted}: its layout changed since this Assay was released")]
    OtherLayout {
        /// The requested build.
        build: String,
        /// The package.
        package: String,
        /// What was expected.
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
        /// The requested build.
        build: String,
        /// The package that brings it.
        package: &'static str,
        /// The command that adds the user's own.
        add: String,
    },
    /// A program that obtains packages failed.
    #[error(
        "{build} could not be fetched, {command} reports: {summary}; check the network and repeat; \
         builds already cached keep working"
    )]
    ClientFailed {
        /// The requested build.
        build: String,
        /// The command.
        command: &'static str,
        /// Its first error, without addresses.
        summary: String,
    },
    /// The distribution has no package of the server.
    #[error(
        "this distribution has no package {package} for {build}: add your own installation with \
         `{add}`"
    )]
    NoPackage {
        /// The requested build.
        build: String,
        /// The package.
        package: &'static str,
        /// The command that adds the user's own.
        add: String,
    },
    /// The distribution has another version of the server.
    #[error(
        "{build} is not what this distribution has: it has {has}, which `assay engine get \
         {nearest}` obtains; or add your own installation with `{add}`"
    )]
    OtherVersion {
        /// The requested build.
        build: String,
        /// The version it has.
        has: String,
        /// The name of that build.
        nearest: String,
        /// The command that adds the user's own.
        add: String,
    },
    /// The artifact has no library for this machine.
    #[error(
        "{build} has no native library `{wanted}` for this machine (it has: {found}): choose \
         another release, or give your own library with `assay engine add rocksdb PATH`"
    )]
    NoNativeLibrary {
        /// The requested build.
        build: String,
        /// The file that was expected.
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
        /// The requested build.
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
        /// The requested build.
        build: String,
        /// What could be compiled.
        hint: String,
    },
    /// There is no cargo to obtain the source.
    #[error(
        "no `cargo` on this machine, which obtains the source of engines: install it (Debian: apt \
         install cargo)"
    )]
    NoCargo,
    /// Cargo could not obtain the source.
    #[error(
        "the source of {build} ({package}) could not be obtained, cargo reports: {summary}; check \
         the network and cargo's settings and repeat; crates obtained before keep working"
    )]
    NoCrate {
        /// The requested build.
        build: String,
        /// The crate and its version.
        package: String,
        /// Cargo's errors, without addresses.
        summary: String,
    },
    /// The compiler or its flags are invalid.
    #[error("{0}")]
    BadFlags(String),
    /// There is no such compiler.
    #[error("no compiler `{command}` on this machine: install it (Debian: apt install {command})")]
    NoCompiler {
        /// The command that was not found.
        command: String,
    },
    /// The compiler rejects the flags.
    #[error("{compiler} rejects the flags {flags}:\n{output}")]
    FlagsRejected {
        /// The compiler.
        compiler: String,
        /// The flags.
        flags: String,
        /// Its errors.
        output: String,
    },
    /// A file was not compiled, or the objects not linked.
    #[error(
        "{program} did not {action} {file}:\n{output}\nfull output and command: {}; finished \
         objects are stored, the same call continues from there", log.display()
    )]
    CompileFailed {
        /// `compile` or `link`.
        action: &'static str,
        /// The file, or the library.
        file: String,
        /// The compiler.
        program: String,
        /// Its errors, from the first on.
        output: String,
        /// The file with the full output.
        log: PathBuf,
    },
    /// The disk has too little free space to compile.
    #[error(
        "{} has {free} free, compiling needs {needed}: free some space, or choose another cache \
         with --cache-dir DIR", dir.display()
    )]
    NoRoom {
        /// The directory.
        dir: PathBuf,
        /// Bytes needed.
        needed: Bytes,
        /// Bytes free.
        free: Bytes,
    },
    /// This machine cannot load the file as a library.
    #[error("{} cannot be loaded here: {reason}", path.display())]
    WrongLibrary {
        /// The file.
        path: PathBuf,
        /// Why it cannot be loaded.
        reason: String,
    },
    /// No C compiler is installed for a shim.
    #[error(
        "no C compiler (`{command}`) on this machine: install one (Debian: apt install gcc \
         libc6-dev), or name yours in the variable CC"
    )]
    NoShimCompiler {
        /// The command that was not found.
        command: String,
    },
    /// The headers of a shim are not found.
    #[error("no header `{header}` for {build} (searched: {searched}): {remedy}")]
    NoHeader {
        /// The build.
        build: String,
        /// The header.
        header: String,
        /// The directories that were searched.
        searched: String,
        /// How to provide it.
        remedy: String,
    },
    /// The shim does not compile.
    #[error(
        "the shim of {engine} does not compile against the headers in {}, the compiler reports:\n\
         {output}", headers.display()
    )]
    NotCompiled {
        /// The engine.
        engine: String,
        /// The directory of the headers.
        headers: PathBuf,
        /// The compiler's errors.
        output: String,
    },
    /// The library and the headers are of different builds.
    #[error(
        "the headers in {} do not fit this library: {reason}; give the headers of this very build \
         with --headers DIR", headers.display()
    )]
    HeaderMismatch {
        /// The directory of the headers.
        headers: PathBuf,
        /// The evidence.
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
    /// A server was added by something other than its directory.
    #[error(
        "{} is no directory: give the one the server is installed in, as in {directory}",
        path.display()
    )]
    NotInstallation {
        /// What was given.
        path: PathBuf,
        /// A suggested directory.
        directory: String,
    },
    /// The directory has no server program.
    #[error("no program of {engine} in {} (searched: {searched}){other}", root.display())]
    NoProgram {
        /// The engine.
        engine: &'static str,
        /// The directory.
        root: PathBuf,
        /// The places that were searched.
        searched: String,
        /// The server found instead, as a hint.
        other: String,
    },
    /// Only the owner may run the program, but root runs servers as another user.
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
        /// The requested engine.
        engine: String,
        /// The evidence.
        reason: String,
    },
    /// The library failed its smoke test.
    #[error("{build} is not cached: {reason}")]
    NotWorking {
        /// The build.
        build: String,
        /// The evidence.
        reason: String,
    },
    /// The cached build changed since it was stored.
    #[error(
        "the cached {build} in {} is damaged ({reason}): run `assay engine remove {build}`, then \
         {remedy}", dir.display()
    )]
    Damaged {
        /// The requested build.
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
    #[error("{build} is not cached: `assay engine list` shows the cached builds")]
    NotCached {
        /// The requested build.
        build: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The failed action, a verb.
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
