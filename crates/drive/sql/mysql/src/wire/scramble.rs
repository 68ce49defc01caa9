//! Password scrambles of the authentication methods.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use num_bigint::BigUint;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::failure::Failure;

/// Bytes of a SHA-1 digest.
const SHA1_BYTES: usize = 20;
/// Sizes of keys that are used, in bits: a hostile server's may take minutes.
///
/// Source: MySQL's source, `mysql_ssl_rsa_setup.cc`, 2048; OpenSSL, `OPENSSL_RSA_MAX_MODULUS_BITS`.
const MODULUS_BITS: std::ops::RangeInclusive<u64> = 1024..=16_384;
/// Where no key encrypts the password.
const OTHER_CHANNEL: &str = "add ssl-mode=REQUIRED to the dsn, or connect by a unix socket";
/// Longest exponent of a key, in bits. Source: OpenSSL, `OPENSSL_RSA_MAX_PUBEXP_BITS`.
const EXPONENT_BITS_MAX: u64 = 64;

/// Returns the `mysql_native_password` response; empty for an empty password.
///
/// Source: MySQL's source documentation, "Native Authentication".
pub(super) fn native(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    scrambled::<Sha1>(password, |twice| [nonce, twice].concat())
}

/// Returns the `caching_sha2_password` response; empty for an empty password.
///
/// Source: MySQL's source documentation, "Caching_sha2_password information".
pub(super) fn sha2(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    scrambled::<Sha256>(password, |twice| [twice, nonce].concat())
}

/// Returns the digest of a password XOR that of its second digest mixed with a nonce.
fn scrambled<D: Digest>(password: &[u8], mix: impl FnOnce(&[u8]) -> Vec<u8>) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = D::digest(password);
    let mixed = D::digest(mix(&D::digest(&once)));
    once.iter().zip(mixed).map(|(a, b)| a ^ b).collect()
}

/// Encrypts the password with the server's RSA key.
///
/// Source: MySQL's source documentation, as above: the NUL-terminated password XOR the nonce; then
/// RFC 8017, section 7.1.1, with SHA-1.
pub(super) fn encrypted(password: &[u8], nonce: &[u8], pem: &[u8]) -> Result<Vec<u8>, Failure> {
    let key = PublicKey::parse(pem).ok_or_else(|| {
        let (least, most) = MODULUS_BITS.into_inner();
        Failure::Rejected(format!(
            "the server's public key is not an RSA key of {least} to {most} bits: {OTHER_CHANNEL}"
        ))
    })?;
    let plain: Vec<u8> =
        password.iter().chain(&[0]).zip(nonce.iter().cycle()).map(|(a, b)| a ^ b).collect();
    key.encrypt(&plain, driver_sql::random()?).ok_or_else(|| {
        let text = format!("the password is too long for the server's key: {OTHER_CHANNEL}");
        Failure::Rejected(text)
    })
}

/// A server's RSA key.
struct PublicKey {
    modulus: BigUint,
    exponent: BigUint,
    bytes: usize,
}

impl PublicKey {
    /// Parses a PEM key; `None` when it is invalid.
    ///
    /// Source: RFC 5280, section 4.1 (`SubjectPublicKeyInfo`); RFC 8017, appendix A.1.1.
    fn parse(pem: &[u8]) -> Option<Self> {
        let text = str::from_utf8(pem).ok()?;
        let body: String = text.lines().filter(|line| !line.starts_with("-----")).collect();
        let der = STANDARD.decode(body.trim_end_matches('\0').trim()).ok()?;
        let (info, _) = element(&der, 0x30)?;
        let (_algorithm, rest) = element(info, 0x30)?;
        let (bits, _) = element(rest, 0x03)?;
        let (key, _) = element(bits.get(1..)?, 0x30)?;
        let (modulus, rest) = element(key, 0x02)?;
        let (exponent, _) = element(rest, 0x02)?;
        let (modulus, exponent) = [modulus, exponent].map(BigUint::from_bytes_be).into();
        if !MODULUS_BITS.contains(&modulus.bits()) || exponent.bits() > EXPONENT_BITS_MAX {
            return None;
        }
        let bytes = usize::try_from(modulus.bits().div_ceil(8)).ok()?;
        Some(Self { modulus, exponent, bytes })
    }

    /// Encrypts with OAEP; `None` when the text is too long for the key.
    fn encrypt(&self, plain: &[u8], seed: [u8; SHA1_BYTES]) -> Option<Vec<u8>> {
        let block = self.bytes.checked_sub(SHA1_BYTES + 1)?;
        let padding = block.checked_sub(SHA1_BYTES + 1 + plain.len())?;
        let mut data = Sha1::digest(b"").to_vec();
        data.resize(SHA1_BYTES + padding, 0);
        data.push(1);
        data.extend_from_slice(plain);
        mask(&mut data, &seed);
        let mut seed = seed;
        mask(&mut seed, &data);
        let message = BigUint::from_bytes_be(&[&seed[..], &data].concat());
        let encrypted = message.modpow(&self.exponent, &self.modulus).to_bytes_be();
        let mut out = vec![0; self.bytes - encrypted.len()];
        out.extend_from_slice(&encrypted);
        Some(out)
    }
}

/// XORs `bytes` with the mask generated from `seed` (MGF1).
///
/// Source: RFC 8017, appendix B.2.1, with SHA-1.
fn mask(bytes: &mut [u8], seed: &[u8]) {
    for (number, part) in (0u32..).zip(bytes.chunks_mut(SHA1_BYTES)) {
        let mask = Sha1::new().chain_update(seed).chain_update(number.to_be_bytes()).finalize();
        part.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// Parses a DER element of that tag; returns its content and the rest.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = der.split_first_chunk::<2>()?;
    if found != tag {
        return None;
    }
    if first < 0x80 {
        return rest.split_at_checked(usize::from(first));
    }
    let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f).min(4))?;
    let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key made for this test, of 1024 bits.
    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
    MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC1B5IPwOQnpMfWphicya2Iz13J\n\
    9vmh5Gi7DUiUUvZUmZs1Do3AImlAjZIv6NnNxKqwigRtNJHTalDNzfSG8FrrEpKN\n\
    Lm8iYanXUdgeVl3f/Luy3ykjvEAv4pAbNH3VlQlCWSp1Q/8ratiW403OOMmNz35s\n\
    mB6v/i5cu4ub86zcMwIDAQAB\n\
    -----END PUBLIC KEY-----\n";
    const PRIVATE: &str = "7ff1d4d29b82e55df9fb8432db055347e13fa9518bc756f68a556e199eb508bff3c940fb007391ae\
        1520e009937e71e42d97ae5f3c8b603fc0d26420d20a2846d1b993d523c6a9ff67f5ac5d1256a2a1\
        b1dd05402ba5758d27f79a0081d1fc6f9e0712133520e1026449f668eaeb20978c2ad02fc86155d8\
        416c5302a4017761";

    #[test]
    fn digests_are_those_of_the_protocol() {
        let hex = |bytes: Vec<u8>| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let nonce: Vec<u8> = (1..=20).collect();
        assert_eq!(hex(native(b"secret", &nonce)), "b32bb3a583e1340c0a1108d58b1be49781ad8c2f");
        assert_eq!(
            hex(sha2(b"secret", &nonce)),
            "746ebe205d56a0707acb3e796e834e0dd7b1d61743b26bd5202c7a623230c7c9"
        );
        assert!(native(b"", &nonce).is_empty() && sha2(b"", &nonce).is_empty());
    }

    /// Goal: the private key and the nonce decrypt the password.
    /// Method: the steps of RFC 8017, section 7.1.2, in reverse.
    #[test]
    fn encrypted_password_decrypts_with_the_private_key() {
        let nonce = b"12345678abcdefghijkl";
        let encrypted = encrypted(b"open sesame", nonce, PUBLIC.as_bytes()).unwrap();
        assert_eq!(encrypted.len(), 128);
        let key = PublicKey::parse(PUBLIC.as_bytes()).unwrap();
        let private = BigUint::parse_bytes(PRIVATE.as_bytes(), 16).unwrap();
        let number = BigUint::from_bytes_be(&encrypted).modpow(&private, &key.modulus);
        let digits = number.to_bytes_be();
        // A number has no leading zeros, and the encoded message begins with at least one.
        let mut plain = vec![0; encrypted.len() - digits.len()];
        plain.extend(digits);
        let (seed, data) = plain[1..].split_at(SHA1_BYTES);
        let (mut seed, mut data) = (seed.to_vec(), data.to_vec());
        mask(&mut seed, &data);
        mask(&mut data, &seed);
        assert_eq!(data[..SHA1_BYTES], *Sha1::digest(b""));
        let start = data.iter().skip(SHA1_BYTES).position(|byte| *byte == 1).unwrap();
        let password: Vec<u8> =
            data[SHA1_BYTES + start + 1..].iter().zip(nonce).map(|(a, b)| a ^ b).collect();
        assert_eq!(password, b"open sesame\0");
    }

    /// Returns a key of so many bits as PEM, and its exponent.
    fn key(modulus_bits: u64, exponent_bits: u64) -> String {
        let element = |tag: u8, content: &[u8]| {
            let length = u32::try_from(content.len()).unwrap().to_be_bytes();
            [&[tag, 0x84], &length[..], content].concat()
        };
        // Both are odd.
        let number = |bits: u64| {
            let number = (BigUint::from(1_u8) << (bits - 1)) + BigUint::from(1_u8);
            element(0x02, &[&[0], &number.to_bytes_be()[..]].concat())
        };
        let key = element(0x30, &[number(modulus_bits), number(exponent_bits)].concat());
        let bits = element(0x03, &[&[0], &key[..]].concat());
        let info = element(0x30, &[element(0x30, &[]), bits].concat());
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(info))
    }

    /// Goal: no key of a hostile server takes minutes, and none panics.
    #[test]
    fn a_key_is_used_within_limits_of_modulus_and_exponent() {
        let use_key = |modulus, exponent| {
            let pem = key(modulus, exponent);
            super::encrypted(b"x", b"12345678901234567890", pem.as_bytes())
        };
        assert_eq!(use_key(1024, 17).unwrap().len(), 128);
        assert_eq!(use_key(2048, 64).unwrap().len(), 256);
        for (modulus, exponent) in [(2, 2), (1023, 17), (16_385, 17), (1_000_000, 17), (2048, 65)] {
            let error = format!("{:?}", use_key(modulus, exponent).unwrap_err());
            assert!(error.contains("not an RSA key of 1024 to 16384 bits"), "{error}");
        }
    }

    #[test]
    fn invalid_key_is_an_error() {
        for pem in ["", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "\u{ff}"] {
            assert!(encrypted(b"x", b"12345678901234567890", pem.as_bytes()).is_err());
        }
        let long = vec![b'x'; 200];
        assert!(encrypted(&long, b"1", PUBLIC.as_bytes()).is_err());
    }
}
