//! What a server offers, as skills: its list of skills, else its index, else plain resources; and its prompts.

use super::connection::{Connection, Trouble};
use super::index::{self, Listed};
use super::skill::{RemoteArgument, RemoteKind, RemoteSkill};
use super::uri::{self, UriKind};
use super::{prompt, read, text_only};
use crate::finding::{Finding, FindingCode};
use crate::name::{self, Unnamed};
use rmcp::ServiceError;
use rmcp::model::{GetSkillRequestParams, PaginatedRequestParams, Prompt, Skill, SkillResources};
use skillgate_core::Digest;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// What a server offers at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Offer {
    pub(super) skills: Vec<RemoteSkill>,
    pub(super) findings: Vec<Finding>,
}

/// Why nothing more is learnt from a server.
type Lost = Finding;

/// Asks a server for all it offers. What it does wrong with one thing is a finding about that thing.
pub(super) async fn offer(connection: &Arc<Connection>, key: &str) -> Result<Offer, Lost> {
    let limit = connection.limits.fetch;
    match tokio::time::timeout(limit, Fetch::new(connection, key).run()).await {
        Ok(offer) => offer,
        Err(_) => Err(Finding::new(
            FindingCode::TimedOut,
            format!("its skills were not there within {} ms", limit.as_millis()),
        )),
    }
}

/// Something that is a skill when its text is there.
enum Wanted {
    Skill(Listed, Vec<String>),
    Prompt(Box<Prompt>, Vec<RemoteArgument>),
}

struct Fetch<'c> {
    connection: &'c Arc<Connection>,
    key: &'c str,
    findings: Vec<Finding>,
}

impl<'c> Fetch<'c> {
    fn new(connection: &'c Arc<Connection>, key: &'c str) -> Self {
        Self { connection, key, findings: Vec::new() }
    }

    async fn run(mut self) -> Result<Offer, Lost> {
        let capabilities = &self.connection.info.capabilities;
        if capabilities.resources.is_none() && capabilities.prompts.is_none() {
            self.findings.push(Finding::new(FindingCode::NothingOffered, "it offers neither resources nor prompts"));
            return Ok(Offer { skills: Vec::new(), findings: self.findings });
        }
        let mut wanted = Vec::new();
        if capabilities.resources.is_some() {
            for listed in self.listed().await? {
                match uri::path_of_skill(&listed.uri) {
                    Ok(path) => wanted.push(Wanted::Skill(listed, path)),
                    Err(finding) => self.findings.push(*finding),
                }
            }
        }
        if capabilities.prompts.is_some() {
            wanted.extend(self.prompts().await?);
        }
        let bound = self.connection.limits.skills;
        if wanted.len() > bound {
            let message = format!("it lists {} skills; the first {bound} are taken", wanted.len());
            self.findings.push(Finding::new(FindingCode::TooMany, message));
            wanted.truncate(bound);
        }
        let skills = self.named_and_read(wanted).await?;
        Ok(Offer { skills, findings: bounded(self.findings, self.connection.limits.findings) })
    }

    /// The skills, by the first of the three ways that gives any.
    async fn listed(&mut self) -> Result<Vec<Listed>, Lost> {
        let mut listed = Vec::new();
        if self.connection.info.capabilities.supports_skills() {
            listed = self.list_of_skills().await?;
        }
        if listed.is_empty() {
            listed = self.index().await?;
        }
        if listed.is_empty() {
            listed = self.plain_resources().await?;
        }
        let mut seen = HashSet::new();
        let findings = &mut self.findings;
        listed.retain(|skill| {
            let is_new = seen.insert(skill.uri.clone());
            if !is_new {
                findings.push(
                    Finding::new(FindingCode::DuplicateUri, "it is listed twice; the first is taken").about(&skill.uri),
                );
            }
            is_new
        });
        Ok(listed)
    }

    /// `skills/list` of the skills extension.
    async fn list_of_skills(&mut self) -> Result<Vec<Listed>, Lost> {
        let peer = &self.connection.peer;
        let skills: Vec<Skill> = self
            .pages("skills/list", |cursor| async move {
                let page = peer.list_skills(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
                Ok((page.skills, page.next_cursor))
            })
            .await?;
        Ok(skills.into_iter().map(listed).collect())
    }

    /// `skill://index.json`, when there is one.
    async fn index(&mut self) -> Result<Vec<Listed>, Lost> {
        match read::text(self.connection, uri::INDEX_URI).await {
            Ok(text) => Ok(index::read(&text, self.connection.limits.listed, &mut self.findings).unwrap_or_default()),
            // Most servers have none, and say so in one of many ways.
            Err(Trouble::Refused { .. }) => Ok(Vec::new()),
            Err(Trouble::Item(finding)) => {
                self.findings.push(finding);
                Ok(Vec::new())
            }
            Err(Trouble::Lost(lost)) => Err(lost),
        }
    }

    /// Resources whose URI says that they are skills.
    async fn plain_resources(&mut self) -> Result<Vec<Listed>, Lost> {
        let peer = &self.connection.peer;
        let resources = self
            .pages("resources/list", |cursor| async move {
                let page = peer.list_resources(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
                Ok((page.resources, page.next_cursor))
            })
            .await?;
        let mut skills = Vec::new();
        for resource in resources {
            match uri::classify(&resource.uri) {
                Ok(UriKind::Skill(_)) => {
                    skills.push(Listed { uri: resource.uri, name: None, description: None, digest: None, size: None });
                }
                Ok(_) => {}
                Err(finding) => self.findings.push(*finding),
            }
        }
        Ok(skills)
    }

    async fn prompts(&mut self) -> Result<Vec<Wanted>, Lost> {
        let peer = &self.connection.peer;
        let prompts: Vec<Prompt> = self
            .pages("prompts/list", |cursor| async move {
                let page = peer.list_prompts(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
                Ok((page.prompts, page.next_cursor))
            })
            .await?;
        let mut seen = HashSet::new();
        let mut wanted = Vec::new();
        for found in prompts {
            if !seen.insert(found.name.clone()) {
                let message = "the prompt is listed twice; the first is taken";
                self.findings.push(Finding::new(FindingCode::DuplicateUri, message).about(&found.name));
                continue;
            }
            match prompt::arguments(&found) {
                Ok(arguments) => {
                    self.findings.extend(prompt::needs(&found, &arguments));
                    wanted.push(Wanted::Prompt(Box::new(found), arguments));
                }
                Err(finding) => self.findings.push(*finding),
            }
        }
        Ok(wanted)
    }

    /// All pages of a list, as far as they are looked at. A list that the server refuses is empty.
    async fn pages<T, F>(&mut self, method: &str, page: impl Fn(Option<String>) -> F) -> Result<Vec<T>, Lost>
    where
        F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
    {
        let limits = &self.connection.limits;
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        let mut cursors = HashSet::new();
        for number in 1.. {
            match self.connection.ask(method, page(cursor.clone())).await {
                Ok((found, next)) => {
                    items.extend(found);
                    cursor = next;
                }
                Err(Trouble::Lost(lost)) => return Err(lost),
                Err(Trouble::Item(finding)) => {
                    self.findings.push(finding);
                    break;
                }
                Err(Trouble::Refused { message, .. }) => {
                    let message = format!("{method} was answered with an error: {message}");
                    self.findings.push(Finding::new(FindingCode::Unreadable, message));
                    break;
                }
            }
            if items.len() > limits.listed {
                let message =
                    format!("{method} gives more than {} entries; the others are not looked at", limits.listed);
                self.findings.push(Finding::new(FindingCode::TooMany, message));
                items.truncate(limits.listed);
                break;
            }
            let Some(next) = &cursor else { break };
            let message = if !cursors.insert(next.clone()) {
                format!("{method} comes back to a page that it gave before")
            } else if number >= limits.pages {
                format!("{method} has more than {} pages; the others are not looked at", limits.pages)
            } else {
                continue;
            };
            self.findings.push(Finding::new(FindingCode::TooManyPages, message));
            break;
        }
        Ok(items)
    }

    /// Gives each a name and reads the texts of those that have one, several at once.
    async fn named_and_read(&mut self, wanted: Vec<Wanted>) -> Result<Vec<RemoteSkill>, Lost> {
        let things: Vec<Unnamed<'_>> = wanted
            .iter()
            .map(|wanted| match wanted {
                Wanted::Skill(listed, path) => Unnamed { about: &listed.uri, path: path.clone() },
                Wanted::Prompt(prompt, _) => {
                    Unnamed { about: &prompt.name, path: vec!["prompt".to_owned(), prompt.name.clone()] }
                }
            })
            .collect();
        let names = name::assign(self.key, &things, &mut self.findings);
        let at_once = Arc::new(Semaphore::new(self.connection.limits.requests_at_once.max(1)));
        let mut reading = JoinSet::new();
        for (index, (wanted, name)) in wanted.into_iter().zip(names).enumerate() {
            let Some(name) = name else { continue };
            let (connection, at_once) = (Arc::clone(self.connection), Arc::clone(&at_once));
            reading.spawn(async move {
                let _turn = at_once.acquire().await;
                (index, read_one(&connection, wanted, name).await)
            });
        }
        let mut read = Vec::new();
        while let Some(ended) = reading.join_next().await {
            let Ok((index, result)) = ended else { continue };
            match result {
                Err(Trouble::Lost(lost)) => return Err(lost),
                other => read.push((index, other)),
            }
        }
        read.sort_by_key(|(index, _)| *index);
        Ok(self.within_total(read.into_iter().map(|(_, result)| result)))
    }

    fn within_total(&mut self, read: impl Iterator<Item = Result<RemoteSkill, Trouble>>) -> Vec<RemoteSkill> {
        let bound = self.connection.limits.total_bytes;
        let (mut skills, mut total) = (Vec::new(), 0_usize);
        for result in read {
            match result {
                Ok(skill) if total.saturating_add(skill.text.len()) > bound => self.findings.push(
                    Finding::new(
                        FindingCode::TooLarge,
                        format!("the server's texts have more than {bound} bytes together"),
                    )
                    .about(&skill.uri),
                ),
                Ok(skill) => {
                    total += skill.text.len();
                    text_only::report(&skill, &mut self.findings);
                    skills.push(skill);
                }
                Err(Trouble::Item(finding) | Trouble::Lost(finding)) => self.findings.push(finding),
                Err(Trouble::Refused { message, .. }) => {
                    let message = format!("it cannot be read: {message}");
                    self.findings.push(Finding::new(FindingCode::Unreadable, message));
                }
            }
        }
        skills
    }
}

/// As many findings as somebody reads. The worst stay, in their order, so that a server cannot hide one behind many.
fn bounded(mut findings: Vec<Finding>, bound: usize) -> Vec<Finding> {
    let surplus = findings.len().saturating_sub(bound);
    if surplus > 0 {
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings.truncate(bound);
        let message = format!("there are {surplus} further findings, none worse than these");
        findings.push(Finding::new(FindingCode::TooMany, message));
    }
    findings
}

async fn read_one(connection: &Connection, wanted: Wanted, name: String) -> Result<RemoteSkill, Trouble> {
    let (uri, kind, arguments, text) = match wanted {
        Wanted::Prompt(prompt, arguments) => {
            let text = match arguments.as_slice() {
                [] => prompt::text(connection, &prompt).await.map_err(|trouble| refused(trouble, &prompt.name))?,
                arguments => prompt::uncalled(&prompt, arguments),
            };
            (prompt.name, RemoteKind::Prompt, arguments, text)
        }
        Wanted::Skill(listed, _) => {
            let read = read_listed(connection, &listed, &name).await;
            let text = read.map_err(|trouble| refused(trouble, &listed.uri))?;
            (listed.uri, RemoteKind::Skill, Vec::new(), text)
        }
    };
    Ok(RemoteSkill { name, uri, kind, arguments, digest: Digest::of(text.as_bytes()), text })
}

/// Reads a skill's text. One that changed since it was listed is asked about and read once more.
async fn read_listed(connection: &Connection, listed_then: &Listed, name: &str) -> Result<String, Trouble> {
    let text = read::text(connection, &listed_then.uri).await?;
    let Err(finding) = read::verify(listed_then, name, &text) else { return Ok(text) };
    if finding.code != FindingCode::Changed || !connection.info.capabilities.supports_skills() {
        return Err(Trouble::Item(*finding));
    }
    let again = connection.peer.get_skill(GetSkillRequestParams::new(listed_then.uri.clone()));
    let listed_now = listed(connection.ask("skills/get", again).await?.skill);
    let text = read::text(connection, &listed_then.uri).await?;
    match read::verify(&listed_now, name, &text) {
        Ok(()) if listed_now.uri == listed_then.uri => Ok(text),
        Ok(()) => Err(Trouble::Item(*finding)),
        Err(finding) => Err(Trouble::Item(*finding)),
    }
}

/// An answer that is an error, as a finding about what was asked for.
fn refused(trouble: Trouble, about: &str) -> Trouble {
    match trouble {
        Trouble::Refused { code, message } => Trouble::Item(
            Finding::new(FindingCode::Unreadable, format!("it cannot be read: {message} ({})", code.0)).about(about),
        ),
        other => other,
    }
}

/// An entry of `skills/list` or `skills/get`. Without a list of files there is nothing to compare a text with.
fn listed(skill: Skill) -> Listed {
    let own = match &skill.resources {
        SkillResources::Files(files) => files.iter().find(|file| file.uri == skill.uri).cloned(),
        _ => None,
    };
    Listed {
        name: Some(skill.frontmatter.name),
        description: Some(skill.frontmatter.description),
        digest: own.as_ref().map(|file| file.digest.clone()),
        size: own.map(|file| file.size),
        uri: skill.uri,
    }
}
