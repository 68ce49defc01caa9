//! A server of pages, and requests to it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

use crate::workspace::Workspace;

/// A server of a workspace's archive.
pub(crate) struct Server {
    child: Child,
    address: String,
    /// The header of its session; empty where it needs none.
    cookie: String,
}

/// Status, headers and body of an answer.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Server {
    pub(crate) fn start(workspace: &Workspace) -> Self {
        Self::with(workspace, &[])
    }

    /// Starts it with options; opens a session if it prints a token.
    pub(crate) fn with(workspace: &Workspace, options: &[&str]) -> Self {
        let mut command = Command::new(cargo_bin("assay"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(options);
        command.current_dir(workspace.path("")).env("XDG_CACHE_HOME", workspace.path("cache"));
        fs::create_dir_all(workspace.path("scratch")).expect("a directory");
        command.env("TMPDIR", workspace.path("scratch"));
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let mut line = String::new();
        let out = child.stdout.as_mut().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("the address");
        let (address, query) =
            line.trim().trim_start_matches("http://").split_once('/').expect("a root");
        let mut server = Self { child, address: address.to_owned(), cookie: String::new() };
        if !query.is_empty() {
            let head = server.get(&format!("/{query}")).head;
            let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
            let cookie = cookie.and_then(|cookie| cookie.split(';').next()).expect("a session");
            server.cookie = format!("Cookie: {cookie}\r\n");
        }
        server
    }

    /// Returns its address and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the identifier of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until its process ends by itself.
    pub(crate) fn wait(&mut self) {
        self.child.wait().expect("own child");
    }

    /// Sends a request without body, and returns the connection.
    pub(crate) fn open(&self, path: &str) -> TcpStream {
        self.send("GET", path, "", "")
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        let Self { address, cookie, .. } = self;
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: \
             {length}\r\n{cookie}{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answered {
        Answered::read(self.open(path))
    }

    /// Posts a body from a page of an origin; empty: from no page.
    pub(crate) fn post(&self, path: &str, origin: &str, body: &str) -> Answered {
        let origin =
            if origin.is_empty() { String::new() } else { format!("Origin: {origin}\r\n") };
        Answered::read(self.send("POST", path, &origin, body))
    }

    /// Returns a page that must be there.
    pub(crate) fn page(&self, path: &str) -> String {
        let Answered { status, head, body } = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{path}: {head}");
        body
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.page(path)).expect("JSON")
    }
}

impl Answered {
    fn read(mut stream: TcpStream) -> Self {
        let mut text = Vec::new();
        stream.read_to_end(&mut text).expect("an answer");
        let text = String::from_utf8(text).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns the directory of the only experiment of a name.
pub(crate) fn home(server: &Server, name: &str) -> String {
    let list = server.page("/");
    let at = list.find(&format!("href=\"e/{name}/")).expect("it is listed");
    let address = list[at + 6..].split('"').next().expect("an address");
    format!("/{}", address.trim_end_matches("live/"))
}
