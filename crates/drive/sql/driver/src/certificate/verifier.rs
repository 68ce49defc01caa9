//! Verifiers of a server's certificate.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use model::server::SYSTEM_ROOTS;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, SignatureVerificationAlgorithm, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, ProtocolVersion, RootCertStore, SignatureScheme};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::ParsedExtension;
use x509_parser::prelude::X509Version;

use super::fault::{CertificateFault, of_chain, unknown_issuer};
use super::host_name::{self, Trust};
use super::signature::{parse, verify};
use super::weakness::weakness;
use crate::roots;

/// A note on how the certificate was accepted, set by the handshake.
pub(crate) type Note = Arc<OnceLock<&'static str>>;

/// What is trusted: the certificates of a file, or those of this machine.
#[derive(Debug)]
pub(crate) struct Roots {
    file: PathBuf,
    certificates: Vec<CertificateDer<'static>>,
    anchors: RootCertStore,
}

impl Roots {
    /// Reads the roots of a PEM file, or those of this machine.
    ///
    /// # Errors
    /// When the file cannot be read, or has no certificate.
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        let certificates = roots::trusted(file)?;
        let mut anchors = RootCertStore::empty();
        // One that WebPKI cannot read, or that is no authority, may still be the server's own.
        let may_be_above =
            |root: &&CertificateDer<'_>| readable(root).is_some_and(|it| is_above(&it));
        anchors.add_parsable_certificates(certificates.iter().filter(may_be_above).cloned());
        Ok(Self { file: file.to_owned(), certificates, anchors })
    }

    /// Returns the file of the roots, as an error names it.
    fn file(&self) -> String {
        match self.file.to_str() {
            Some(SYSTEM_ROOTS) => "the list of this machine".to_owned(),
            _ => self.file.display().to_string(),
        }
    }

    /// Checks that a certificate is one of the roots, or leads to one.
    fn verify_trust(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Result<Trust, Error> {
        let leaf = parse(certificate)?;
        let is_pinned = self.certificates.iter().any(|root| root == certificate);
        let above: Vec<_> =
            intermediates.iter().chain(&self.certificates).filter_map(readable).collect();
        let is_constrained = above.iter().any(has_name_constraints);
        if is_pinned {
            check_leaf(&leaf, now)?;
        } else if leaf.version() == X509Version::V3 && !leaf.is_ca() {
            let parsed = ParsedCertificate::try_from(certificate);
            let verified = parsed.and_then(|parsed| {
                verify_server_cert_signed_by_trust_anchor(
                    &parsed,
                    &self.anchors,
                    intermediates,
                    now,
                    algorithms,
                )
            });
            let all: Vec<_> = std::iter::once(leaf).chain(above).collect();
            verified.map_err(|error| of_chain(&error, self.file(), &all))?;
        } else {
            check_leaf(&leaf, now)?;
            self.verify_direct_issue(&leaf, now)?;
        }
        Ok(Trust { is_pinned, is_constrained })
    }

    /// Checks that a root of the file has signed a certificate whose form WebPKI refuses.
    ///
    /// As OpenSSL does: one of version 1, which `openssl x509 -req` makes by default, or marked as
    /// an authority, which `openssl req -x509` does by default.
    fn verify_direct_issue(
        &self,
        leaf: &X509Certificate<'_>,
        now: UnixTime,
    ) -> Result<(), CertificateFault> {
        if let Some(weakness) = weakness(leaf) {
            return Err(CertificateFault::Weak(weakness));
        }
        let roots: Vec<_> = self.certificates.iter().filter_map(readable).collect();
        let has_signed = |root: &&X509Certificate<'_>| {
            root.subject().as_raw() == leaf.issuer().as_raw()
                && may_sign(root)
                && leaf.verify_signature(Some(root.public_key())).is_ok()
        };
        let Some(signer) = roots.iter().find(has_signed) else {
            return Err(unknown_issuer(leaf, self.file()));
        };
        check_time(signer, now)
    }
}

fn readable<'c>(certificate: &'c CertificateDer<'_>) -> Option<X509Certificate<'c>> {
    parse(certificate).ok()
}

/// Returns whether a certificate of the file may stand above others; version 1 has no marks.
fn is_above(certificate: &X509Certificate<'_>) -> bool {
    certificate.version() == X509Version::V1 || certificate.is_ca()
}

fn has_name_constraints(certificate: &X509Certificate<'_>) -> bool {
    !matches!(certificate.name_constraints(), Ok(None))
}

/// Returns whether a root may sign other certificates, without limits on their names.
///
/// Version 1 has no marks: the user's file is what makes it a root.
fn may_sign(root: &X509Certificate<'_>) -> bool {
    let may_certify = |usage: Option<bool>| usage.unwrap_or(true);
    let usage = root.key_usage().map(|it| it.map(|usage| usage.value.key_cert_sign()));
    root.version() == X509Version::V1
        || (root.is_ca() && usage.is_ok_and(may_certify) && !has_name_constraints(root))
}

/// Checks validity, purpose and critical extensions of a certificate.
fn check_leaf(leaf: &X509Certificate<'_>, now: UnixTime) -> Result<(), CertificateFault> {
    check_time(leaf, now)?;
    let usage = leaf.extended_key_usage().map_err(|_why| CertificateFault::Unreadable)?;
    if usage.is_some_and(|usage| !usage.value.server_auth && !usage.value.any) {
        return Err(CertificateFault::Purpose);
    }
    let is_unknown = |parsed: &ParsedExtension<'_>| {
        parsed.unsupported() || parsed.error().is_some() || parsed == &ParsedExtension::Unparsed
    };
    match leaf.extensions().iter().find(|it| it.critical && is_unknown(it.parsed_extension())) {
        Some(extension) => {
            Err(CertificateFault::Chain(format!("critical extension {}", extension.oid)))
        }
        None => Ok(()),
    }
}

fn check_time(certificate: &X509Certificate<'_>, now: UnixTime) -> Result<(), CertificateFault> {
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let validity = certificate.validity();
    if now > validity.not_after.timestamp() {
        return Err(CertificateFault::Expired(validity.not_after.to_string()));
    }
    if now < validity.not_before.timestamp() {
        return Err(CertificateFault::NotYetValid(validity.not_before.to_string()));
    }
    Ok(())
}

/// Accepts certificates, of one host or of any, that are, or are signed by, a root; without roots
/// every certificate whose owner has its key.
///
/// What WebPKI accepts is accepted, and what `psql` accepts besides it: a certificate that is
/// itself in the file, one of X.509 version 1 or marked as an authority that a root of the file
/// has signed, and a host that only the common name has.
#[derive(Debug)]
pub(crate) struct Verifier {
    pub(crate) roots: Option<Roots>,
    pub(crate) provider: Arc<CryptoProvider>,
    /// `None` where the host that the certificate is for is not checked.
    pub(crate) note: Option<Note>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(roots) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        let algorithms = self.provider.signature_verification_algorithms.all;
        let trust = roots.verify_trust(certificate, intermediates, now, algorithms)?;
        let Some(note) = &self.note else { return Ok(ServerCertVerified::assertion()) };
        if let Some(found) = host_name::verify(certificate, &parse(certificate)?, host, &trust)? {
            // A second handshake has the same.
            note.set(found).ok();
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify(ProtocolVersion::TLSv1_2, message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify(ProtocolVersion::TLSv1_3, message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
