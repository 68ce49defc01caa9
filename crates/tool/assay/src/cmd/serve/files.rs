//! `assay site`: the archive as files for any web server.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use miette::{Result, miette};
use model::units::many;
use render::site::PageHost;
use serve::{ASSETS, Answer, Request, Site as _};

use super::site::Dashboard;
use crate::diagnostic::IntoReport as _;
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

/// The file that marks a directory of this command: no other file is written over or removed.
const MARK: &str = ".assay-site";
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
    write(&dir.join(MARK), b"")?;
    for asset in ASSETS.iter().filter(|asset| !asset.bytes.is_empty()) {
        write(&dir.join("assets").join(asset.name), asset.bytes)?;
    }
    let site = Dashboard::new(environment.clone(), PageHost::Files, ui.clone());
    let known = copy(&site, dir, ui)?;
    remove_others(dir, &known)?;
    let pages = known.iter().filter(|address| is_page(address)).count();
    ui.print(format_args!("{} in {}", many(pages, "page"), dir.display()));
    Ok(ExitCode::SUCCESS)
}

/// Writes every page and file that addresses of pages reach; returns their addresses.
fn copy(site: &Dashboard, dir: &Path, ui: &Ui) -> Result<BTreeSet<String>> {
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
        write(&dir.join(path), &bytes)?;
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

/// Removes the directories of experiments that no page names any more.
fn remove_others(dir: &Path, known: &BTreeSet<String>) -> Result<()> {
    let decoded = |address: &String| Request::parse(&format!("/{address}"), false);
    let own = known
        .iter()
        .filter_map(decoded)
        .map(|one| dir.join(one.path.iter().take(3).collect::<PathBuf>()));
    let own: BTreeSet<PathBuf> = own.collect();
    let below =
        |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|one| one.path());
    for experiment in below(dir.join("e")).flat_map(below) {
        if !own.contains(&experiment) {
            fs::remove_dir_all(&experiment).into_report()?;
        }
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = made.and_then(|()| fs::write(path, bytes));
    written.map_err(|error| miette!("cannot write {}: {error}", path.display()))
}
