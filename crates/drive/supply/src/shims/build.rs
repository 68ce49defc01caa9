//! Compiles one shim for one engine build.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Output;

use child::Role;
use shim::Recipe;

use crate::artifact::{Artifact, ShimMetadata, library_name};
use crate::compile::compiler_errors;
use crate::error::{Result, SupplyError};
use crate::library::{digest, digest_of, soname};
use crate::program::{self, text};

/// Warnings of C that mean a header does not fit the source.
const STRICT: [&str; 3] = [
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
];

/// Fact: the headers a shim was compiled against.
pub(crate) const SHIM_HEADERS: &str = "shim_headers";

/// Returns the SHA-256 of a shim's sources and probes, in hex.
pub(crate) fn fingerprint(recipe: &Recipe) -> String {
    let probes = recipe.probes.iter().flat_map(|(name, text)| [*name, *text]);
    digest_of([shim::HEADER, recipe.source, recipe.header].into_iter().chain(probes))
}

pub(crate) struct CompiledShim {
    /// Identifies the shim that was compiled, and its recipe.
    pub(crate) metadata: ShimMetadata,
    /// Facts by name: compiler, headers, probes that compiled.
    pub(crate) facts: BTreeMap<String, String>,
}

/// The compilation of a shim.
pub(crate) struct ShimBuild<'a> {
    pub(crate) engine: &'a str,
    /// Name of the build, without its engine; the shim gets it as `ASSAY_BUILD`.
    pub(crate) version: &'a str,
    /// What the driver brings.
    pub(crate) recipe: &'a Recipe,
    /// The C compiler's command.
    pub(crate) compiler: &'a str,
    /// The build's directory, with the library.
    pub(crate) dir: &'a Path,
    /// An empty scratch directory.
    pub(crate) work: &'a Path,
}

impl ShimBuild<'_> {
    /// Runs the C compiler, which may have arguments of its own: `ccache gcc`.
    fn cc(&self, arguments: &[OsString]) -> Result<Output> {
        let mut args = self.compiler.split_whitespace();
        let program = args.next().unwrap_or_default();
        let mut command = child::command(Role::BuildTool, program);
        // Its messages are parsed, so they must be untranslated.
        command
            .args(args)
            .args(arguments)
            .current_dir(self.work)
            .env("LC_ALL", "C")
            .env("TMPDIR", ".");
        program::run(&mut command, || {
            format!(
                "there is no C compiler (`{program}`) on this machine: install one (Debian: apt \
                 install gcc libc6-dev), or name your compiler in the variable CC"
            )
        })
    }

    fn source_name(&self) -> String {
        format!("assay-{}.c", self.engine)
    }

    fn write_sources(&self) -> Result<()> {
        let write = |name: &str, text: &str| {
            let path = self.work.join(name);
            fs::write(&path, text).map_err(SupplyError::io("write", &path))
        };
        write("assay_engine.h", shim::HEADER)?;
        write(&self.source_name(), self.recipe.source)?;
        let mut probes = self.recipe.probes.iter().enumerate();
        probes.try_for_each(|(index, (_, text))| write(&probe_name(index), text))
    }

    /// Returns the include arguments.
    fn includes(include: &Path) -> [OsString; 4] {
        ["-I".into(), ".".into(), "-I".into(), include.into()]
    }

    /// Returns the macros of the probes that compile.
    fn probe(&self, include: &Path) -> Result<Vec<&'static str>> {
        let mut found = Vec::new();
        for (index, (name, _)) in self.recipe.probes.iter().enumerate() {
            let mut arguments: Vec<OsString> = vec!["-fsyntax-only".into()];
            arguments.extend(STRICT.map(Into::into));
            arguments.extend(Self::includes(include));
            arguments.push(probe_name(index).into());
            if self.cc(&arguments)?.status.success() {
                found.push(*name);
            }
        }
        Ok(found)
    }

    /// Links the library's soname to its file.
    ///
    /// Otherwise the loader would find the system's build of the engine.
    fn name_library(&self) -> Result<()> {
        let file = library_name(self.engine);
        let Some(name) = soname(&self.dir.join(&file))? else { return Ok(()) };
        let link = self.dir.join(&name);
        if name == file || name.contains('/') || link.exists() {
            return Ok(());
        }
        std::os::unix::fs::symlink(&file, &link).map_err(SupplyError::io("create", &link))
    }

    /// Compiles the shim against the headers in `include`, links and installs it.
    ///
    /// # Errors
    /// When there is no compiler, it fails, or the library lacks functions of its headers.
    pub(crate) fn compile(&self, include: &Path) -> Result<CompiledShim> {
        self.write_sources()?;
        let macros = self.probe(include)?;
        self.name_library()?;
        let object = format!("assay-{}.o", self.engine);
        let mut arguments: Vec<OsString> =
            ["-O2", "-fPIC", "-c", "-o", &object].map(Into::into).into();
        arguments.push(format!("-DASSAY_BUILD=\"{}\"", self.version).into());
        arguments.extend(STRICT.map(Into::into));
        arguments.extend(macros.iter().map(|name| format!("-D{name}=1").into()));
        arguments.extend(Self::includes(include));
        arguments.push(self.source_name().into());
        let output = self.cc(&arguments)?;
        if !output.status.success() {
            return Err(SupplyError::Unavailable(format!(
                "the shim of {} does not compile against the headers in {}, the compiler reports:\n{}",
                self.engine,
                include.display(),
                compiler_errors(&output)
            )));
        }
        let shim = shim::file_name(self.engine);
        let mut arguments: Vec<OsString> = ["-shared", "-o", &shim, &object].map(Into::into).into();
        // RPATH takes precedence over LD_LIBRARY_PATH: the build's own library is loaded.
        let linked = ["-Wl,--no-undefined", "-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN", "-L"];
        arguments.extend(linked.map(Into::into));
        arguments.push(self.dir.into());
        arguments.push(format!("-l:{}", library_name(self.engine)).into());
        let output = self.cc(&arguments)?;
        if !output.status.success() {
            return Err(header_mismatch(include, &compiler_errors(&output)));
        }
        let made = self.work.join(&shim);
        let (sha256, _) = digest(&made)?;
        let place = self.dir.join(&shim);
        fs::rename(&made, &place).map_err(SupplyError::io("create", &place))?;
        let version = text(&self.cc(&["--version".into()])?.stdout);
        let version = version.lines().next().unwrap_or_default().trim().to_owned();
        let mut facts = BTreeMap::from([
            ("shim_compiler".to_owned(), version),
            (SHIM_HEADERS.to_owned(), include.display().to_string()),
        ]);
        if !macros.is_empty() {
            facts.insert("shim_probes".to_owned(), macros.join(" "));
        }
        Ok(CompiledShim {
            metadata: ShimMetadata { recipe_sha256: fingerprint(self.recipe), sha256 },
            facts,
        })
    }
}

/// Returns the error for a library and headers of different builds.
pub(crate) fn header_mismatch(headers: &Path, reason: &str) -> SupplyError {
    SupplyError::Unavailable(format!(
        "the headers in {} do not fit this library: {reason}; give the headers of this very build \
         with --headers DIR",
        headers.display()
    ))
}

fn probe_name(index: usize) -> String {
    format!("probe-{index}.c")
}

/// Returns whether the shim of a build must be recompiled.
pub(crate) fn is_stale(artifact: &Artifact, recipe: &Recipe) -> bool {
    let Some(shim) = &artifact.shim else { return true };
    let compiled =
        digest(&artifact.library.with_file_name(shim::file_name(&artifact.build.engine)));
    shim.recipe_sha256 != fingerprint(recipe)
        || compiled.map_or(true, |(sha256, _)| sha256 != shim.sha256)
}
