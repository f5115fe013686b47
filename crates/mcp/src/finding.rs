use serde::Serialize;
use skillgate_core::Severity;
use std::fmt;

/// What was found about a server or about one thing it offers. A finding costs nothing but what it is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// The kind.
    pub code: FindingCode,
    /// How much it matters.
    pub severity: Severity,
    /// The resource or prompt it is about, as a person may be shown it; `None` when it is about the server.
    pub about: Option<String>,
    /// What was found, one sentence without a final full stop.
    pub message: String,
    /// What somebody can do about it.
    pub help: Option<String>,
}

impl Finding {
    pub(crate) fn new(code: FindingCode, message: impl Into<String>) -> Self {
        Self { severity: code.severity(), code, about: None, message: message.into(), help: None }
    }

    pub(crate) fn about(mut self, what: &str) -> Self {
        self.about = Some(shown(what));
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: ", self.severity, self.code)?;
        match &self.about {
            Some(about) => write!(f, "`{about}`: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Defines [`FindingCode`] from one table, so that no code is without its name and severity.
macro_rules! codes {
    ($( $(#[doc = $doc:literal])+ $variant:ident = $text:literal, $severity:ident; )+) => {
        /// The kind of a [`Finding`]; the name is stable.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum FindingCode {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl FindingCode {
            /// Every kind with its explanation.
            pub const ALL: &[(FindingCode, &'static str)] = &[ $( (FindingCode::$variant, concat!($($doc),+)), )+ ];

            /// The name as it is written in output.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( FindingCode::$variant => $text, )+ }
            }

            /// How much it matters.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $( FindingCode::$variant => Severity::$severity, )+ }
            }
        }
    };
}

codes! {
    /// The server cannot be started or reached, or refused the handshake.
    Unreachable = "unreachable", Error;
    /// The host wants the server confined, and that is not to be had here; it was not started.
    SandboxUnavailable = "sandbox-unavailable", Error;
    /// The server did not answer within its time.
    TimedOut = "timed-out", Error;
    /// The server ended or closed the connection.
    Closed = "closed", Error;
    /// The server sent more notifications than it may.
    Flooding = "flooding", Error;
    /// The server answered with something that the protocol does not allow there.
    Protocol = "protocol", Error;
    /// The server offers neither resources nor prompts.
    NothingOffered = "nothing-offered", Info;
    /// A list has more pages, or comes back to a page it had.
    TooManyPages = "too-many-pages", Warning;
    /// More is listed than is looked at.
    TooMany = "too-many", Warning;
    /// A text is larger than it may be, or all of a server's are together.
    TooLarge = "too-large", Error;
    /// What is listed as a skill is no URI: it has a path where a URI has to stand.
    NotUri = "not-uri", Error;
    /// The URI holds characters that it cannot, or is too long.
    UriInvalid = "uri-invalid", Error;
    /// No name can be made of it.
    NameInvalid = "name-invalid", Error;
    /// Two things the server offers have one name.
    NameClash = "name-clash", Warning;
    /// One URI is listed twice.
    DuplicateUri = "duplicate-uri", Warning;
    /// The resource cannot be read.
    Unreadable = "unreadable", Error;
    /// The resource is not text.
    Binary = "binary", Error;
    /// There is no text.
    Empty = "empty", Error;
    /// The text is not what the list promised: its digest or size differs.
    Changed = "changed", Error;
    /// The text's header is not the one that the list shows.
    HeaderDiffers = "header-differs", Error;
    /// The index of skills cannot be read.
    IndexInvalid = "index-invalid", Warning;
    /// Something that is listed in a form that is not taken.
    FormUnsupported = "form-unsupported", Info;
    /// The prompt needs arguments, which are known only when it is called.
    PromptNeedsArguments = "prompt-needs-arguments", Info;
    /// Commands in the text are delivered as text.
    InjectionsLiteral = "injections-literal", Warning;
    /// The hooks of the header are not activated.
    HooksIgnored = "hooks-ignored", Warning;
    /// The tools that the header lists are not granted.
    ToolsNotGranted = "tools-not-granted", Info;
    /// A key of the header that asks for more than being read has no effect.
    KeyIgnored = "key-ignored", Warning;
    /// A variable for a directory of this machine stays as it is written.
    DirectoryVariable = "directory-variable", Warning;
}

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The most characters of what a server says that are shown.
const MAX_SHOWN: usize = 200;

/// What a server says, as a person may be shown it: on one line, without what a terminal acts on, cut.
pub(crate) fn shown(text: &str) -> String {
    let hidden = |c: char| c.is_control() || skillgate_core::classify_invisible(c).is_some();
    let mut shown: String = text.chars().take(MAX_SHOWN).map(|c| if hidden(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_shown_on_one_line_and_cut() {
        assert_eq!(shown("a\u{1b}[31m\nb\u{202e}"), "a\u{fffd}[31m\u{fffd}b\u{fffd}");
        let long = shown(&"x".repeat(10_000));
        assert_eq!(long.chars().count(), MAX_SHOWN + 1);
    }

    #[test]
    fn the_name_of_a_code_is_the_one_it_is_written_as() {
        for (code, _) in FindingCode::ALL {
            assert_eq!(serde_json::to_value(code).expect("a code"), serde_json::json!(code.as_str()));
        }
    }
}
