use crate::Severity;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Defines [`Code`] from one table, so that a code cannot exist without its text, severity and explanation.
macro_rules! codes {
    ($( $(#[doc = $doc:literal])+ $variant:ident $(($key:ident))? = $text:literal, $severity:ident; )+) => {
        /// The rule that a diagnostic comes from.
        ///
        /// The text form is stable: `yaml-recovered:description` is the rule `yaml-recovered` about the key `description`.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Code {
            $( $(#[doc = $doc])+ $variant $((codes!(@type $key)))?, )+
        }

        impl Code {
            /// Every rule with its explanation, for documentation and rule lists.
            pub const RULES: &[(&'static str, &'static str)] = &[ $( ($text, concat!($($doc),+)), )+ ];

            /// The rule's name without the key it speaks about.
            #[must_use]
            pub fn rule(&self) -> &'static str {
                match self { $( Code::$variant { .. } => $text, )+ }
            }

            /// The severity the rule has unless the place where it speaks says otherwise.
            #[must_use]
            pub fn severity(&self) -> Severity {
                match self { $( Code::$variant { .. } => Severity::$severity, )+ }
            }

            /// The key the finding is about, for rules that speak about one.
            #[must_use]
            pub fn key(&self) -> Option<&str> {
                match self { $( Code::$variant $(($key))? => codes!(@optional $($key)?), )+ }
            }

            /// The rule with this text form.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                let (rule, key) = match text.split_once(':') {
                    Some((rule, key)) => (rule, Some(key)),
                    None => (text, None),
                };
                match (rule, key) {
                    $( ($text, codes!(@optional $($key)?)) => Some(Code::$variant $(($key.to_owned()))?), )+
                    _ => None,
                }
            }
        }
    };
    (@type $key:ident) => { String };
    (@optional) => { None };
    (@optional $key:ident) => { Some($key) };
}

codes! {
    /// The value could not be read as YAML and was repaired alone; the corrected text is in the message.
    YamlRecovered(key) = "yaml-recovered", Warning;
    /// The value could not be read as YAML, even after repair.
    YamlInvalid = "yaml-invalid", Error;
    /// Readers of YAML differ over this value: it is read as the standard says, and others refuse it.
    YamlNotPortable(key) = "yaml-not-portable", Warning;
    /// A bound on aliases, depth, nodes or sizes was reached while the header was read.
    YamlTooComplex = "yaml-too-complex", Error;
    /// The key stands twice.
    DuplicateKey(key) = "duplicate-key", Warning;
    /// A plain value ends at ` #`, which YAML reads as a comment.
    ValueCutByComment(key) = "value-cut-by-comment", Warning;
    /// The value has a type the key does not take.
    FieldInvalid(key) = "field-invalid", Warning;
    /// A key that decides over authority cannot be read and fails closed.
    SecurityKeyInvalid(key) = "security-key-invalid", Error;
    /// A key that the format does not define; it is kept.
    UnknownKey(key) = "unknown-key", Info;
    /// Another spelling of a known key (snake or camel case).
    KeySpelling(key) = "key-spelling", Info;
    /// There is no header.
    FrontmatterMissing = "frontmatter-missing", Warning;
    /// The header does not start at the first byte.
    FrontmatterNotAtStart = "frontmatter-not-at-start", Warning;
    /// The header is never closed.
    FrontmatterUnclosed = "frontmatter-unclosed", Error;
    /// The whole file, header included, stands in a code fence.
    FrontmatterFenced = "frontmatter-fenced", Warning;
    /// The header is not a mapping of keys to values.
    FrontmatterNotMapping = "frontmatter-not-mapping", Error;
    /// A byte order mark was taken off.
    BomStripped = "bom-stripped", Info;
    /// Bytes that are not UTF-8 were replaced by U+FFFD.
    NotUtf8 = "not-utf8", Warning;
    /// The file is larger than the limit and was not read.
    FileTooLarge = "file-too-large", Error;
    /// The header is larger than the limit and was not read.
    HeaderTooLarge = "header-too-large", Error;
    /// The path is not a regular file.
    FileNotRegular = "file-not-regular", Error;
    /// The file or directory cannot be read.
    FileUnreadable = "file-unreadable", Error;
    /// The file is neither a `SKILL.md` nor a command, which is a `.md` file.
    NotSkillFile = "not-a-skill-file", Error;
    /// The file's name differs from `SKILL.md` in case.
    FileNameCase = "file-name-case", Warning;
    /// Two names differ only in case or normalisation.
    NameCollision = "name-collision", Warning;
    /// Letters of a name look like others: two names are taken for one, or one word is written in two alphabets.
    NameLookalike = "name-lookalike", Error;
    /// The label differs from the directory's name.
    NameMismatch = "name-mismatch", Info;
    /// The label cannot be a command name; it is only shown.
    NameInvalid = "name-invalid", Warning;
    /// The directory's or file's name cannot be a command name.
    CommandNameInvalid = "command-name-invalid", Error;
    /// No description is given; the text shown was taken from the body.
    DescriptionMissing = "description-missing", Warning;
    /// The description is not text.
    DescriptionNotString = "description-not-string", Warning;
    /// The description is longer than the standard allows.
    DescriptionTooLong = "description-too-long", Warning;
    /// A character that shows nothing stands in the text.
    InvisibleCharacter = "invisible-character", Warning;
    /// A template's own placeholder was left in.
    TemplatePlaceholder = "template-placeholder", Warning;
    /// A tool pattern that cannot be understood; it permits nothing.
    ToolPatternInvalid = "tool-pattern-invalid", Warning;
    /// A path pattern that cannot be understood; it matches nothing.
    PathPatternInvalid = "path-pattern-invalid", Warning;
    /// An argument name that cannot be used.
    ArgumentNameInvalid = "argument-name-invalid", Warning;
    /// The hook event is not one of the documented names.
    HookEventUnknown = "hook-event-unknown", Warning;
    /// Something about a hook cannot be read; on an event that can be blocked the skill does not activate.
    HookInvalid = "hook-invalid", Error;
    /// A kind of handler that is not supported yet.
    HookTypeUnsupported = "hook-type-unsupported", Warning;
    /// A key of a hook that is not known, or that changes nothing here.
    HookKeyIgnored(key) = "hook-key-ignored", Info;
    /// A hook's `if` cannot be read, so it counts as matching.
    HookConditionUnreadable = "hook-condition-unreadable", Warning;
    /// A hook's program cannot run here.
    HookCannotRun = "hook-cannot-run", Warning;
    /// A hook said that something is allowed, which no hook can: it counts as no opinion.
    HookAllowIgnored = "hook-allow-ignored", Warning;
    /// A key of a hook's output that is not known, or means nothing for its event.
    HookOutputIgnored(key) = "hook-output-ignored", Info;
    /// A hook failed, or its output cannot be read.
    HookFailed = "hook-failed", Warning;
    /// A hook's text was longer than the limit and was cut.
    HookTextCut = "hook-text-cut", Info;
    /// A position placeholder stands in code and is left as it is.
    PlaceholderInFence = "placeholder-in-fence", Info;
    /// The arguments hold an unbalanced quote; it was taken literally.
    ArgumentsUnbalanced = "arguments-unbalanced", Warning;
    /// An argument would stand where it could become syntax.
    ArgumentNotSafeInCommand = "argument-not-safe-in-command", Error;
    /// An injected command ended with a status that means failure.
    CommandFailed = "command-failed", Error;
    /// An injected command ended with status 1, which for this command means "nothing found".
    CommandStatusOne = "command-status-1", Info;
    /// A prompt is longer than one call may put into a conversation, and was cut.
    PromptCut = "prompt-cut", Warning;
    /// The shell program uses a construct that the capability shell does not have.
    UnsupportedShell = "unsupported-shell", Error;
    /// The policy refused.
    Denied = "denied", Error;
    /// A limit was reached.
    LimitExceeded = "limit", Error;
    /// Injections are switched off.
    ShellDisabled = "shell-disabled", Warning;
    /// The skill asks for more than the host grants; what it asks beyond that has no effect.
    GrantWiderThanHost = "grant-wider-than-host", Info;
    /// The file does not follow the open standard.
    NotStandard = "not-standard", Error;
    /// Tag characters stand in the text: a message that no font shows and a model reads.
    HiddenText = "hidden-text", Error;
    /// A control changes the order in which text is shown, so that a person reads something else than a machine.
    BidiControl = "bidi-control", Error;
    /// A comment, which a rendered page does not show, gives a model orders.
    HiddenInstruction = "hidden-instruction", Error;
    /// A command runs what it fetches from the network.
    FetchAndRun = "fetch-and-run", Warning;
    /// A command decodes text and runs the result.
    DecodeAndRun = "decode-and-run", Warning;
    /// A long encoded text stands beside the command or call that decodes it.
    EncodedBlob = "encoded-blob", Warning;
    /// What looks like a credential stands in the text.
    SecretInText = "secret-in-text", Error;
    /// The tool list asks for every command, and the text shows none.
    WideGrant = "wide-grant", Info;
    /// A link beside the skill's file leads out of the skill's directory.
    LinkOutOfSkill = "link-out-of-skill", Warning;
    /// A program stands beside the skill's file that does not look like one.
    ExecutableCompanion = "executable-companion", Warning;
    /// What looks like an injection stands right behind other text, where none is run.
    InjectionNotPlaced = "injection-not-placed", Info;
    /// An injection begins a sentence, so that what may be meant as an example runs.
    InjectionInProse = "injection-in-prose", Warning;
    /// An entry of the tool list names what the host does not grant, so it grants nothing here.
    AllowedToolsExceedsGrant = "allowed-tools-exceeds-grant", Info;
    /// A placeholder stands in the tool list where a tool belongs.
    ToolsPlaceholder = "tools-placeholder", Warning;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule())?;
        match self.key() {
            Some(key) => write!(f, ":{key}"),
            None => Ok(()),
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Code::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a diagnostic code")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips() {
        for text in ["yaml-recovered:description", "bom-stripped", "duplicate-key:allowed-tools"] {
            assert_eq!(Code::parse(text).expect("known code").to_string(), text);
        }
        for text in ["yaml-recovered", "bom-stripped:x", "nonsense"] {
            assert_eq!(Code::parse(text), None, "{text}");
        }
    }

    #[test]
    fn rules_are_unique() {
        let mut names: Vec<_> = Code::RULES.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::RULES.len());
    }
}
