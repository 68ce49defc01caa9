//! Tokens and the sessions that they begin.
//!
//! A browser presents the token once and gets a cookie. The session's secret derives from the
//! token, and the server stores only the hash of this secret: sessions outlast a restart, and
//! neither the hash nor a cookie reveals the token.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::time::Instant;

use crate::error::ServeError;
use crate::refusal::{BAD_ADDRESS, MANY_TOKENS, NO_SESSION, Refusal, WRONG_TOKEN};
use crate::request::Request;
use crate::response::redirect;

/// The parameter of an address that presents the token.
const PARAMETER: &str = "token";
/// Bytes of a token. Our choice: no search finds one of 2^128.
const TOKEN_BYTES: usize = 16;
/// Wrong tokens that are compared in [`PERIOD`]. Our choice: more than typing errors need.
const TRIES: usize = 5;
const PERIOD: Duration = Duration::from_secs(1);
/// How long a browser stores the session, in seconds: 30 days, our choice.
const SESSION_S: u32 = 30 * 24 * 3600;

/// A new token.
#[derive(Debug, Clone)]
pub struct Token {
    /// What a browser presents, as `?token=TEXT`: 32 hexadecimal digits.
    pub text: String,
    /// What the server stores: SHA-256 of the secret of sessions, which derives from the token.
    pub hash: [u8; 32],
}

/// Returns a new random token.
///
/// # Errors
/// When the kernel's random generator fails.
pub fn token() -> Result<Token, ServeError> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(|why| ServeError::Random(why.into()))?;
    let text = hex(&bytes);
    let hash = hash(&secret(&text));
    Ok(Token { text, hash })
}

/// Returns the secret of the sessions that a token begins.
fn secret(token: &str) -> String {
    hex(&hash(&format!("session of assay serve: {token}")))
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks tokens and sessions.
#[derive(Debug)]
pub(crate) struct Login {
    hash: [u8; 32],
    /// The cookie's name has the port: browsers share cookies among the ports of a host.
    cookie: String,
    is_encrypted: bool,
    /// When wrong tokens of the last [`PERIOD`] were presented.
    tries: Mutex<Vec<Instant>>,
}

impl Login {
    /// Returns the login of a server on a port.
    pub(crate) fn new(hash: [u8; 32], port: u16, is_encrypted: bool) -> Self {
        let cookie = format!("assay_session_{port}");
        Self { hash, cookie, is_encrypted, tries: Mutex::default() }
    }

    /// Refuses a request without session; an address with the token is redirected to a session.
    pub(crate) fn check(
        &self,
        request: &Request,
        address: &str,
        headers: &HeaderMap,
    ) -> Result<Option<Response>, Refusal> {
        if let Some(token) = request.value(PARAMETER) {
            let secret = self.compare(token)?;
            let mut response = redirect(&without_token(address)).map_err(|_why| BAD_ADDRESS)?;
            response.headers_mut().insert(SET_COOKIE, self.cookie(&secret));
            return Ok(Some(response));
        }
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.cookie).then_some(value)
        });
        pairs.any(|secret| self.is_own(secret)).then_some(None).ok_or(NO_SESSION)
    }

    fn is_own(&self, secret: &str) -> bool {
        hash(secret).ct_eq(&self.hash).into()
    }

    /// Returns the secret of the session that a token begins.
    ///
    /// Only tokens are limited: wrong tokens must not end the sessions of others.
    fn compare(&self, token: &str) -> Result<String, Refusal> {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        tries.retain(|tried| now - *tried < PERIOD);
        if tries.len() >= TRIES {
            return Err(MANY_TOKENS);
        }
        let secret = secret(token);
        if !self.is_own(&secret) {
            tries.push(now);
            return Err(WRONG_TOKEN);
        }
        Ok(secret)
    }

    fn cookie(&self, secret: &str) -> HeaderValue {
        let secure = if self.is_encrypted { "; Secure" } else { "" };
        let name = &self.cookie;
        let text = format!(
            "{name}={secret}; Path=/; Max-Age={SESSION_S}; HttpOnly; SameSite=Strict{secure}"
        );
        HeaderValue::try_from(text).expect("a name and digits are ASCII")
    }
}

/// Returns the address without its token, relative to its directory.
fn without_token(address: &str) -> String {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let page = path.rsplit('/').next().unwrap_or_default();
    let is_other = |part: &&str| part.split('=').next() != Some(PARAMETER);
    let query: Vec<&str> = query.split('&').filter(is_other).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("./{page}{mark}{}", query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_their_hash_is_that_of_the_session() {
        let [one, other] = [token().unwrap(), token().unwrap()];
        assert_ne!(one.text, other.text);
        assert_eq!((one.text.len(), hash(&secret(&one.text))), (32, one.hash));
        assert_ne!(hash(&one.text), one.hash);
    }

    #[test]
    fn address_without_token_stays_in_its_directory() {
        let cases = [
            ("/?token=1", "./"),
            ("/a/b?token=1", "./b"),
            ("/a/b/?x=1&token=1&y=%26", "./?x=1&y=%26"),
            ("//evil.example?token=1", "./evil.example"),
            ("/a:b?token", "./a:b"),
        ];
        for (address, expected) in cases {
            assert_eq!(without_token(address), expected);
        }
    }

    #[test]
    fn wrong_tokens_of_a_second_are_limited() {
        let token = token().unwrap();
        let login = Login::new(token.hash, 80, true);
        for _ in 0..TRIES {
            assert!(login.compare(&token.text).is_ok());
            assert!(login.compare("wrong").is_err());
        }
        assert!(login.compare(&token.text).is_err());
        login.tries.lock().unwrap()[0] -= PERIOD;
        assert!(login.compare(&token.text).is_ok());
    }
}
