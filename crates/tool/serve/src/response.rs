//! Responses: a site's answers, and the headers that each response has.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{self, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::refusal::HTML;
use crate::site::{Answer, File};

/// What a browser may load: scripts, styles and pictures of this server, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      data:; connect-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// Headers of each response.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Adds the headers of each response. What does not state how long it is valid is not stored.
pub(crate) async fn complete(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Returns the response for an answer of the site.
///
/// # Panics
/// When a media type or an address has characters that a header cannot have.
pub(crate) fn respond(answer: Answer) -> Response {
    let page = |status, page| (status, [(CONTENT_TYPE, HTML)], page).into_response();
    match answer {
        Answer::Page(text) => page(StatusCode::OK, text),
        Answer::NotFound(text) => page(StatusCode::NOT_FOUND, text),
        Answer::Invalid(text) => page(StatusCode::BAD_REQUEST, text),
        Answer::File(File { media_type, bytes, download_name }) => {
            let mut response = ([(CONTENT_TYPE, media_type)], bytes).into_response();
            if let Some(name) = download_name {
                let value = format!("attachment; filename=\"{}\"", plain(&name));
                let value = HeaderValue::try_from(value).expect("the name is plain");
                response.headers_mut().insert(CONTENT_DISPOSITION, value);
            }
            response
        }
        Answer::Redirect(address) => redirect(&address).expect("a site's addresses are encoded"),
    }
}

/// Returns a response that leads to a relative address; an empty one is this directory.
pub(crate) fn redirect(address: &str) -> http::Result<Response> {
    let address = if address.is_empty() { "./" } else { address };
    let response = Response::builder().status(StatusCode::SEE_OTHER).header(LOCATION, address);
    response.body(Body::empty())
}

/// Returns a name with an underscore for each character that a header may not have in quotes.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}
