use super::*;
use crate::invocation::AuthorityReport;
use skillgate_core::{CommandName, Source};

fn id(name: &str) -> SkillId {
    SkillId::new(Source::Project, CommandName::new(name).expect("a name"))
}

fn request(skill: &str, prompt: impl Into<String>) -> ForkRequest {
    ForkRequest {
        id: "fork-1".to_owned(),
        agent: AgentId::new("fork-1").expect("a name"),
        skill: id(skill),
        chain: SkillChain::new().enter(&id(skill)).expect("it is the first"),
        prompt: prompt.into(),
        authority: AuthorityReport { host: Vec::new(), caveats: Vec::new(), effective: Vec::new() },
        model: None,
        effort: None,
        kind: None,
    }
}

/// Complaint 74: a fork calls itself for ever.
#[test]
fn row_74_no_skill_runs_in_itself_and_no_chain_is_endless() {
    let chain = SkillChain::new().enter(&id("a")).and_then(|chain| chain.enter(&id("b"))).expect("they are two");
    let error = chain.enter(&id("a")).expect_err("it runs already");
    assert_eq!(error.to_string(), "`project:a` is running already and would call itself (project:a > project:b)");
    assert!(error.help().contains("take the skill's own name out of its text"));
    let other = SkillId { source: Source::User, ..id("a") };
    assert!(chain.enter(&other).is_ok(), "a skill of another source is another one");
    let mut long = SkillChain::new();
    for at in 0..MAX_CHAIN {
        long = long.enter(&id(&format!("s{at}"))).expect("not too deep");
    }
    assert!(matches!(long.enter(&id("last")), Err(RecursionError::TooDeep { .. })));
}

#[derive(Debug)]
struct Kinds(Option<Vec<String>>);

impl AgentRunner for Kinds {
    fn kinds(&self) -> Option<Vec<String>> {
        self.0.clone()
    }

    fn run(
        &self,
        _: &ForkRequest,
        _: &(dyn Fn(ForkProgress) + Sync),
        _: &CancelToken,
    ) -> Result<AgentOutput, AgentError> {
        Ok(AgentOutput::default())
    }
}

/// Complaint 75: a fork is not honoured, or degraded without a sign.
#[test]
fn row_75_an_unknown_agent_is_named_waiting_says_why_and_a_result_is_delivered_once() {
    let known = Kinds(Some(vec!["explore".to_owned(), "plan".to_owned()]));
    let error = check_kind(&known, Some("nope")).expect_err("there is none");
    assert_eq!(error.to_string(), "there is no agent `nope`; there are explore, plan");
    for (runner, kind) in [(&known, Some("plan")), (&known, None), (&Kinds(None), Some("nope"))] {
        assert!(check_kind(runner, kind).is_ok(), "{runner:?} {kind:?}");
    }

    for (background, delivers, runs, expected) in [
        (None, true, false, Ok(())),
        (Some(true), true, false, Ok(())),
        (Some(false), true, false, Err(WaitReason::Skill)),
        (None, false, false, Err(WaitReason::HostCannotDeliver)),
        (Some(true), false, true, Err(WaitReason::HostCannotDeliver)),
        (None, true, true, Err(WaitReason::SameSkillRuns)),
    ] {
        let expected = expected.map_or_else(|because| ForkMode::Wait { because }, |()| ForkMode::Background);
        assert_eq!(fork_mode(background, delivers, runs), expected, "{background:?} {delivers} {runs}");
    }

    let mut pending = PendingForks::new();
    let (first, agent) = pending.next_id();
    assert_ne!(first, pending.next_id().0);
    pending.begin(ForkRequest { id: first.clone(), agent, ..request("a", "") }, CancelToken::new());
    assert!(pending.runs(&id("a")) && !pending.runs(&id("b")));
    assert_eq!(pending.deliver("nobody"), Err(DeliveryError::Unknown { id: "nobody".to_owned() }));
    assert_eq!(pending.deliver(&first).map(|request| request.skill), Ok(id("a")));
    assert_eq!(pending.deliver(&first), Err(DeliveryError::Ended { id: first }));
    assert!(!pending.runs(&id("a")) && pending.is_empty());
}

#[test]
fn stopping_a_skill_stops_what_runs_in_it_and_nothing_else() {
    let mut pending = PendingForks::new();
    let mut begin = |skill: &str, chain: &SkillChain| {
        let (id, agent) = pending.next_id();
        let cancel = CancelToken::new();
        let chain = chain.enter(&self::id(skill)).expect("not in it");
        pending.begin(ForkRequest { id, agent, chain: chain.clone(), ..request(skill, "") }, cancel.clone());
        (chain, cancel)
    };
    let (outer, outer_token) = begin("outer", &SkillChain::new());
    let (_, inner_token) = begin("inner", &outer);
    let (_, other_token) = begin("other", &SkillChain::new());
    let stopped: Vec<SkillId> = pending.stop(&id("outer")).into_iter().map(|request| request.skill).collect();
    assert_eq!(stopped, [id("outer"), id("inner")]);
    let set = [&outer_token, &inner_token, &other_token].map(CancelToken::is_cancelled);
    assert_eq!(set, [true, true, false]);
    assert_eq!(pending.deliver("fork-1"), Err(DeliveryError::Ended { id: "fork-1".to_owned() }), "it came too late");
    let agent = pending.get("fork-3").expect("it runs").agent.clone();
    assert_eq!(pending.of_agent(&agent).map(|request| &request.skill), Some(&id("other")));
    assert!(pending.clear(&[agent]).is_empty() && pending.len() == 1);
    assert_eq!(pending.clear(&[]).len(), 1);
    assert!(other_token.is_cancelled());
}

#[cfg(unix)]
mod process {
    use super::*;
    use std::io::Read as _;
    use std::sync::Mutex;
    use std::time::Duration;

    fn shell(script: &str) -> ProcessRunner {
        let runner = ProcessRunner::new("/bin/sh").expect("absolute").argument("-c").argument(script);
        runner.variable("PATH", "/usr/bin:/bin")
    }

    fn run(runner: &ProcessRunner, request: &ForkRequest) -> Result<String, AgentError> {
        runner.run(request, &|_| {}, &CancelToken::new()).map(|output| result_text(&output))
    }

    #[test]
    fn the_prompt_is_read_from_standard_input_and_the_result_is_what_is_printed() {
        let prompt = "Review this, läßt du es?\n".repeat(40_000);
        assert_eq!(run(&shell("cat"), &request("a", prompt.as_str())).expect("it ran").len(), result_len(&prompt));
        assert_eq!(run(&shell("wc -c | tr -d ' '"), &request("a", "four")).expect("it ran"), "4");
        assert_eq!(run(&shell("exit 0"), &request("a", prompt)).expect("it need not read"), COMPLETED);
        let coloured = "printf 'a\\033[31mb\\033[0m\\n'";
        assert_eq!(run(&shell(coloured), &request("a", "")).expect("it ran"), "ab", "nothing acts on a terminal");
    }

    fn result_len(prompt: &str) -> usize {
        result_text(&AgentOutput { messages: vec![prompt.to_owned()] }).len()
    }

    #[test]
    fn it_sees_what_the_host_gives_it_and_what_the_skill_asks_for() {
        let asking = ForkRequest {
            kind: Some("explore".to_owned()),
            model: Some("small".to_owned()),
            effort: Some(Effort::Number(7)),
            ..request("a", "")
        };
        let expected = "PATH=/usr/bin:/bin\nSKILLGATE_AGENT=explore\nSKILLGATE_EFFORT=7\nSKILLGATE_MODEL=small\n\
            SKILLGATE_SKILL_CHAIN=[\"project:a\"]\nTOKEN=t";
        let runner =
            shell("env | grep -v -e '^PWD=' -e '^_=' -e '^SHLVL=' -e '^OLDPWD=' | sort").variable("TOKEN", "t");
        assert_eq!(run(&runner, &asking).expect("it ran"), expected);
        let plain = ForkRequest { effort: Some(Effort::High), ..request("a", "") };
        assert_eq!(run(&shell("echo $SKILLGATE_EFFORT $SKILLGATE_MODEL"), &plain).expect("it ran"), "high");
        let unknown = run(&shell("echo").kinds(["plan"]), &asking).expect_err("no such agent");
        assert_eq!(unknown.code(), "fork-unknown-agent");
        let confined = ProcessRunner::new("/bin/echo").expect("absolute").argument("agent");
        let confined = confined.confined_by("/usr/bin/env", ["WALL=1"]).expect("absolute");
        assert_eq!(run(&confined, &request("a", "")).expect("it ran"), "agent");
        assert!(shell("").confined_by("bwrap", [""; 0]).is_err());
    }

    #[test]
    fn a_failure_says_its_status_and_the_end_of_standard_error() {
        let failed = run(&shell("echo partial; echo first >&2; echo no key >&2; exit 3"), &request("a", ""));
        assert_eq!(failed.expect_err("it failed").to_string(), "the agent failed (exit status: 3): first\nno key");
        let killed = run(&shell("kill -9 $$"), &request("a", "")).expect_err("it failed").to_string();
        assert!(killed.contains("signal: 9"), "{killed}");
        let missing = ProcessRunner::new("/nonexistent/agent").expect("absolute");
        assert_eq!(run(&missing, &request("a", "")).expect_err("there is none").code(), "fork-unavailable");
    }

    #[test]
    fn one_that_never_ends_or_never_stops_talking_is_stopped() {
        let hanging =
            shell("trap '' TERM; while :; do sleep 1000; done").deadline(Duration::ZERO).grace(Duration::ZERO);
        assert_eq!(run(&hanging, &request("a", "")).expect_err("too long").code(), "fork-too-long");
        for script in ["yes", "yes >&2"] {
            let error = run(&shell(script).max_output_bytes(100_000), &request("a", "")).expect_err("too much");
            assert!(matches!(error, AgentError::TooMuch { limit: 100_000 }), "{script}: {error}");
        }
        let stopped = CancelToken::new();
        stopped.cancel();
        let error = shell("echo").run(&request("a", ""), &|_| {}, &stopped).expect_err("stopped before");
        assert_eq!(error.code(), "fork-cancelled");
    }

    #[test]
    fn progress_is_told_by_lines_and_stopping_ends_the_whole_group() {
        let place = tempfile::tempdir().expect("a directory");
        let fifo = place.path().join("alive");
        // The one in the background holds the pipe open until it is gone.
        let script = "mkfifo alive; { trap '' TERM; sleep 1000; } > alive & echo log >&2; printf 'be'; echo gun; wait";
        let runner = shell(script).directory(place.path()).grace(Duration::ZERO);
        let cancel = CancelToken::new();
        let (told, alive) = (Mutex::new(Vec::new()), Mutex::new(None));
        let progress = |event: ForkProgress| {
            if event == (ForkProgress::Message { text: "begun\n".to_owned() }) {
                let mut options = std::fs::OpenOptions::new();
                options.read(true);
                #[expect(clippy::disallowed_methods, reason = "the test looks at who is alive")]
                let reader = options.open(&fifo).expect("the one in the background writes to it");
                *alive.lock().expect("no panic") = Some(reader);
                cancel.cancel();
            }
            told.lock().expect("no panic").push(event);
        };
        let error = runner.run(&request("a", ""), &progress, &cancel).expect_err("it was stopped");
        assert!(matches!(error, AgentError::Cancelled), "{error}");
        let mut rest = String::new();
        let mut reader = alive.into_inner().expect("no panic").expect("it began");
        reader.read_to_string(&mut rest).expect("it ends, because nobody holds it");
        let told = told.into_inner().expect("no panic");
        assert_eq!(told.first(), Some(&ForkProgress::Started));
        assert!(told.contains(&ForkProgress::Message { text: "begun\n".to_owned() }), "{told:?}");
    }
}
