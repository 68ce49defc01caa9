//! What makes a certificate too weak to trust.

use x509_parser::certificate::X509Certificate;
use x509_parser::oid_registry::{
    OID_PKCS1_MD5WITHRSAENC, OID_PKCS1_SHA1WITHRSA, OID_SHA1_WITH_RSA,
};
use x509_parser::public_key::PublicKey;

/// Shortest RSA key that verifies a signature, bits.
///
/// Source: RFC 8446, appendix D.5 and C; `ring`, `signature`, `RSA_PKCS1_2048_8192_SHA256`.
const RSA_BITS_MIN: usize = 2048;

/// Returns what makes a certificate too weak; `None` when nothing does.
pub(super) fn weakness(certificate: &X509Certificate<'_>) -> Option<String> {
    let is_own = certificate.issuer().as_raw() == certificate.subject().as_raw();
    let signature = &certificate.signature_algorithm.algorithm;
    if let Ok(PublicKey::RSA(key)) = certificate.public_key().parsed()
        && key.key_size() < RSA_BITS_MIN
    {
        return Some(format!("an RSA key of {} bits", key.key_size()));
    }
    // Nothing rests on a root's signature of itself. Signatures by ECDSA with MD5 or SHA-1 are not
    // supported anyway. Source: RFC 9155 (MD5 and SHA-1 in TLS).
    let name = match signature {
        _ if is_own => return None,
        known if *known == OID_PKCS1_MD5WITHRSAENC => "MD5",
        known if [OID_PKCS1_SHA1WITHRSA, OID_SHA1_WITH_RSA].contains(known) => "SHA-1",
        _ => return None,
    };
    Some(format!("a signature by {name}"))
}
