//! Scripts and styles that the program contains.

use axum::Extension;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::refusal::{NO_FILE, Refusal};
use crate::request::Request;

/// The version of the bundle, a hash of its files.
const VERSION: &str = env!("BUNDLE_VERSION");

/// A file of the bundle.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Its name.
    pub name: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Its content; empty in a program that was built without the bundle.
    pub bytes: &'static [u8],
}

impl Asset {
    /// Returns its address relative to the root, which changes with its content.
    pub fn address(&self) -> String {
        format!("assets/{}?v={VERSION}", self.name)
    }
}

/// The files of the bundle.
pub const ASSETS: [Asset; 3] = [
    Asset {
        name: "app.js",
        media_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!(concat!(env!("OUT_DIR"), "/app.js")),
    },
    Asset {
        name: "app.css",
        media_type: "text/css; charset=utf-8",
        bytes: include_bytes!(concat!(env!("OUT_DIR"), "/app.css")),
    },
    Asset {
        name: "licences.txt",
        media_type: "text/plain; charset=utf-8",
        bytes: include_bytes!(concat!(env!("OUT_DIR"), "/licences.txt")),
    },
];

/// Returns whether the program contains the scripts.
pub fn has_scripts() -> bool {
    !ASSETS[0].bytes.is_empty()
}

/// Serves a file of the bundle.
pub(crate) async fn serve(
    Extension(request): Extension<Request>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let name = request.path.last().map(String::as_str);
    let mut files = ASSETS.into_iter().filter(|asset| !asset.bytes.is_empty());
    let asset = files.find(|asset| Some(asset.name) == name).ok_or(NO_FILE)?;
    Ok(send(asset, &request, &headers))
}

/// Returns the file, or that the stored one is current.
fn send(asset: Asset, request: &Request, headers: &HeaderMap) -> Response {
    // Content at an address with a version never changes: a browser may store it for a year.
    let validity = match request.value("v") {
        Some(VERSION) => "private, max-age=31536000, immutable",
        _ => "private, no-cache",
    };
    let tag = format!("\"{VERSION}\"");
    let mut stored = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let is_current = stored.any(|tags| tags.contains(&tag));
    let headers = [(ETAG, tag.as_str()), (CACHE_CONTROL, validity)];
    if is_current {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, [(CONTENT_TYPE, asset.media_type)], asset.bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_file_is_not_sent_again() {
        let asset = Asset { name: "a.js", media_type: "text/javascript", bytes: b"1" };
        let sent = |address: &str, stored: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(tag) = stored {
                headers.insert(IF_NONE_MATCH, tag.parse().unwrap());
            }
            let request = Request::parse(address, false).unwrap();
            let response = send(asset, &request, &headers);
            let validity = response.headers()[CACHE_CONTROL].to_str().unwrap().to_owned();
            assert!(response.headers().contains_key(ETAG));
            (response.status().as_u16(), validity)
        };
        let forever = "private, max-age=31536000, immutable".to_owned();
        assert_eq!(sent(&format!("/{}", asset.address()), None), (200, forever));
        let again = "private, no-cache".to_owned();
        assert_eq!(sent("/assets/a.js?v=1", Some("\"other\"")), (200, again.clone()));
        let tags = format!("\"x\", W/\"{VERSION}\"");
        assert_eq!(sent("/assets/a.js", Some(&tags)), (304, again));
    }
}
