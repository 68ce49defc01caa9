//! Requests: the decoded path and query of an address.

use percent_encoding::percent_decode_str;

/// A name and its value in a query or a form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Its name.
    pub name: String,
    /// Its value; empty where the query has only the name.
    pub value: String,
}

impl Pair {
    /// Returns the pairs of a query or a form, in their order; `None` if a part is not text.
    pub fn parse(form: &str) -> Option<Vec<Self>> {
        let parts = form.split('&').filter(|part| !part.is_empty());
        let pair = |part: &str| {
            let part = part.replace('+', " ");
            let (name, value) = part.split_once('=').unwrap_or((&part, ""));
            Some(Self { name: decode(name)?, value: decode(value)? })
        };
        parts.map(pair).collect()
    }
}

/// A request for a page or file of the site.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// Decoded segments of the path; none is empty, `.` or `..`, or has a slash.
    pub path: Vec<String>,
    /// Whether the path ends with a slash.
    pub is_directory: bool,
    /// Decoded pairs of the query, in their order.
    pub query: Vec<Pair>,
    /// Whether pages may start and stop runs.
    pub is_open_for_runs: bool,
}

impl Request {
    /// Returns the request for an address: `/path?query`; `None` if the address is not valid.
    pub fn parse(address: &str, is_open_for_runs: bool) -> Option<Self> {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let mut segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        let is_directory = segments.pop_if(|last| last.is_empty()).is_some();
        let path = segments.into_iter().map(segment).collect::<Option<_>>()?;
        Some(Self { path, is_directory, query: Pair::parse(query)?, is_open_for_runs })
    }

    /// Returns the first value of this name in the query.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values(name).next()
    }

    /// Iterates over the values of this name in the query.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.query.iter().filter(move |pair| pair.name == name).map(|pair| pair.value.as_str())
    }

    /// Returns the relative address of the root: `../` for each directory above the page.
    ///
    /// Empty for pages of the root. An address that begins with it works behind a proxy, too.
    pub fn root(&self) -> String {
        let own = usize::from(!self.is_directory);
        "../".repeat(self.path.len().saturating_sub(own))
    }
}

/// Decodes a segment of a path; `None` if it could lead out of its directory.
fn segment(text: &str) -> Option<String> {
    let text = decode(text)?;
    let is_name = !["", ".", ".."].contains(&text.as_str());
    let is_unsafe = |c: char| matches!(c, '/' | '\\') || c.is_control();
    (is_name && !text.contains(is_unsafe)).then_some(text)
}

/// Decodes a text; `None` if it is not UTF-8, or has controls that texts do not have.
fn decode(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8().ok()?;
    let is_control = |c: char| c.is_control() && !matches!(c, '\t' | '\r' | '\n');
    (!text.contains(is_control)).then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(address: &str) -> Option<Request> {
        Request::parse(address, false)
    }

    #[test]
    fn root_is_relative_to_the_directory_of_the_page() {
        let cases = [("/", ""), ("/a", ""), ("/a/", "../"), ("/a/b", "../"), ("/a/b/", "../../")];
        for (address, root) in cases {
            assert_eq!(parse(address).unwrap().root(), root, "{address}");
        }
    }

    #[test]
    fn paths_are_decoded_and_stay_in_their_directory() {
        assert_eq!(parse("/a%20b/%C3%A9+1").unwrap().path, ["a b", "\u{e9}+1"]);
        let wrong = [
            "",
            "*",
            "a",
            "//",
            "/a//b",
            "/.",
            "/../a",
            "/%2e%2e/a",
            "/..%2fa",
            "/a%5cb",
            "/%00",
            "/%0a",
            "/%ff",
            "/a//",
        ];
        for address in wrong {
            assert_eq!(parse(address), None, "{address}");
        }
    }

    #[test]
    fn values_of_a_query_stay_in_their_order() {
        let request = parse("/?a=1&b&a=2+3%26&&c=%0D%0A%3d=?").unwrap();
        assert_eq!(request.values("a").collect::<Vec<_>>(), ["1", "2 3&"]);
        assert_eq!([request.value("b"), request.value("c")], [Some(""), Some("\r\n==?")]);
        assert_eq!((request.value("d"), request.query.len()), (None, 4));
        for query in ["/?a=%00", "/?%ff=1", "/?a=%1b"] {
            assert_eq!(parse(query), None, "{query}");
        }
    }
}
