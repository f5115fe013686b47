use super::{HeldExtras, HeldSkill, LazyBody, SkillFiles, SkillSource};
use skillgate_core::Source;
use std::borrow::Cow;
use std::sync::Arc;

/// One skill that a program registers.
#[derive(Clone, Debug)]
pub struct BundledSkill {
    held: HeldSkill,
    extras: HeldExtras,
    enabled: fn() -> bool,
}

impl BundledSkill {
    /// A skill with the whole of its `SKILL.md`, that is always there.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        let origin = format!("bundled/{name}/SKILL.md");
        Self { held: HeldSkill { name, text: text.into(), origin }, extras: HeldExtras::default(), enabled: || true }
    }

    /// A skill with its header, from the first `---` to the line behind the second, whose body is made when it is used.
    #[must_use]
    pub fn lazy(name: impl Into<String>, header: impl Into<Cow<'static, str>>, body: LazyBody) -> Self {
        let mut skill = Self::new(name, header);
        skill.extras.body = Some(body);
        skill
    }

    /// The files beside it.
    #[must_use]
    pub fn files(mut self, files: Arc<dyn SkillFiles>) -> Self {
        self.extras.files = Some(files);
        self
    }

    /// It is there while `enabled` says so.
    #[must_use]
    pub fn enabled(mut self, enabled: fn() -> bool) -> Self {
        self.enabled = enabled;
        self
    }
}

/// The skills that a program registers, each for as long as its condition holds.
#[derive(Debug, Default)]
pub struct BundledSkills {
    skills: Vec<BundledSkill>,
}

impl BundledSkills {
    /// Adds a skill.
    ///
    /// ```
    /// use skillgate_loader::{BundledSkill, BundledSkills, LazyBody};
    ///
    /// let now = LazyBody::new(|| Ok("What is known by now.\n".to_owned()));
    /// let skill = BundledSkill::lazy("report", "---\ndescription: Reports.\n---\n", now);
    /// let skills = BundledSkills::default().register_bundled(skill.enabled(|| cfg!(unix)));
    /// # let _ = skills;
    /// ```
    #[must_use]
    pub fn register_bundled(mut self, skill: BundledSkill) -> Self {
        self.skills.push(skill);
        self
    }

    /// Adds a skill that is always there.
    #[must_use]
    pub fn with(self, name: impl Into<String>, text: impl Into<Cow<'static, str>>) -> Self {
        self.register_bundled(BundledSkill::new(name, text))
    }

    /// Adds a skill that is there while `enabled` says so.
    #[must_use]
    pub fn with_if(self, name: impl Into<String>, text: impl Into<Cow<'static, str>>, enabled: fn() -> bool) -> Self {
        self.register_bundled(BundledSkill::new(name, text).enabled(enabled))
    }
}

impl SkillSource for BundledSkills {
    fn source(&self) -> Source {
        Source::Bundled
    }

    fn texts(&self) -> Vec<HeldSkill> {
        self.skills.iter().filter(|skill| (skill.enabled)()).map(|skill| skill.held.clone()).collect()
    }

    fn extras(&self, name: &str) -> HeldExtras {
        self.skills.iter().find(|skill| skill.held.name == name).map(|skill| skill.extras.clone()).unwrap_or_default()
    }
}
