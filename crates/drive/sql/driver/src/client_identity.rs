//! The certificate and the key that a client logs in by.

use std::io;
use std::path::Path;
use std::sync::Arc;

use model::ClientCertificate;
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use x509_parser::parse_x509_certificate;
use x509_parser::time::ASN1Time;

use crate::roots;

/// Reads a client's certificate and key, of any version of X.509, and checks that they fit.
///
/// # Errors
/// When a file cannot be used, the two do not belong together, or the certificate is not valid now.
pub(crate) fn read(
    own: &ClientCertificate,
    provider: &CryptoProvider,
) -> io::Result<Arc<dyn ResolvesClientCert>> {
    let (chain, key) = roots::client(own)?;
    let key = provider.key_provider.load_private_key(key).map_err(|why| {
        let path = own.key.display();
        io::Error::other(format!(
            "the key in {path} cannot be used ({why}): name a key of RSA, ECDSA or Ed25519"
        ))
    })?;
    let (_rest, leaf) = parse_x509_certificate(chain[0].as_ref()).map_err(|why| {
        let path = own.chain.display();
        io::Error::other(format!(
            "the certificate in {path} cannot be read ({why}): name an X.509 certificate in PEM \
             form"
        ))
    })?;
    let of_key = key.public_key();
    if of_key.is_some_and(|public| public.as_ref() != leaf.public_key().raw) {
        let (chain, key) = (own.chain.display(), own.key.display());
        return Err(io::Error::other(format!(
            "the certificate in {chain} and the key in {key} do not belong together: name the \
             certificate of this key, or the key of this certificate"
        )));
    }
    let validity = leaf.validity();
    check_validity(&own.chain, validity.not_before, validity.not_after, ASN1Time::now())?;
    Ok(Arc::new(SingleCertAndKey::from(CertifiedKey::new(chain, key))))
}

/// Checks that a certificate is valid now.
fn check_validity(path: &Path, begin: ASN1Time, end: ASN1Time, now: ASN1Time) -> io::Result<()> {
    let path = path.display();
    if now > end {
        return Err(io::Error::other(format!(
            "the client certificate in {path} expired on {end}: renew the certificate"
        )));
    }
    if now < begin {
        return Err(io::Error::other(format!(
            "the client certificate in {path} is valid from {begin}, and it is {now} on this \
             host: set the clock, or wait"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustls::crypto::ring;

    use super::*;

    /// A certificate of X.509 version 1, as `openssl x509 -req` makes it, for a hundred years.
    const VERSION_1: &str = "\
-----BEGIN CERTIFICATE-----
MIIBGzCBwwIUBL0WvKfngpKrMK8C6B4og8VpSHEwCgYIKoZIzj0EAwIwEDEOMAwG
A1UEAwwFYmVuY2gwIBcNMjYxMTI4MjIyOTI4WhgPMjEyNjExMDQyMjI5MjhaMBAx
DjAMBgNVBAMMBWJlbmNoMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAESHzWRneI
yqHJKLjmb9g5fmYU/5MLuJK0Z2OOePSdzGziUFu3jWX+pOAWZlNEazMz+mroD42F
GHlbLQv4/TY6yzAKBggqhkjOPQQDAgNHADBEAiACBAzF3FPriO5A6eZ6iLlFTRsL
dHY9OJjY665ES7aF7AIgZKRNEnctPRq3KOd75eHvQq5MSjdoJ3645Z8LqtAP7eo=
-----END CERTIFICATE-----
";
    /// Its key, and another one.
    const KEYS: [&str; 2] = [
        "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSCd4NUasvLtKQOPP
iTrSjw6xwPWdWXs8Jc80G5KaSfyhRANCAARIfNZGd4jKockouOZv2Dl+ZhT/kwu4
krRnY4549J3MbOJQW7eNZf6k4BZmU0RrMzP6augPjYUYeVstC/j9NjrL
-----END PRIVATE KEY-----
",
        "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXdSlhCD08DXhSasN
vcZPXtYI/vNyut8pBwszJtJyPmmhRANCAASWXTO5aXitaEszwJOq1G3htpKIzh8j
wftdTVDzOLHC87JVfiKyuAjTgbqdpU8ai354DYohv220bIoXJtG8pJFX
-----END PRIVATE KEY-----
",
    ];

    #[test]
    fn certificate_of_any_version_is_checked_against_its_key() {
        let dir = tempfile::tempdir().unwrap();
        let (chain, key) = (dir.path().join("cu.crt"), dir.path().join("cu.key"));
        fs::write(&chain, VERSION_1).unwrap();
        let own = ClientCertificate { chain, key };
        let with_key = |text: &str| {
            fs::write(&own.key, text).unwrap();
            read(&own, &ring::default_provider()).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(with_key(KEYS[0]), Ok(()));
        let error = with_key(KEYS[1]).unwrap_err();
        assert!(error.contains("cu.key do not belong together: name the"), "{error}");
        fs::write(&own.chain, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
            .unwrap();
        let error = with_key(KEYS[0]).unwrap_err();
        assert!(error.contains("cu.crt cannot be read"), "{error}");
    }

    #[test]
    fn certificate_out_of_its_time_is_named_with_its_file() {
        let at = |seconds| ASN1Time::from_timestamp(seconds).unwrap();
        let checked = |now| check_validity(Path::new("cu.crt"), at(100), at(200), at(now));
        assert!([100, 150, 200].into_iter().all(|now| checked(now).is_ok()));
        let text = |now| checked(now).unwrap_err().to_string();
        assert!(text(201).starts_with("the client certificate in cu.crt expired on Jan  1"));
        assert!(text(99).contains("is valid from Jan  1"), "{}", text(99));
    }
}
