//! Options of `assay serve`.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use miette::{IntoDiagnostic, Result, miette};
use render::site::PageHost;
use runner::Interrupt;
use serve::{Access, Options, Server, Tls, Token, token};

use super::site::Dashboard;
use crate::environment::Environment;
use crate::ui::{Ui, write_status};
use crate::{phase, signals};

/// Arguments of `assay serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay serve                                   pages for browsers of this host
  assay serve --results /srv/bench/results      another archive
  assay serve --listen 0.0.0.0:7878 --certificates chain.pem --key key.pem
  assay serve --allow-run                       pages also start, stop and resume runs
  assay serve --public-name bench.example.org   behind a reverse proxy of that name

Pages show the archive, each experiment, histories, and runs in progress. An address other than
loopback needs a token, which is printed, and encryption, or --plain-http.")]
pub(crate) struct Args {
    /// Address to listen on; port 0 takes a free port
    #[arg(long, default_value = "127.0.0.1:7878", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Host name that browsers use, where a reverse proxy is before this server; repeat for more
    #[arg(long = "public-name", value_name = "NAME", value_parser = host_name)]
    public_names: Vec<String>,
    /// PEM file of certificates, the server's first
    #[arg(long, value_name = "FILE", requires = "key")]
    certificates: Option<PathBuf>,
    /// PEM file with the key of the first certificate
    #[arg(long, value_name = "FILE", requires = "certificates")]
    key: Option<PathBuf>,
    /// Accept an address other than loopback without encryption
    #[arg(long, conflicts_with = "certificates")]
    plain_http: bool,
    #[command(flatten)]
    permission: Permission,
}

/// What browsers may do.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Permission {
    /// Let pages start, stop and resume runs; needs the token on loopback, too
    #[arg(long)]
    allow_run: bool,
    /// Make another token, and refuse the one printed earlier
    #[arg(long)]
    new_token: bool,
}

/// File of the hash of the token, in the cache directory.
const TOKEN_HASH: &str = "serve-token";

/// Serves the pages until a signal ends it.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let (mut token, mut needs_token) = (None, false);
    let is_loopback = args.listen.ip().is_loopback();
    let access = if is_loopback && args.certificates.is_none() && !args.permission.allow_run {
        Access::Loopback
    } else {
        let tls = args.certificates.clone().zip(args.key.clone());
        let tls = tls.map(|(certificates, key)| Tls { certificates, key });
        if tls.is_none() && !args.plain_http && !is_loopback {
            return Err(miette!(
                help = "give --certificates and --key, or --plain-http where a reverse proxy or a \
                        tunnel encrypts",
                "{} can be reached from other hosts: its token and its pages would not be encrypted",
                args.listen
            ));
        }
        let (hash, made) = token_hash(args, environment)?;
        token = made;
        needs_token = true;
        Access::Token { hash, tls }
    };
    let scheme = if args.certificates.is_some() { "https" } else { "http" };
    let options = Options {
        listen: args.listen,
        public_names: args.public_names.clone(),
        access,
        may_run: args.permission.allow_run,
        log: Some(write_status),
    };
    let site = Arc::new(Dashboard::new(environment.clone(), PageHost::Archive, ui.clone()));
    let server = Server::bind(options, Arc::clone(&site) as _).into_diagnostic()?;
    // Only now: a server that does not start must not replace the token.
    if let Some(Token { hash, .. }) = &token {
        store_hash(hash, environment)?;
    }
    let query = token.as_ref().map_or_else(String::new, |token| format!("?token={}", token.text));
    ui.secret(&format!("{scheme}://{}/{query}", server.address()));
    if token.is_some() {
        ui.status("the token is printed once: its hash alone is stored. --new-token makes another");
    } else if needs_token {
        ui.status(
            "browsers need the token that was printed when it was made. --new-token makes another",
        );
    }
    if !serve::has_scripts() {
        ui.status("built without the script (npm): pages show drawings in place of charts");
    }
    ui.status(format_args!("serves {}; Ctrl-C ends it", environment.results.display()));
    ui.finish()?;
    phase::leave();
    let interrupt = Interrupt::default();
    let deferred = signals::defer(interrupt.clone(), signals::ENDS_RUN);
    let served = server.run(&|| interrupt.level() > 0);
    site.launcher.close();
    served.into_diagnostic()?;
    drop(deferred);
    Ok(ExitCode::SUCCESS)
}

/// Returns the hash of the token, and the token itself if it is new.
fn token_hash(args: &Args, environment: &Environment) -> Result<([u8; 32], Option<Token>)> {
    let path = environment.cache_dir.as_ref().map(|dir| dir.join(TOKEN_HASH));
    let path = path.filter(|_| !args.permission.new_token);
    let stored = path.and_then(|path| fs::read(path).ok());
    if let Some(hash) = stored.and_then(|bytes| bytes.try_into().ok()) {
        return Ok((hash, None));
    }
    let made = token().into_diagnostic()?;
    Ok((made.hash, Some(made)))
}

/// Stores the hash of a token, where there is a cache directory.
fn store_hash(hash: &[u8; 32], environment: &Environment) -> Result<()> {
    let Some(dir) = &environment.cache_dir else { return Ok(()) };
    let path = dir.join(TOKEN_HASH);
    let stored = fs::create_dir_all(dir).and_then(|()| fs::write(&path, hash));
    stored.map_err(|error| miette!("cannot write {}: {error}", path.display()))
}

/// Checks a host name: what no browser sends would never match.
fn host_name(text: &str) -> std::result::Result<String, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    let is_name = text.starts_with(|c: char| c != '.') && text.chars().all(is_part);
    let why = "write a name as browsers send it, such as bench.example.org";
    is_name.then(|| text.to_owned()).ok_or_else(|| why.to_owned())
}
