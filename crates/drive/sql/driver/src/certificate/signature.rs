//! Signatures of a handshake, also by certificates of X.509 version 1.

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{
    WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use rustls::{DigitallySignedStruct, Error, ProtocolVersion};
use x509_parser::certificate::X509Certificate;
use x509_parser::parse_x509_certificate;
use x509_parser::prelude::X509Version;

use super::fault::CertificateFault;
use super::weakness::weakness;

/// Parses a certificate.
pub(super) fn parse<'c>(
    certificate: &'c CertificateDer<'_>,
) -> Result<X509Certificate<'c>, CertificateFault> {
    let parsed = parse_x509_certificate(certificate.as_ref());
    parsed.map(|(_rest, parsed)| parsed).map_err(|_why| CertificateFault::Unreadable)
}

/// Checks that the server has the key of its certificate.
///
/// WebPKI reads no certificate of version 1: its key is used by itself, which is possible with the
/// signatures of TLS 1.3 only.
pub(super) fn verify(
    version: ProtocolVersion,
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
    algorithms: &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error> {
    let parsed = parse(certificate)?;
    let verified = if parsed.version() != X509Version::V3 {
        let key = SubjectPublicKeyInfoDer::from(parsed.public_key().raw);
        verify_tls13_signature_with_raw_key(message, &key, signed, algorithms)
    } else if version == ProtocolVersion::TLSv1_3 {
        verify_tls13_signature(message, certificate, signed, algorithms)
    } else {
        verify_tls12_signature(message, certificate, signed, algorithms)
    };
    verified
        .map_err(|error| weakness(&parsed).map_or(error, |it| CertificateFault::Weak(it).into()))
}
