//! Logins of MariaDB by a signature of Ed25519.

use std::io;

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha512};

/// Bytes of a nonce, of a seed and of half a hash.
const BYTES: usize = 32;
/// Bytes of a hash and of a signature.
const LONG_BYTES: usize = 64;
/// First byte of a salt for PBKDF2 with SHA-512.
const PBKDF2: u8 = b'P';
/// Largest exponent of the iterations, which are 1024 for 0: 8192.
///
/// Source: MariaDB's Connector/Node.js, `parsec-auth.js`.
const EXPONENT_MAX: u8 = 3;

/// Returns the response of `client_ed25519`; `None` without a nonce of 32 bytes.
///
/// The password takes the place of a seed, whatever its length.
///
/// Source: [MariaDB Docs], "Authentication Plugin - ed25519"; MariaDB's source,
/// `plugin/auth_ed25519/ref10/sign.c`.
pub(super) fn signed(password: &[u8], nonce: &[u8]) -> Option<Vec<u8>> {
    let nonce = nonce.first_chunk::<BYTES>()?;
    Some(signature(password, nonce).to_vec())
}

/// Returns the response of `parsec` to its salt: a nonce of the client, and the signature of both.
///
/// `None` when the salt is malformed. Source: [MariaDB Docs], "Authentication Plugin - PARSEC".
pub(super) fn signed_by_salt(
    password: &[u8],
    nonce: &[u8],
    salt: &[u8],
) -> io::Result<Option<Vec<u8>>> {
    let own: [u8; BYTES] = driver_sql::random()?;
    let (Some(nonce), &[PBKDF2, exponent @ 0..=EXPONENT_MAX, ref salt @ ..]) =
        (nonce.first_chunk::<BYTES>(), salt)
    else {
        return Ok(None);
    };
    let seed = derived(password, salt, 1024 << exponent);
    let signature = signature(&seed, &[&nonce[..], &own].concat());
    Ok(Some([&own[..], &signature].concat()))
}

/// Derives a seed from a password: the first block of PBKDF2 with HMAC-SHA-512.
///
/// Source: RFC 8018, section 5.2.
fn derived(password: &[u8], salt: &[u8], iterations: u32) -> [u8; BYTES] {
    let keyed = Hmac::<Sha512>::new_from_slice(password).expect("a key of any length");
    let digest = |parts: [&[u8]; 2]| {
        let mut mac = keyed.clone();
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes()
    };
    let mut last = digest([salt, &1_u32.to_be_bytes()]);
    let mut sum = last;
    for _ in 1..iterations {
        last = digest([&last, &[]]);
        sum.iter_mut().zip(&last).for_each(|(sum, byte)| *sum ^= byte);
    }
    *sum.first_chunk().expect("64 bytes have 32")
}

/// A secret scalar, with the bytes that make signatures differ.
struct Secret {
    scalar: Scalar,
    prefix: [u8; BYTES],
}

impl Secret {
    /// Source: RFC 8032, section 5.1.5.
    fn new(seed: &[u8]) -> Self {
        let hash: [u8; LONG_BYTES] = Sha512::digest(seed).into();
        let (first, last) = hash.split_at(BYTES);
        let halves = [first, last].map(|half| *half.first_chunk().expect("half of 64 bytes"));
        let scalar = Scalar::from_bytes_mod_order(clamp_integer(halves[0]));
        Self { scalar, prefix: halves[1] }
    }

    fn public(&self) -> [u8; BYTES] {
        EdwardsPoint::mul_base(&self.scalar).compress().to_bytes()
    }
}

/// Signs a message.
///
/// Source: RFC 8032, section 5.1.6.
fn signature(seed: &[u8], message: &[u8]) -> [u8; LONG_BYTES] {
    let secret = Secret::new(seed);
    let scalar = |parts: &[&[u8]]| {
        let hash: [u8; LONG_BYTES] = Sha512::digest(parts.concat()).into();
        Scalar::from_bytes_mod_order_wide(&hash)
    };
    let once = scalar(&[&secret.prefix, message]);
    let commitment = EdwardsPoint::mul_base(&once).compress().to_bytes();
    let challenge = scalar(&[&commitment, &secret.public(), message]);
    let answer = once + challenge * secret.scalar;
    let mut signature = [0; LONG_BYTES];
    signature[..BYTES].copy_from_slice(&commitment);
    signature[BYTES..].copy_from_slice(answer.as_bytes());
    signature
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(byte).collect()
    }

    /// Source: RFC 8032, section 7.1, test 2.
    #[test]
    fn signatures_are_those_of_the_standard() {
        let seed = bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
        let expected = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e\
                        15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
        assert_eq!(signature(&seed, b"\x72").to_vec(), bytes(expected));
    }

    /// Source: [MariaDB Docs], "Authentication Plugin - ed25519", the stored form of `secret`.
    #[test]
    fn a_password_has_the_key_that_mariadb_stores() {
        use base64::Engine;
        let stored = base64::engine::general_purpose::STANDARD_NO_PAD
            .decode("ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY")
            .unwrap();
        assert_eq!(Secret::new(b"secret").public().to_vec(), stored);
        assert_eq!(signed(b"secret", &[7; BYTES]).unwrap().len(), LONG_BYTES);
        assert_eq!(signed(b"secret", b"short"), None);
    }

    /// Source: the test vectors of PBKDF2-HMAC-SHA512 in the package `pbkdf2` of RustCrypto.
    #[test]
    fn keys_are_derived_as_by_the_standard() {
        let expected = "d197b1b33db0143e018b12f3d1d1479e6cdebdcc97c5c0f87f6902e072f457b5";
        assert_eq!(derived(b"password", b"salt", 4096).to_vec(), bytes(expected));
    }

    #[test]
    fn a_malformed_salt_has_no_response() {
        let nonce = [7; BYTES];
        let response = signed_by_salt(b"secret", &nonce, b"P\x00salt").unwrap();
        assert_eq!(response.unwrap().len(), BYTES + LONG_BYTES);
        for salt in [&b""[..], b"P", b"P\x04salt", b"Q\x00salt"] {
            assert_eq!(signed_by_salt(b"secret", &nonce, salt).unwrap(), None);
        }
        assert_eq!(signed_by_salt(b"secret", b"short", b"P\x00salt").unwrap(), None);
    }
}
