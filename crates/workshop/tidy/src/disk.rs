//! Reads packages from `cargo metadata` and files from git.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use cargo_metadata::{MetadataCommand, Package as Described};

use crate::repo::{Dependency, File, Package, Repo};

/// The manifest of the engine index+log, which is a workspace of its own.
const INDEXLOG: &str = "indexlog/Cargo.toml";

/// Reads the repository that holds the current directory's workspace.
///
/// Files that git does not know yet are read too, so that a rule fires before the commit.
pub(crate) fn read() -> Result<Repo, Box<dyn Error>> {
    let metadata = MetadataCommand::new().no_deps().exec()?;
    let root = metadata.workspace_root.as_std_path();
    let indexlog = MetadataCommand::new().no_deps().manifest_path(root.join(INDEXLOG)).exec()?;
    let packages = metadata.packages.iter().chain(&indexlog.packages);
    let packages = packages.map(|package| package_of(package, root)).collect();
    let mut files = Vec::new();
    for path in list(root)? {
        let full = root.join(&path);
        // Deleted but not yet committed, or a link to nowhere.
        if full.is_file() {
            let content = std::fs::read(&full);
            let content = content.map_err(|error| format!("cannot read {path}: {error}"))?;
            files.push(File::new(&path, content));
        }
    }
    Ok(Repo::new(files, packages))
}

/// Lists the files that git tracks or would track.
fn list(root: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(args).current_dir(root).output()?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("git: {reason}; run tidy in a git checkout").into());
    }
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn package_of(package: &Described, root: &Path) -> Package {
    let relative =
        |path: &Path| path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
    let folder = package.manifest_path.parent().map(|folder| relative(folder.as_std_path()));
    let dependencies = package.dependencies.iter().map(|dependency| Dependency {
        name: dependency.name.clone(),
        kind: dependency.kind,
        is_ours: dependency.path.is_some(),
    });
    Package {
        name: package.name.to_string(),
        folder: folder.unwrap_or_default(),
        dependencies: dependencies.collect(),
        roots: package.targets.iter().map(|t| relative(t.src_path.as_std_path())).collect(),
    }
}
