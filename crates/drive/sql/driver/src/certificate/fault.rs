//! What is wrong with a server's certificate, in one sentence with the remedy.

use std::io;
use std::sync::Arc;

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, OtherError};
use x509_parser::certificate::X509Certificate;
use x509_parser::time::ASN1Time;

use super::weakness::weakness;

/// Keys that a certificate may have here.
const KEYS: &str = "RSA of 2048 bits or more, P-256, P-384 or Ed25519";
/// Parameters of an address that name the roots.
const ROOTS: &str = "sslrootcert=/FILE, ssl-ca=/FILE";

/// A defect of a certificate, or of what trusts it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CertificateFault {
    #[error(
        "the server's certificate expired on {0}: renew it on the server, or set this host's clock"
    )]
    Expired(String),
    #[error(
        "the server's certificate is not valid before {0}: set the clock of this host, or of the \
         host that made the certificate"
    )]
    NotYetValid(String),
    #[error(
        "the server's certificate is for {names}, not for `{host}`: write a host of the \
         certificate in the dsn, or give the server a certificate with {host} in the \
         subjectAltName"
    )]
    OtherHost { host: String, names: String },
    #[error(
        "the server's certificate names no host ({subject}): pin the certificate by giving it as \
         the root ({ROOTS}), verify only the issuer (sslmode=verify-ca, ssl-mode=VERIFY_CA), or \
         give the server a certificate with `{host}` in the subjectAltName"
    )]
    NoHost { host: String, subject: String },
    #[error(
        "no certificate in {file} has the key that signed the server's certificate, which \
         `{issuer}` issued: give the root certificate of `{issuer}`, or the server's certificate \
         itself, as the root ({ROOTS})"
    )]
    UnknownIssuer { issuer: String, file: String },
    #[error(
        "the server's certificate is too weak, because it has {0}: give the server a \
         certificate with {KEYS}"
    )]
    Weak(String),
    #[error(
        "Assay does not support the algorithm of the key or of the signature of the server's \
         certificate: give the server a certificate with {KEYS}, signed with SHA-256 or longer"
    )]
    Algorithm,
    #[error(
        "the server's certificate is not for servers: give the server a certificate with \
         serverAuth in the extendedKeyUsage, or without extendedKeyUsage"
    )]
    Purpose,
    #[error(
        "the server's certificate cannot be read as X.509: give the server a certificate of \
         X.509 version 3, such as `openssl req -x509` makes"
    )]
    Unreadable,
    #[error(
        "the chain of the server's certificate breaks a rule ({0}): a certificate of the chain \
         may not sign others, excludes the server's certificate, or has a critical extension \
         that Assay does not know; issue the server's certificate directly by the root"
    )]
    Chain(String),
}

impl From<CertificateFault> for Error {
    fn from(fault: CertificateFault) -> Self {
        Self::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(fault))))
    }
}

/// Describes an error of the verification of a chain.
///
/// `certificates` are those of the server, the leaf first, then those of the file of roots.
#[expect(clippy::wildcard_enum_match_arm, reason = "an enum of others that grows")]
pub(super) fn of_chain(
    error: &Error,
    file: String,
    certificates: &[X509Certificate<'_>],
) -> CertificateFault {
    use CertificateError as E;
    let Error::InvalidCertificate(error) = error else {
        return CertificateFault::Chain(error.to_string());
    };
    let weakness = || certificates.iter().find_map(weakness);
    match error {
        E::ExpiredContext { not_after, .. } => CertificateFault::Expired(date(*not_after)),
        E::NotValidYetContext { not_before, .. } => {
            CertificateFault::NotYetValid(date(*not_before))
        }
        E::BadSignature | E::UnknownIssuer => match (weakness(), certificates.first()) {
            (Some(weakness), _) => CertificateFault::Weak(weakness),
            (None, Some(leaf)) => unknown_issuer(leaf, file),
            (None, None) => CertificateFault::Unreadable,
        },
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => CertificateFault::Purpose,
        E::BadEncoding => CertificateFault::Unreadable,
        E::UnsupportedSignatureAlgorithmContext { .. }
        | E::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            weakness().map_or(CertificateFault::Algorithm, CertificateFault::Weak)
        }
        E::Other(OtherError(cause)) => CertificateFault::Chain(cause.to_string()),
        other => CertificateFault::Chain(other.to_string()),
    }
}

/// Returns the date and the time of day as certificates have them.
fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    ASN1Time::from_timestamp(seconds).map(|time| time.to_string()).unwrap_or_default()
}

/// Describes a certificate that no root of the file has signed.
pub(super) fn unknown_issuer(leaf: &X509Certificate<'_>, file: String) -> CertificateFault {
    CertificateFault::UnknownIssuer { issuer: leaf.issuer().to_string(), file }
}

/// Returns a failure of TLS as text with the remedy.
pub(crate) fn text_of(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
    match cause {
        Some(Error::InvalidCertificate(CertificateError::Other(OtherError(fault)))) => {
            fault.to_string()
        }
        Some(Error::AlertReceived(alert)) => of_alert(*alert),
        Some(Error::PeerIncompatible(_)) => of_alert(AlertDescription::ProtocolVersion),
        Some(Error::InvalidMessage(_)) => {
            "the program that answers does not speak TLS: check the port".to_owned()
        }
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the server closed the connection during the handshake: see the log of the server"
                .to_owned()
        }
        Some(_) | None => error.to_string(),
    }
}

/// Describes an alert of the server.
#[expect(clippy::wildcard_enum_match_arm, reason = "an enum of others that grows")]
fn of_alert(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::ProtocolVersion => {
            "the server and Assay have no version of TLS in common: switch TLS 1.2 or 1.3 on at \
             the server"
                .to_owned()
        }
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => format!(
            "the server and Assay have no version of TLS, cipher or kind of key in common: \
             switch TLS 1.2 or 1.3 on at the server, and give the server a certificate with \
             {KEYS}"
        ),
        AlertDescription::CertificateRequired
        | AlertDescription::UnknownCA
        | AlertDescription::BadCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateRevoked
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::AccessDenied => {
            "the server requires a client certificate that it accepts: give such a certificate \
             in the dsn, or permit another way to log in on the server"
                .to_owned()
        }
        other => format!("the server ends the handshake by the alert {other:?}"),
    }
}
