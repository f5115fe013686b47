//! The methods of the protocol.

use super::call::{Outcome, Reply, Wanted};
use super::conversation::Conversation;
use super::page::page;
use super::refused::Refused;
use super::skill_entry::{key, of_uri, offered, typed};
use super::{prompt, resource, tool};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
    GetSkillResult, Implementation, ListPromptsResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use skillgate_policy::Invoker;
use skillgate_runtime::{DiscoverSkills, Session};
use std::sync::Arc;

const INSTRUCTIONS: &str = "Skills are sets of instructions for one kind of task. The tool DiscoverSkills finds the ones for what \
is to be done, and the tool Skill gives the text of one; commands in it have run in a sandbox by then, as far as the host allows. \
When a skill fits the user's request, call Skill before you answer.";

impl ServerHandler for Conversation {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_skills()
            .build();
        let own = Implementation::new("skillgate", env!("CARGO_PKG_VERSION")).with_title("Skillgate");
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.blocking(&context, |session| Ok(tool::definitions(&session.catalogue()))).await?;
        let (tools, next_cursor) = page(tools, |tool: &Tool| tool.name.to_string(), request.as_ref())?;
        Ok(ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(tools) })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match request.name.as_ref() {
            tool::SKILL => {
                let input: tool::SkillInput = tool::input(tool::SKILL, request.arguments)?;
                let (name, args) = input.checked()?;
                let wanted = Wanted { name, arguments: args, invoker: Invoker::Model };
                let reply = Reply { state: request.request_state, responses: request.input_responses };
                Ok(match self.invoke(&context, wanted, reply).await {
                    Ok(Outcome::Done(invocation)) => tool::invoked(&invocation).into(),
                    Ok(Outcome::Asks(question)) => question.into(),
                    Err(refused) => refused.tool_result().into(),
                })
            }
            tool::DISCOVER => {
                let input: DiscoverSkills = tool::input(tool::DISCOVER, request.arguments)?;
                let found = self.blocking(&context, move |session| Ok(session.discover_skills(&input))).await?;
                Ok(tool::discovered(&found).into())
            }
            other => {
                let message = format!("there is no tool `{}`", crate::finding::shown(other));
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.blocking(&context, move |session| {
            let is_first = request.as_ref().is_none_or(|request| request.cursor.is_none());
            let (skills, next_cursor) = page(offered(&session.catalogue()), key, request.as_ref())?;
            let index = is_first.then(resource::index_resource);
            // A page of which some are left out is shorter; its cursor is the same.
            let readable = skills.iter().filter(|skill| session.may_read(skill).is_ok());
            let resources = index.into_iter().chain(readable.map(|skill| resource::resource(skill))).collect();
            Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(resources) })
        })
        .await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let result = self.blocking(&context, move |session| resource::read(session, &request.uri)).await?;
        Ok(result.into())
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        self.blocking(&context, move |session| {
            let (skills, next_cursor) = page(offered(&session.catalogue()), key, request.as_ref())?;
            let readable = skills.iter().filter(|skill| session.may_read(skill).is_ok());
            let skills = readable.filter_map(|skill| resource::listed(session, skill)).collect();
            Ok(ListSkillsResult { next_cursor, ..ListSkillsResult::with_all_items(skills) })
        })
        .await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        self.blocking(&context, move |session| {
            let found = of_uri(&session.catalogue(), &request.uri);
            let listed = match found {
                Some((skill, _)) => resource::got(session, &skill)?,
                None => None,
            };
            listed.map(GetSkillResult::new).ok_or_else(|| {
                let message = format!("there is no skill `{}`", crate::finding::shown(&request.uri));
                ErrorData::invalid_params(message, None)
            })
        })
        .await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.blocking(&context, move |session| {
            let (skills, next_cursor) = page(typed(&session.catalogue()), key, request.as_ref())?;
            let prompts = skills.iter().map(|skill| prompt::definition(skill)).collect();
            Ok(ListPromptsResult { next_cursor, ..ListPromptsResult::with_all_items(prompts) })
        })
        .await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let session = self.session(&context);
        let found = typed(&session.catalogue()).into_iter().find(|skill| skill.id.command.as_str() == request.name);
        let Some(skill) = found else {
            let message = format!("there is no prompt `{}`", crate::finding::shown(&request.name));
            return Err(ErrorData::invalid_params(message, None));
        };
        let by_name = session.roots().call_body(&skill).is_some();
        let arguments = prompt::typed(&skill, request.arguments.as_ref(), by_name)?;
        let wanted = Wanted { name: request.name, arguments, invoker: Invoker::User };
        let reply = Reply { state: request.request_state, responses: request.input_responses };
        match self.invoke(&context, wanted, reply).await.map_err(|refused| refused.error())? {
            Outcome::Done(invocation) => Ok(prompt::result(&skill, &invocation).into()),
            Outcome::Asks(question) => Ok(question.into()),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // Clients of older protocols are told without asking for it.
        tokio::spawn(tell_of_changes(self.served.changes.subscribe(), self.ended.clone(), context.peer));
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let ours =
            SubscriptionFilter::builder().tools_list_changed().prompts_list_changed().resources_list_changed().build();
        Some(requested.intersection(&ours))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.served.changes.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.ended.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    if changed.is_err() {
                        return Ok(());
                    }
                }
            }
            let (sink, accepted) = (context.sink(), context.accepted());
            let told = [
                (accepted.tools_list_changed == Some(true)).then_some(Told::Tools),
                (accepted.prompts_list_changed == Some(true)).then_some(Told::Prompts),
                (accepted.resources_list_changed == Some(true)).then_some(Told::Resources),
            ];
            for list in told.into_iter().flatten() {
                let sent = match list {
                    Told::Tools => sink.notify_tool_list_changed().await,
                    Told::Prompts => sink.notify_prompt_list_changed().await,
                    Told::Resources => sink.notify_resource_list_changed().await,
                };
                if sent.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

enum Told {
    Tools,
    Prompts,
    Resources,
}

impl Conversation {
    /// Does something with the session that reads files or takes time, beside the tasks that speak with clients.
    async fn blocking<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        act: impl FnOnce(&Session) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let open = self.open().map_err(|busy| busy.error())?;
        let session: Arc<Session> = self.session(context);
        let acted = move || {
            let result = act(&session);
            // Also when nobody waits for it any more, it is one of those that are at work.
            drop(open);
            result
        };
        let done = tokio::task::spawn_blocking(acted).await;
        done.unwrap_or_else(|_| Err(Refused::new("bug", "the request ended in a bug of Skillgate").error()))
    }
}

async fn tell_of_changes(
    mut changes: tokio::sync::watch::Receiver<u64>,
    ended: tokio_util::sync::CancellationToken,
    peer: Peer<RoleServer>,
) {
    loop {
        tokio::select! {
            () = ended.cancelled() => return,
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
        let told = async {
            peer.notify_tool_list_changed().await?;
            peer.notify_resource_list_changed().await?;
            peer.notify_prompt_list_changed().await
        };
        if told.await.is_err() {
            return;
        }
    }
}
