//! What makes a certificate too weak to trust.

use x509_parser::certificate::X509Certificate;
use x509_parser::oid_registry::{
    OID_PKCS1_MD5WITHRSAENC, OID_PKCS1_SHA1WITHRSA, OID_SHA1_WITH_RSA, Oid,
};
use x509_parser::public_key::PublicKey;

/// Shortest RSA key that verifies a signature, bits.
///
/// Source: RFC 8446, appendix D.5 and C; `ring`, `signature`, `RSA_PKCS1_2048_8192_SHA256`.
const RSA_BITS_MIN: usize = 2048;

/// An algorithm whose signatures are not accepted.
struct Outdated {
    oid: Oid<'static>,
    name: &'static str,
}

/// Algorithms whose signatures can be forged; those of ECDSA are not supported anyway.
///
/// Source: RFC 9155 (MD5 and SHA-1 in TLS).
static OUTDATED: [Outdated; 3] = [
    Outdated { oid: OID_PKCS1_MD5WITHRSAENC, name: "MD5" },
    Outdated { oid: OID_PKCS1_SHA1WITHRSA, name: "SHA-1" },
    Outdated { oid: OID_SHA1_WITH_RSA, name: "SHA-1" },
];

/// Returns what makes a certificate too weak; `None` when nothing does.
pub(super) fn weakness(certificate: &X509Certificate<'_>) -> Option<String> {
    let is_own = certificate.issuer().as_raw() == certificate.subject().as_raw();
    let signature = &certificate.signature_algorithm.algorithm;
    if let Ok(PublicKey::RSA(key)) = certificate.public_key().parsed()
        && key.key_size() < RSA_BITS_MIN
    {
        return Some(format!("an RSA key of {} bits", key.key_size()));
    }
    // Nothing rests on a root's signature of itself.
    let outdated = OUTDATED.iter().find(|outdated| !is_own && outdated.oid == *signature);
    outdated.map(|outdated| format!("a signature by {}", outdated.name))
}
