use crate::pattern::ToolPattern;
use crate::rule::{Place, Rule};
use serde::Serialize;
use skillgate_core::{Digest, Profile, RelPath, Source};
use std::collections::BTreeMap;
use std::fmt;

/// A value, and where it was set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub place: Place,
}

impl<T> Setting<T> {
    /// A value that was set somewhere.
    #[must_use]
    pub const fn new(value: T, place: Place) -> Self {
        Self { value, place }
    }
}

/// `[skills]`
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct SkillSettings {
    /// Whether there are skills at all.
    pub enabled: Option<Setting<bool>>,
    /// Names that are switched off; `*` stands for any characters.
    pub disable: Vec<Setting<String>>,
    /// The only names that are not switched off.
    pub only: Option<Setting<Vec<String>>>,
    /// Names that a listing never cuts.
    pub pin: Vec<Setting<String>>,
    /// Several names under one.
    pub sets: BTreeMap<String, Setting<Vec<String>>>,
    /// Whether the environment may turn managed skills off.
    pub policy_skills: Option<Setting<PolicySkills>>,
    /// How many directories lead to a skill.
    pub depth: Option<Setting<u8>>,
    /// Where Skillgate keeps its own files, as written.
    pub store: Option<Setting<String>>,
}

/// Whether the environment may turn managed skills off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicySkills {
    /// It may.
    #[default]
    Optional,
    /// It is not listened to.
    Required,
}

/// `[profile]`
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct ProfileSettings {
    /// The description of the format that is followed.
    pub name: Option<Setting<Profile>>,
    /// Whether injections run.
    pub shell: Option<Setting<bool>>,
    /// What a failed injection does.
    pub on_failure: Option<Setting<OnFailure>>,
}

/// What an injection that fails does to its invocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The invocation is refused.
    #[default]
    Abort,
    /// The prompt has a visible mark in its place.
    Inline,
}

impl fmt::Display for OnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnFailure::Abort => "abort",
            OnFailure::Inline => "inline",
        })
    }
}

/// `[pre_approve]`: ask becomes allow for what a skill's list names, inside this.
#[derive(Clone, PartialEq, Debug)]
pub struct PreApproveSettings {
    /// The sources whose skills it is for.
    pub sources: Vec<Source>,
    /// The most it allows.
    pub tools: Vec<ToolPattern>,
}

/// `[programs.NAME]`: a program of the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramSettings {
    /// The program, absolute.
    pub path: String,
    /// Environment variables that are passed.
    pub env: Vec<String>,
    /// Where it may write, below the project.
    pub write: Vec<RelPath>,
    /// Whether files of the project may be executed.
    pub run_project_files: bool,
    /// Whether it is of no use without a network.
    pub network: bool,
    /// Its own bounds.
    pub limits: ProgramLimits,
}

/// Bounds of one program, each where the file sets it. But for the memory they hold below those of every run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProgramLimits {
    /// Address space of each of its processes, bytes.
    pub memory_bytes: Option<u64>,
    /// Its processes together.
    pub native_processes: Option<u64>,
    /// Bytes that it may write.
    pub native_file_bytes: Option<u64>,
    /// Time of each of its runs, milliseconds.
    pub wall_ms: Option<u64>,
}

/// `[components.NAME]`: a command that a third party made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComponentSettings {
    /// The file, absolute.
    pub path: Setting<String>,
    /// Its digest.
    pub sha256: Setting<Digest>,
    /// Whether it takes the place of a command of the same name that Skillgate ships.
    pub replace: bool,
}

/// `[[keys]]`: who signs packs.
#[derive(Clone, PartialEq, Debug)]
pub struct SignerSettings {
    /// The key's name.
    pub id: String,
    /// The key.
    pub public: PublicKey,
    /// What packs that it signed are granted.
    pub allow: Vec<ToolPattern>,
    /// Whether the hooks of packs that it signed run.
    pub hooks: bool,
    /// The last day on which it counts.
    pub expires: Option<Day>,
    /// Whether it does not count any more, whatever another file says of it.
    pub revoked: bool,
}

/// Whether the signatures of a key count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyStanding {
    /// No policy names it.
    Unknown,
    /// They count.
    Counts,
    /// Their last day is over.
    Expired(Day),
    /// A policy revokes it.
    Revoked,
}

/// An Ed25519 public key as it is written in a policy. Whether it is a point of the curve is for whoever verifies with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// A key of its bytes.
    #[must_use]
    pub const fn of_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads 64 hexadecimal digits, which may stand behind `skillgate-public:` as `skillgate pack keygen` prints them, or 44
    /// characters of base64.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("skillgate-public:").unwrap_or(text);
        hexadecimal(text).or_else(|| base64(text)).map(Self)
    }

    /// The key's bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn hexadecimal(text: &str) -> Option<[u8; 32]> {
    let digits = text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()));
    let digits: Vec<u8> = digits.collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
    (digits.len() == 64).then_some(bytes)?.try_into().ok()
}

fn base64(text: &str) -> Option<[u8; 32]> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let text = text.strip_suffix('=').filter(|text| text.len() == 43)?;
    let mut bytes = Vec::with_capacity(32);
    let (mut bits, mut held) = (0_u32, 0);
    for c in text.bytes() {
        let value = ALPHABET.iter().position(|known| *known == c)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
            bits &= (1 << held) - 1;
        }
    }
    // Two ways to write one key would be two keys for whoever compares texts.
    (bits == 0).then_some(bytes)?.try_into().ok()
}

/// A day of the calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Day {
    /// The year.
    pub year: u16,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

impl Day {
    /// The day of a moment, in UTC.
    #[must_use]
    pub fn of_unix_seconds(seconds: u64) -> Self {
        // Howard Hinnant's `civil_from_days`, for days since 1970: eras of 400 years that begin in March.
        let days = seconds / 86_400 + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        let small = |number: u64| u8::try_from(number).unwrap_or(u8::MAX);
        Self { year: u16::try_from(year).unwrap_or(u16::MAX), month: small(month), day: small(day) }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// `[mcp]`
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct McpSettings {
    /// Time for starting or reaching a server and for its handshake, milliseconds.
    pub connect_ms: Option<Setting<u64>>,
    /// Time for each request, milliseconds.
    pub request_ms: Option<Setting<u64>>,
    /// Whether servers that are started run in the host sandbox.
    pub sandbox: Option<Setting<bool>>,
    /// What they are shown there besides the system, absolute.
    pub show: Option<Setting<Vec<String>>>,
    /// Address space of each of their processes there, bytes.
    pub memory_bytes: Option<Setting<u64>>,
}

/// What holds for servers of skills.
#[derive(Clone, PartialEq, Debug)]
pub struct McpPolicy {
    /// Time for starting or reaching a server and for its handshake, milliseconds.
    pub connect_ms: Setting<u64>,
    /// Time for each request, milliseconds.
    pub request_ms: Setting<u64>,
    /// Whether servers that are started run in the host sandbox.
    pub sandbox: Setting<bool>,
    /// What they are shown there besides the system, absolute.
    pub show: Option<Setting<Vec<String>>>,
    /// Address space of each of their processes there, bytes; that of every run unless set.
    pub memory_bytes: Option<Setting<u64>>,
}

/// `[audit]`
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct AuditSettings {
    /// The file that gets the record, as written.
    pub log: Option<Setting<String>>,
    /// Whether a run whose record cannot be written is refused.
    pub required: Option<Setting<bool>>,
}

/// `[permissions]`
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Permissions {
    /// Every rule in the order of the file.
    pub rules: Vec<Rule>,
    /// Where `allow` stands, also when its list is empty: in the managed file it is then the most that can be granted.
    pub allow: Option<Place>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_either_form_and_from_no_other() {
        let bytes: Vec<u8> = (0..32).collect();
        for text in [
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "skillgate-public:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        ] {
            assert_eq!(PublicKey::parse(text).expect(text).as_bytes().as_slice(), bytes, "{text}");
        }
        for text in [
            "",
            "00",
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g",
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f00",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh-=",
            "ßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßß",
        ] {
            assert_eq!(PublicKey::parse(text), None, "{text}");
        }
        assert_eq!(
            PublicKey::parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").map(|key| key.to_string().len()),
            Some(64)
        );
    }

    #[test]
    fn a_moment_has_a_day() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_830_297_599, "2027-12-31"),
            (1_830_297_600, "2028-01-01"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(Day::of_unix_seconds(seconds).to_string(), day);
        }
    }
}
