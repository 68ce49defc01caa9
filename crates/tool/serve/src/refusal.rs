//! Requests that are refused, each with its page.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// The media type of pages.
pub(crate) const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// Why a request is refused: a status, and a paragraph of HTML.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal(StatusCode, &'static str);

/// The address is not valid.
pub(crate) const BAD_ADDRESS: Refusal =
    Refusal(StatusCode::BAD_REQUEST, "This address is not valid. Correct the address.");
/// No session.
pub(crate) const NO_SESSION: Refusal = Refusal(
    StatusCode::UNAUTHORIZED,
    "This server demands a token. Open the address that <code>assay serve</code> printed when the \
     token was made: it ends with <code>?token=</code> and the token. If this browser has opened \
     that address before, <a href=\"\">open this page again</a>.",
);
/// Another token.
pub(crate) const WRONG_TOKEN: Refusal = Refusal(
    StatusCode::UNAUTHORIZED,
    "This is not the token of this server. Open the address that <code>assay serve</code> printed \
     when the token was made.",
);
/// A request from a page of another site.
pub(crate) const FOREIGN_ORIGIN: Refusal = Refusal(
    StatusCode::FORBIDDEN,
    "A page of another site sent this request. Open the page of this server instead. Behind a \
     proxy, the proxy must pass on the header <code>Host</code>.",
);
/// A server that shows the archive, and starts nothing.
pub(crate) const READ_ONLY: Refusal = Refusal(
    StatusCode::FORBIDDEN,
    "This server starts and stops no runs. Start it with <code>assay serve --allow-run</code>.",
);
/// A file that the program does not contain.
pub(crate) const NO_FILE: Refusal = Refusal(StatusCode::NOT_FOUND, "This server has no such file.");
/// A body that does not arrive.
pub(crate) const SLOW_BODY: Refusal =
    Refusal(StatusCode::REQUEST_TIMEOUT, "The content of the request did not arrive in time.");
/// An address beyond the limit.
pub(crate) const LONG_ADDRESS: Refusal =
    Refusal(StatusCode::URI_TOO_LONG, "This address is longer than 16 KiB. Select less.");
/// A host name that is not the server's.
pub(crate) const FOREIGN_HOST: Refusal = Refusal(
    StatusCode::MISDIRECTED_REQUEST,
    "This server does not have the host name of this address. Use the address that <code>assay \
     serve</code> printed, or start <code>assay serve</code> with this name as a public name.",
);
/// Too many wrong tokens.
pub(crate) const MANY_TOKENS: Refusal =
    Refusal(StatusCode::TOO_MANY_REQUESTS, "Too many wrong tokens. Try again in a second.");
/// A panic of the site.
pub(crate) const FAILED: Refusal = Refusal(
    StatusCode::INTERNAL_SERVER_ERROR,
    "This page failed. The output of <code>assay serve</code> has the reason.",
);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(status, text) = self;
        let title = status.canonical_reason().unwrap_or_default();
        // The address of an icon keeps browsers from requesting one outside of the site.
        let page = format!(
            "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <meta name=\"viewport\" content=\"width=device-width\"><link rel=\"icon\" \
             href=\"data:,\"></head><body><main><h1>{title}</h1><p>{text}</p></main></body></html>"
        );
        (status, [(CONTENT_TYPE, HTML)], page).into_response()
    }
}
