use super::fixture::{TestClient, Watched, allow, arguments, connected, runtime, server, serving};
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams, PaginatedRequestParams,
    ReadResourceRequestParams, ResourceContents, SkillResources,
};
use serde_json::{Value, json};
use skillgate_policy::{Defaults, Host};
use skillgate_runtime::Runtime;

const GREET: (&str, &str) = (
    "greet",
    "---\nname: greet\ndescription: Greets.\narguments: [who, how]\nmetadata:\n  team: x\n---\nHello $who, $how!\n",
);
const HIDDEN: (&str, &str) = ("hidden", "---\ndescription: Hidden.\nuser-invocable: false\n---\nText.\n");
const MANUAL: (&str, &str) = ("manual", "---\ndescription: Manual.\ndisable-model-invocation: true\n---\n$ARGUMENTS\n");

async fn read(client: &super::fixture::Client, uri: &str) -> String {
    let result = client.read_resource(ReadResourceRequestParams::new(uri)).await.expect("a resource");
    match result.contents.as_slice() {
        [ResourceContents::TextResourceContents { text, uri: of, .. }] if of == uri => text.clone(),
        other => unreachable!("one text for the URI: {other:?}"),
    }
}

#[tokio::test]
async fn the_tools_have_schemas_and_name_what_a_model_is_offered() {
    let client = connected(&serving(&[GREET, MANUAL]), TestClient::default()).await;
    let tools = client.list_tools(None).await.expect("tools").tools;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["DiscoverSkills", "Skill"]);
    assert_eq!(tools[0].input_schema["required"], json!(["description"]));
    assert_eq!(tools[1].input_schema["properties"]["skill"]["type"], "string");
    let description = tools[1].description.as_deref().expect("a description");
    assert!(description.contains("- greet: Greets.") && !description.contains("manual"), "{description}");
}

#[tokio::test]
async fn skills_are_resources_with_an_index_and_reading_runs_nothing() {
    let client = connected(&serving(&[GREET, HIDDEN, MANUAL]), TestClient::default()).await;
    let resources = client.list_resources(None).await.expect("resources").resources;
    let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(uris, ["skill://index.json", "skill://greet/SKILL.md", "skill://hidden/SKILL.md"]);
    assert_eq!(read(&client, "skill://greet/SKILL.md").await, GREET.1);
    let index: Value = serde_json::from_str(&read(&client, "skill://index.json").await).expect("JSON");
    assert_eq!(index["skills"][0]["url"], "skill://greet/SKILL.md");
    for uri in ["skill://manual/SKILL.md", "skill://none/SKILL.md", "file:///etc/passwd", "skill://greet/../../x", ""] {
        assert!(client.read_resource(ReadResourceRequestParams::new(uri)).await.is_err(), "{uri}");
    }
}

#[tokio::test]
async fn the_list_of_skills_is_of_those_that_keep_its_rules() {
    let skills = [GREET, HIDDEN, ("Two Words", "---\nname: Two Words\ndescription: Odd.\n---\nText.\n")];
    let client = connected(&serving(&skills), TestClient::default()).await;
    let listed = client.list_skills(None).await.expect("skills").skills;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0].frontmatter.extra["metadata"], json!({"team": "x"}));
    let SkillResources::Files(files) = &listed[0].resources else { unreachable!("files") };
    assert!(files[0].verify(GREET.1.as_bytes()).is_ok());
    let got = client.get_skill(GetSkillRequestParams::new("skill://greet/SKILL.md")).await.expect("a skill").skill;
    assert_eq!(got, listed[0]);
    assert!(client.get_skill(GetSkillRequestParams::new("skill://none/SKILL.md")).await.is_err());
}

#[tokio::test]
async fn the_files_of_a_skill_are_resources_too() {
    let home = tempfile::tempdir().expect("a directory");
    let skill = home.path().join(".claude/skills/paint");
    #[expect(clippy::disallowed_methods, reason = "the fixture of a test")]
    {
        std::fs::create_dir_all(skill.join("data")).expect("a directory");
        std::fs::write(skill.join("SKILL.md"), "---\nname: paint\ndescription: Paints.\n---\nPaint.\n")
            .expect("a file");
        std::fs::write(skill.join("data/a b.md"), "colours").expect("a file");
        std::fs::write(skill.join("data/x.bin"), [0, 255]).expect("a file");
    }
    let runtime =
        Runtime::builder(Host::new([], Defaults::BuiltIn), Watched::new()).home(home.path()).open().expect("a runtime");
    let client = connected(&server(runtime), TestClient::default()).await;
    let listed = client.list_skills(None).await.expect("skills").skills;
    let SkillResources::Files(files) = &listed[0].resources else { unreachable!("files") };
    let uris: Vec<&str> = files.iter().map(|file| file.uri.as_str()).collect();
    assert_eq!(uris, ["skill://paint/SKILL.md", "skill://paint/data/a%20b.md", "skill://paint/data/x.bin"]);
    assert_eq!(read(&client, "skill://paint/data/a%20b.md").await, "colours");
    let binary =
        client.read_resource(ReadResourceRequestParams::new("skill://paint/data/x.bin")).await.expect("a file");
    assert!(matches!(&binary.contents[0], ResourceContents::BlobResourceContents { blob, .. } if blob == "AP8="));
    for uri in ["skill://paint/data", "skill://paint/../paint/SKILL.md", "skill://paint/none"] {
        assert!(client.read_resource(ReadResourceRequestParams::new(uri)).await.is_err(), "{uri}");
    }
}

#[tokio::test]
async fn prompts_are_what_a_user_may_type_with_their_arguments() {
    let client = connected(&serving(&[GREET, HIDDEN, MANUAL]), TestClient::default()).await;
    let prompts = client.list_prompts(None).await.expect("prompts").prompts;
    let told: Vec<(String, Vec<String>)> = prompts
        .into_iter()
        .map(|prompt| (prompt.name, prompt.arguments.into_iter().flatten().map(|argument| argument.name).collect()))
        .collect();
    assert_eq!(
        told,
        [
            ("greet".to_owned(), vec!["who".to_owned(), "how".to_owned()]),
            ("manual".to_owned(), vec!["arguments".to_owned()])
        ]
    );
    for (name, given, expected) in [
        ("greet", json!({"who": "Ada's cat", "how": "$who"}), Ok("Hello Ada's cat, $who!\n")),
        ("greet", json!({"how": "there"}), Ok("Hello , there!\n")),
        ("manual", json!({"arguments": "as typed"}), Ok("as typed\n")),
        ("greet", json!({"other": "x"}), Err("no argument")),
        ("greet", json!({"who": 5}), Err("no text")),
        ("hidden", json!({}), Err("no prompt `hidden`")),
    ] {
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = Some(arguments(given.clone()));
        match (client.get_prompt_once(params).await, expected) {
            (Ok(GetPromptResponse::Complete(result)), Ok(expected)) => {
                let text = result.messages[0].content.as_text().expect("text").text.clone();
                assert!(text.ends_with(expected), "{given}: {text}");
            }
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{given}: {error}"),
            (other, _) => unreachable!("{given}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn long_lists_come_in_pages_that_together_are_the_list() {
    let skills: Vec<(String, String)> = (0..250)
        .map(|n| (format!("s{n:03}"), format!("---\nname: s{n:03}\ndescription: Skill {n}.\n---\nText.\n")))
        .collect();
    let skills: Vec<(&str, &str)> = skills.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let client = connected(&serving(&skills), TestClient::default()).await;
    let mut cursor = None;
    let mut uris = Vec::new();
    let mut pages = 0;
    loop {
        let page =
            client.list_resources(Some(PaginatedRequestParams::default().with_cursor(cursor))).await.expect("a page");
        uris.extend(page.resources.into_iter().map(|resource| resource.uri));
        pages += 1;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((pages, uris.len()), (3, 251));
    assert_eq!(client.list_all_prompts().await.expect("prompts").len(), 250);
    assert_eq!(client.list_all_skills().await.expect("skills").len(), 250);
}

#[tokio::test]
async fn ten_thousand_skills_are_resources_in_pages() {
    let skills: Vec<(String, String)> = (0..10_000)
        .map(|n| (format!("s{n:05}"), format!("---\nname: s{n:05}\ndescription: Skill {n}.\n---\nText.\n")))
        .collect();
    let skills: Vec<(&str, &str)> = skills.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let client = connected(&serving(&skills), TestClient::default()).await;
    let all = client.list_all_resources().await.expect("resources");
    assert_eq!(all.len(), 10_001);
    assert_eq!(all.last().map(|last| last.uri.as_str()), Some("skill://s09999/SKILL.md"));
}

/// Skills of which the first is read only when it is let.
#[derive(Debug)]
struct Slow {
    skills: Vec<(String, String)>,
    body: skillgate_runtime::LazyBody,
}

impl skillgate_runtime::SkillSource for Slow {
    fn source(&self) -> skillgate_core::Source {
        skillgate_core::Source::Bundled
    }

    fn texts(&self) -> Vec<skillgate_runtime::HeldSkill> {
        super::fixture::Texts(skillgate_core::Source::Bundled, self.skills.clone()).texts()
    }

    fn extras(&self, name: &str) -> skillgate_runtime::HeldExtras {
        let body = (name == "a").then(|| self.body.clone());
        skillgate_runtime::HeldExtras { body, ..skillgate_runtime::HeldExtras::default() }
    }
}

#[tokio::test]
async fn a_list_of_a_thousand_skills_holds_up_no_other_call() {
    let (let_go, waits) = std::sync::mpsc::channel::<()>();
    let (waits, reads) = (std::sync::Mutex::new(waits), std::sync::Arc::new(tokio::sync::Notify::new()));
    let began = std::sync::Arc::clone(&reads);
    let body = skillgate_runtime::LazyBody::new(move || {
        began.notify_one();
        // Until the other end is dropped.
        let _let = waits.lock().map(|waits| waits.recv());
        Ok("Slow.\n".to_owned())
    });
    let text = |name: &str| (name.to_owned(), format!("---\nname: {name}\ndescription: Skill {name}.\n---\n"));
    let mut skills = vec![text("a")];
    skills.extend((0..1_000).map(|n| text(&format!("s{n:03}"))));
    skills.push(("greet".to_owned(), GREET.1.to_owned()));
    let builder = Runtime::builder(Host::new([allow("Bash(echo:*)")], Defaults::BuiltIn), Watched::new());
    let runtime = builder.source(std::sync::Arc::new(Slow { skills, body })).open().expect("a runtime");
    let client = connected(&server(runtime), TestClient::default()).await;
    let listing = client.list_all_skills();
    let meanwhile = async {
        reads.notified().await;
        let input = json!({"skill": "greet", "args": "Ada"});
        let greeted = super::fixture::call(&client, "Skill", input).await.expect("a result");
        assert!(super::fixture::text(&greeted).contains("Hello Ada"), "{greeted:?}");
        drop(let_go);
    };
    let (listed, ()) = tokio::join!(listing, meanwhile);
    assert_eq!(listed.expect("skills").len(), 1_002);
}

#[tokio::test]
async fn a_skill_that_changes_after_it_was_listed_is_given_as_it_is_or_not_at_all() {
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join(".claude/skills/paint/SKILL.md");
    #[expect(clippy::disallowed_methods, reason = "the fixture of a test")]
    let write = |description: &str, body: &str| {
        std::fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
        let text = format!("---\nname: paint\ndescription: {description}\n---\n{body}\n");
        std::fs::write(&file, &text).expect("a file");
        text
    };
    write("Paints.", "Paint.");
    let runtime =
        Runtime::builder(Host::new([], Defaults::BuiltIn), Watched::new()).home(home.path()).open().expect("a runtime");
    let client = connected(&server(runtime), TestClient::default()).await;
    let uri = "skill://paint/SKILL.md";
    let then = client.list_skills(None).await.expect("skills").skills.remove(0);

    // Another body: the text and what is said of it go together.
    let text = write("Paints.", "Paint it blue.");
    assert_eq!(read(&client, uri).await, text);
    let now = client.get_skill(GetSkillRequestParams::new(uri)).await.expect("a skill").skill;
    assert_ne!(now, then);
    let SkillResources::Files(files) = &now.resources else { unreachable!("files") };
    assert!(files[0].verify(text.as_bytes()).is_ok());

    // Another header is another skill than the one that was listed.
    write("Paints everything.", "Paint.");
    let error = client.read_resource(ReadResourceRequestParams::new(uri)).await.expect_err("another skill");
    assert!(error.to_string().contains("changed since it was loaded"), "{error}");
    #[expect(clippy::disallowed_methods, reason = "the fixture of a test")]
    std::fs::remove_file(&file).expect("ours");
    let error = client.read_resource(ReadResourceRequestParams::new(uri)).await.expect_err("it is gone");
    assert!(error.to_string().contains("gone since it was loaded"), "{error}");
}

#[tokio::test]
async fn clients_are_told_when_the_skills_change_and_see_the_new_ones() {
    let rules = || vec![allow("Bash(echo:*)")];
    let server = server(runtime(Watched::new(), rules(), &[GREET]));
    let told = TestClient::default();
    let client = connected(&server, told.clone()).await;
    assert_eq!(client.list_all_prompts().await.expect("prompts").len(), 1);
    let hears = told.changed.notified();
    tokio::pin!(hears);
    // The server begins to tell after the handshake, so one change may come before that.
    loop {
        server.replace(runtime(Watched::new(), rules(), &[GREET, MANUAL]));
        tokio::select! {
            () = &mut hears => break,
            answer = client.list_tools(None) => drop(answer.expect("tools")),
        }
    }
    assert_eq!(client.list_all_prompts().await.expect("prompts").len(), 2);
}

#[tokio::test]
async fn what_a_reload_finds_is_told_and_seen_in_the_same_conversation() {
    let home = tempfile::tempdir().expect("a directory");
    #[expect(clippy::disallowed_methods, reason = "the fixture of a test")]
    let write = |name: &str, description: &str| {
        let directory = home.path().join(".claude/skills").join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        let text = format!("---\nname: {name}\ndescription: {description}\n---\nText of {description}\n");
        std::fs::write(directory.join("SKILL.md"), text).expect("a file");
    };
    write("paint", "Paints.");
    let runtime =
        Runtime::builder(Host::new([], Defaults::BuiltIn), Watched::new()).home(home.path()).open().expect("a runtime");
    let server = server(std::sync::Arc::clone(&runtime));
    let told = TestClient::default();
    let client = connected(&server, told.clone()).await;
    let names = async || -> Vec<String> {
        let prompts = client.list_all_prompts().await.expect("prompts");
        prompts.into_iter().map(|prompt| prompt.name).collect()
    };
    assert_eq!(names().await, ["paint"]);
    assert_eq!(runtime.sessions(), 1);
    write("paint", "Paints everything.");
    let hears = told.changed.notified();
    tokio::pin!(hears);
    // The server begins to tell after the handshake, so one reload may come before that.
    for number in 0.. {
        write(&format!("new-{number}"), "New.");
        runtime.reload().expect("nothing was named");
        tokio::select! {
            () = &mut hears => break,
            answer = client.list_tools(None) => drop(answer.expect("tools")),
        }
    }
    assert_eq!(names().await[0], "new-0");
    assert_eq!(runtime.sessions(), 1, "the conversation went on");
    let text = read(&client, "skill://paint/SKILL.md").await;
    assert!(text.ends_with("Text of Paints everything.\n"), "{text}");
    assert!(runtime.reload().expect("nothing was named").is_empty());
}
