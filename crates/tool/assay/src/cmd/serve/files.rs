//! `assay site`: the archive as files for any web server.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use miette::{Result, miette};
use model::units::many;
use render::site::PageHost;
use serve::{ASSETS, Answer, Request, Site as _};

use super::site::Dashboard;
use crate::catalog::read;
use crate::environment::Environment;
use crate::progress::counted;
use crate::ui::Ui;

/// Arguments of `assay site`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay site /var/www/bench                     all experiments, or again what changed
  assay site public --results /srv/results      another archive

The pages are those of `assay serve`, without selections. Any web server can serve the directory
under any path. Pages of experiments that the archive no longer has are removed from it.")]
pub(crate) struct SiteArgs {
    /// Directory to write: new, empty, or written by this command
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// The file that marks a directory of this command: a line for each file that it has written.
const MARK: &str = ".assay-site";
/// Most bytes of that file. Our choice: a million files with long names.
const MARK_BYTES_MAX: u64 = 256 << 20;
/// Attributes of a page that name an address.
const ATTRIBUTES: [&str; 4] = [" href=\"", " src=\"", " data-chart=\"", " data-replay=\""];

/// Writes the site.
pub(crate) fn run_site(args: &SiteArgs, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let dir = &args.dir;
    let mut entries = fs::read_dir(dir).into_iter().flatten();
    if entries.next().is_some() && !dir.join(MARK).is_file() {
        return Err(miette!(
            help = "name a new or an empty directory",
            "{} has files that `assay site` has not written",
            dir.display()
        ));
    }
    let before = read(&dir.join(MARK), MARK_BYTES_MAX).unwrap_or_default();
    let mut written = Files { dir, names: BTreeSet::new() };
    // An interrupted call leaves a directory that the next one may write to.
    written.write(Path::new(MARK), before.as_bytes())?;
    for asset in ASSETS.iter().filter(|asset| !asset.bytes.is_empty()) {
        written.write(&Path::new("assets").join(asset.name), asset.bytes)?;
    }
    let site = Dashboard::new(environment.clone(), PageHost::Files, ui.clone());
    let known = copy(&site, &mut written, ui)?;
    for name in before.lines().filter(|name| !written.names.contains(*name)) {
        written.remove(Path::new(name));
    }
    let names: Vec<&str> = written.names.iter().map(String::as_str).collect();
    let names = names.join("\n");
    written.write(Path::new(MARK), names.as_bytes())?;
    let pages = known.iter().filter(|address| is_page(address)).count();
    ui.print(format_args!("{} in {}", many(pages, "page"), dir.display()));
    Ok(ExitCode::SUCCESS)
}

/// Writes every page and file that addresses of pages reach; returns their addresses.
fn copy(site: &Dashboard, files: &mut Files<'_>, ui: &Ui) -> Result<BTreeSet<String>> {
    let mut known = BTreeSet::from([String::new()]);
    let mut left = vec![String::new()];
    let bar = counted(ui, 1, "{bar:30} {pos}/{len} files");
    while let Some(address) = left.pop() {
        let request = Request::parse(&format!("/{address}"), false);
        let Some(request) = request else { continue };
        let mut path: PathBuf = request.path.iter().collect();
        let bytes = match site.answer(&request) {
            Answer::Page(text) => {
                path.push("index.html");
                left.extend(linked(&address, &text).filter(|one| known.insert(one.clone())));
                text.into_bytes()
            }
            Answer::File(file) => file.bytes,
            Answer::Redirect(_) | Answer::NotFound(_) | Answer::Invalid(_) => {
                ui.status(format_args!("warning   {address} has no page"));
                continue;
            }
        };
        files.write(&path, &bytes)?;
        bar.set_length(known.len() as u64);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(known)
}

/// Returns the addresses that a page names below the root, without those of other sites.
fn linked<'a>(page: &'a str, text: &'a str) -> impl Iterator<Item = String> + 'a {
    let values = ATTRIBUTES.iter().flat_map(|name| text.split(name).skip(1));
    let values = values.filter_map(|rest| rest.split('"').next());
    let values = values.filter(|value| !value.contains(':') && !value.contains('?'));
    values.filter_map(|value| {
        let value = value.split('#').next().unwrap_or_default();
        let mut parts: Vec<&str> = page.split('/').collect();
        parts.pop();
        for part in value.split('/') {
            match part {
                ".." => drop(parts.pop()?),
                "." => {}
                part => parts.push(part),
            }
        }
        let address = parts.join("/");
        (!value.is_empty() && !address.starts_with("assets/")).then_some(address)
    })
}

fn is_page(address: &str) -> bool {
    address.is_empty() || address.ends_with('/')
}

/// The files of a site.
struct Files<'a> {
    dir: &'a Path,
    /// Those written so far, below the directory.
    names: BTreeSet<String>,
}

impl Files<'_> {
    /// Returns the place of a file, which no link leads to.
    fn place(&self, path: &Path) -> Result<PathBuf> {
        let mut place = self.dir.to_path_buf();
        for part in path.components() {
            let Component::Normal(part) = part else {
                return Err(miette!("{} leads out of the site", path.display()));
            };
            place.push(part);
            if fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink()) {
                let help = "remove the link: no file of a site is written through a link";
                return Err(miette!(help = help, "{} is a link", place.display()));
            }
        }
        Ok(place)
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        let place = self.place(path)?;
        let made = place.parent().map_or(Ok(()), fs::create_dir_all);
        let written = made.and_then(|()| fs::write(&place, bytes));
        written.map_err(|error| miette!("cannot write {}: {error}", place.display()))?;
        self.names.insert(path.display().to_string());
        Ok(())
    }

    /// Removes a file of an earlier call, and the directories that it leaves empty.
    fn remove(&self, path: &Path) {
        let Ok(place) = self.place(path) else { return };
        let above = place.ancestors().skip(1).take_while(|above| *above != self.dir);
        if fs::remove_file(&place).is_ok() {
            // The first that has other files ends it.
            let _emptied = above.map(fs::remove_dir).take_while(std::io::Result::is_ok).count();
        }
    }
}
