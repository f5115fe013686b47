use skillgate_core::CommandName;
use std::fmt;
use std::sync::Arc;

/// A command of the host's own, called by a `/name` as a skill is. No skill hides one.
#[derive(Clone, Debug)]
pub struct HostCommand {
    /// Its name.
    pub name: CommandName,
    /// Other names that lead to it.
    pub aliases: Vec<CommandName>,
    /// What a call of it is.
    pub kind: HostCommandKind,
}

/// What a call of a [`HostCommand`] is.
#[derive(Clone)]
pub enum HostCommandKind {
    /// A prompt, made of the arguments. A model may call it through the Skill tool.
    Prompt(Arc<dyn Fn(&str) -> String + Send + Sync>),
    /// Something that the host itself does, such as clearing the screen. A person may type it; called through the Skill tool it
    /// is the wrong type.
    Action,
}

impl fmt::Debug for HostCommandKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HostCommandKind::Prompt(_) => "Prompt",
            HostCommandKind::Action => "Action",
        })
    }
}

impl HostCommand {
    /// A command that the host itself carries out.
    #[must_use]
    pub fn action(name: CommandName) -> Self {
        Self { name, aliases: Vec::new(), kind: HostCommandKind::Action }
    }

    /// A command that is a prompt.
    #[must_use]
    pub fn prompt(name: CommandName, prompt: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self { name, aliases: Vec::new(), kind: HostCommandKind::Prompt(Arc::new(prompt)) }
    }

    /// A further name.
    #[must_use]
    pub fn alias(mut self, name: CommandName) -> Self {
        self.aliases.push(name);
        self
    }

    /// Its names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(CommandName::as_str)
    }

    /// Whether a name without a slash leads to it.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name.as_str() == name || self.aliases.iter().any(|alias| alias.as_str() == name)
    }
}
