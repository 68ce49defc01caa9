//! The interface of a site: what it answers to requests.

use crate::request::Request;

/// Answer to a request. Pages are HTML.
#[derive(Debug)]
pub enum Answer {
    /// A page.
    Page(String),
    /// A file: a picture, a table, an experiment.
    File(File),
    /// A relative address to go to.
    Redirect(String),
    /// A page for an address without content; status 404.
    NotFound(String),
    /// A page for a request that is not valid; status 400.
    Invalid(String),
}

/// A file that a site serves.
#[derive(Debug)]
pub struct File {
    /// Its media type, such as `text/csv; charset=utf-8`.
    pub media_type: &'static str,
    /// Its content.
    pub bytes: Vec<u8>,
    /// The name under which the browser saves it; `None`: the browser shows it.
    pub download_name: Option<String>,
}

/// An event for those who watch an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its type, by which scripts listen. `end` is reserved: it follows the last event.
    pub kind: &'static str,
    /// Its content, JSON in one line.
    pub data: String,
}

/// Events of one experiment, shared by all who watch it.
pub trait Feed: Send {
    /// Returns the state after the events so far, for a browser that comes or has lagged.
    fn snapshot(&mut self) -> Event;

    /// Returns the events since the last call.
    ///
    /// Called once a second while at least one browser watches, in a thread that may block.
    fn poll(&mut self) -> Vec<Event>;

    /// Returns whether no event will follow.
    fn is_over(&self) -> bool;
}

/// The pages, files and events of a server.
///
/// Its methods run in threads that may block. A panic becomes a page with status 500.
pub trait Site: Send + Sync {
    /// Answers GET and HEAD.
    fn answer(&self, request: &Request) -> Answer;

    /// Answers POST, with a form or a text; called only where runs are allowed.
    fn act(&self, request: &Request, body: &str) -> Answer;

    /// Returns the events of an address whose last segment is `events`.
    ///
    /// `None`: the address has no events, and [`Site::answer`] answers.
    fn feed(&self, request: &Request) -> Option<Box<dyn Feed>>;
}
