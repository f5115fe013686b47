use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use skillgate_core::Digest;
use std::fmt;
use std::str::FromStr;

/// What a signature is over, besides the digest: so that a signature for something else never fits.
const CONTEXT: &[u8] = b"skillgate pack manifest v1\0";

const PUBLIC_PREFIX: &str = "skillgate-public:";
const SECRET_PREFIX: &str = "skillgate-secret:";

/// Why a text is no key.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It has not the form of a key.
    #[error("this is no {kind} key: `{prefix}` and 64 hexadecimal digits are wanted")]
    Form {
        /// `public` or `secret`.
        kind: &'static str,
        /// How it begins.
        prefix: &'static str,
    },
    /// A secret key was given where a public one is wanted.
    #[error("this is a secret key where a public one is wanted: give nobody this text")]
    Secret,
    /// The number is no point of the curve, or one under which anything is signed.
    #[error("this public key is no usable one")]
    Weak,
    /// The system gave no randomness.
    #[error("the system gave no random bytes: {0}")]
    Random(String),
}

/// An ed25519 key that verifies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// An ed25519 key that signs. It is never printed by `Debug`.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

/// A signature over the manifest of a pack, with the key it is said to be of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The key.
    pub key: PublicKey,
    /// The 64 bytes of the signature, in hexadecimal.
    pub signature: String,
}

/// Why a signature does not hold.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureFault {
    /// It is no signature of this key over this pack.
    #[error("the signature of key {0} does not fit this pack")]
    Wrong(PublicKey),
}

impl PublicKey {
    /// The key's 32 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }
}

impl SecretKey {
    /// A new key.
    ///
    /// # Errors
    /// [`KeyError::Random`].
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| KeyError::Random(error.to_string()))?;
        Ok(Self(SigningKey::from_bytes(&bytes)))
    }

    /// The key that verifies what this one signs.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The text that is kept in a key file.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{SECRET_PREFIX}{}", hex(self.0.as_bytes()))
    }

    /// Signs the manifest with this digest.
    #[must_use]
    pub fn sign(&self, manifest: Digest) -> Signature {
        Signature { key: self.public(), signature: hex(&self.0.sign(&message(manifest)).to_bytes()) }
    }
}

impl Signature {
    /// Checks the signature over the manifest with this digest.
    ///
    /// Malleable signatures and weak keys are refused (`verify_strict`), so that one pack and key have one signature.
    ///
    /// # Errors
    /// A [`SignatureFault`].
    pub fn verify(&self, manifest: Digest) -> Result<(), SignatureFault> {
        let wrong = || SignatureFault::Wrong(self.key);
        let bytes: [u8; 64] = unhex(&self.signature).ok_or_else(wrong)?;
        let signature = ed25519_dalek::Signature::from_bytes(&bytes);
        self.key.0.verify_strict(&message(manifest), &signature).map_err(|_| wrong())
    }
}

/// Whether a file is one that a secret key is kept in.
pub(crate) fn is_secret_key(bytes: &[u8]) -> bool {
    // Its prefix and its digits, and what white space an editor adds.
    bytes.len() < 256 && std::str::from_utf8(bytes).is_ok_and(|text| text.parse::<SecretKey>().is_ok())
}

fn message(manifest: Digest) -> Vec<u8> {
    [CONTEXT, manifest.to_string().as_bytes()].concat()
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.starts_with(SECRET_PREFIX) {
            return Err(KeyError::Secret);
        }
        let bytes: Option<[u8; 32]> = text.strip_prefix(PUBLIC_PREFIX).and_then(unhex);
        let bytes = bytes.ok_or(KeyError::Form { kind: "public", prefix: PUBLIC_PREFIX })?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyError::Weak)?;
        if key.is_weak() { Err(KeyError::Weak) } else { Ok(Self(key)) }
    }
}

impl FromStr for SecretKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes: Option<[u8; 32]> = text.trim().strip_prefix(SECRET_PREFIX).and_then(unhex);
        let bytes = bytes.ok_or(KeyError::Form { kind: "secret", prefix: SECRET_PREFIX })?;
        Ok(Self(SigningKey::from_bytes(&bytes)))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC_PREFIX}{}", hex(self.0.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(of {})", self.public())
    }
}

impl Serialize for PublicKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Lower-case digits only, so that a key has one text.
fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{KeyError, PublicKey, SecretKey};
    use skillgate_core::Digest;

    /// RFC 8032, section 7.1, test 1: the key pair, which fixes how keys are written.
    const SECRET: &str = "skillgate-secret:9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    const PUBLIC: &str = "skillgate-public:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    #[test]
    fn a_key_pair_is_that_of_the_standard() {
        let secret: SecretKey = SECRET.parse().expect("a key");
        assert_eq!(secret.public().to_string(), PUBLIC);
        assert_eq!(secret.to_text(), SECRET);
        assert!(!format!("{secret:?}").contains("9d61b19d"), "a secret key is not printed");
    }

    #[test]
    fn a_signature_holds_for_its_pack_and_key_alone() {
        let secret: SecretKey = SECRET.parse().expect("a key");
        let signature = secret.sign(Digest::of(b"manifest"));
        assert_eq!(signature.verify(Digest::of(b"manifest")), Ok(()));
        assert!(signature.verify(Digest::of(b"Manifest")).is_err());
        let other = SecretKey::generate().expect("a key");
        let mut stolen = signature.clone();
        stolen.key = other.public();
        assert!(stolen.verify(Digest::of(b"manifest")).is_err());
        for at in 0..signature.signature.len() {
            let mut flipped = signature.clone();
            let digit = if &flipped.signature[at..=at] == "0" { "1" } else { "0" };
            flipped.signature.replace_range(at..=at, digit);
            assert!(flipped.verify(Digest::of(b"manifest")).is_err(), "digit {at}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        assert_eq!(SECRET.parse::<PublicKey>(), Err(KeyError::Secret));
        for text in ["", "skillgate-public:", &PUBLIC[..60], &PUBLIC.to_uppercase(), &format!("{PUBLIC}00")] {
            assert!(matches!(text.parse::<PublicKey>(), Err(KeyError::Form { .. })), "{text}");
        }
        // The neutral element: under it one signature fits everything.
        let weak = format!("skillgate-public:01{}", "00".repeat(31));
        assert_eq!(weak.parse::<PublicKey>(), Err(KeyError::Weak));
    }
}
