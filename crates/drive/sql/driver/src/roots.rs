//! Certificates of files: the roots that are trusted, the client's own.

use std::fmt::Display;
use std::io;
use std::path::Path;

use model::ClientCertificate;
use model::server::SYSTEM_ROOTS;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Files of the roots that a machine trusts, by distribution.
///
/// Source: Go's source, `certFiles` in `crypto/x509/root_linux.go`.
const SYSTEM_FILES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// What a file without a usable key lacks.
const NO_KEY: &str = "the file has no private key, or an encrypted private key (`openssl pkey` \
                      decrypts a key)";

/// Reads the roots of a PEM file, or those that this machine trusts.
pub(crate) fn trusted(roots: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    if roots.as_os_str() != SYSTEM_ROOTS {
        return chain(roots);
    }
    let known = SYSTEM_FILES.iter().map(Path::new).find(|path| path.is_file());
    known.map_or_else(
        || {
            Err(io::Error::other(format!(
                "this machine has no file of trusted root certificates ({}, ...): install the \
                 package ca-certificates, or name a file of root certificates in the dsn",
                SYSTEM_FILES[0]
            )))
        },
        chain,
    )
}

/// Reads a client's certificates and its key.
pub(crate) fn client(
    certificate: &ClientCertificate,
) -> io::Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
    let ClientCertificate { chain: path, key } = certificate;
    let found = chain(path)?;
    let unusable = |why: pem::Error| match matches!(why, pem::Error::NoItemsFound) {
        true => unreadable(key, &NO_KEY),
        false => unreadable(key, &why),
    };
    let key = PrivateKeyDer::from_pem_file(key).map_err(unusable)?;
    Ok((found, key))
}

/// Reads the certificates of a PEM file, at least one.
fn chain(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(path).map_err(|why| unreadable(path, &why))?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|why| unreadable(path, &why))?;
    if found.is_empty() {
        let why = "the file has no certificate in PEM form (-----BEGIN CERTIFICATE-----)";
        return Err(unreadable(path, &why));
    }
    Ok(found)
}

fn unreadable(path: &Path, why: &dyn Display) -> io::Error {
    let remedy = "give a PEM file that the account of Assay can read";
    io::Error::other(format!("{}: {why}: {remedy}", path.display()))
}
