//! Reads packages from `cargo metadata` and files from git.

use std::path::Path;
use std::process::Command;

use cargo_metadata::{DependencyKind as Kind, MetadataCommand};

use crate::error::TidyError;
use crate::repo::{Dependency, DependencyKind, File, Package, Repo};

/// Reads the repository that holds the current directory's workspace.
///
/// Files that git does not know yet are read too, so that a rule fires before the commit.
///
/// # Errors
/// When cargo, git or the file system fails.
pub fn read() -> Result<Repo, TidyError> {
    let metadata = MetadataCommand::new().no_deps().exec()?;
    let root = metadata.workspace_root.as_std_path();
    let packages = metadata.packages.iter().map(|package| package_of(package, root)).collect();
    let mut files = Vec::new();
    for path in list(root)? {
        let full = root.join(&path);
        // Deleted but not yet committed, or a link to nowhere.
        if full.is_file() {
            let content = std::fs::read(&full)
                .map_err(|source| TidyError::Read { path: full.clone(), source })?;
            files.push(File::new(&path, content));
        }
    }
    Ok(Repo::new(files, packages))
}

/// Lists the files that git tracks or would track.
fn list(root: &Path) -> Result<Vec<String>, TidyError> {
    let failed = |reason: String| TidyError::Git { root: root.to_owned(), reason };
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn package_of(package: &cargo_metadata::Package, root: &Path) -> Package {
    let relative =
        |path: &Path| path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
    let folder = package.manifest_path.parent().map(|folder| relative(folder.as_std_path()));
    Package {
        name: package.name.to_string(),
        folder: folder.unwrap_or_default(),
        dependencies: package.dependencies.iter().map(dependency_of).collect(),
        roots: package.targets.iter().map(|t| relative(t.src_path.as_std_path())).collect(),
    }
}

fn dependency_of(dependency: &cargo_metadata::Dependency) -> Dependency {
    let kind = match dependency.kind {
        Kind::Development => DependencyKind::Dev,
        Kind::Build => DependencyKind::Build,
        Kind::Normal | Kind::Unknown => DependencyKind::Normal,
    };
    Dependency { name: dependency.name.clone(), kind, is_ours: dependency.path.is_some() }
}
