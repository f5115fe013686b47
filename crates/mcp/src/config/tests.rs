use super::*;

fn read(text: &str) -> McpConfig {
    let variable = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
    let program = |name: &str| (name != "nowhere").then(|| format!("/bin/{name}"));
    McpConfig::parse(text, Lookups { variable: &variable, program: &program }).expect("the file can be read")
}

/// The problems as `line:column message`.
fn problems(text: &str) -> Vec<String> {
    let told = |problem: &ConfigProblem| {
        let kind = if problem.is_error { "" } else { "note: " };
        format!("{}:{} {kind}{}", problem.line, problem.column, problem.message)
    };
    read(text).problems.iter().map(told).collect()
}

#[test]
fn both_kinds_of_servers_are_read() {
    let config = read(
        r#"{
  "theme": "dark",
  "mcpServers": {
    "files": { "command": "mcp-files", "args": ["--root", "."], "env": { "KEY": "${TOKEN}" } },
    "web":   { "type": "http", "url": "https://example.test/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } },
    "local": { "url": "http://127.0.0.1:8080/mcp" },
    "off":   { "command": "x", "disabled": true }
  }
}"#,
    );
    assert_eq!(config.problems, []);
    assert_eq!(config.disabled, ["off"]);
    let names: Vec<&str> = config.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["files", "local", "web"]);
    assert_eq!(
        config.servers[0].transport,
        ServerTransport::Stdio {
            command: "/bin/mcp-files".to_owned(),
            args: vec!["--root".to_owned(), ".".to_owned()],
            env: BTreeMap::from([("KEY".to_owned(), "s3cret".to_owned())]),
        }
    );
    assert!(!format!("{config:?}").contains("s3cret"), "values of variables and headers are secrets");
}

#[test]
fn what_is_wrong_with_one_server_is_said_with_its_place_and_touches_no_other() {
    let text = r#"{ "mcpServers": {
  "good": { "command": "x" },
  "a": { "command": 5 },
  "b": { "command": "x", "args": "y" },
  "c": { "command": "x", "url": "https://e.test" },
  "d": {},
  "e": { "type": "sse", "url": "https://e.test" },
  "f": { "url": "http://e.test/mcp" },
  "g": { "url": "ftp://e.test" },
  "h": { "command": "x", "env": { "A": "${NOT_SET}" } },
  "i": { "command": "x", "command": "y" },
  "j": { "command": "x", "autoApprove": [] },
  "k": { "url": "https://e.test", "headers": { "Bad Name": "x" } },
  "l": [],
  "m": { "command": "x", "env": { "A=B": "c" } },
  "n": { "command": "nowhere" },
  "o": { "command": "/opt/x" }
} }"#;
    assert_eq!(
        problems(text),
        [
            "3:10 `command` is not a text",
            "4:26 `args` is not a list of texts",
            "5:3 it has both `command` and `url`",
            "6:3 it has neither `command` nor `url`",
            "7:10 `sse` is an older transport that is not spoken",
            "8:10 a server that is not on this machine is reached over https only",
            "9:10 the address is neither https:// nor http://",
            "10:35 the variable `NOT_SET` is not set",
            "11:26 `command` stands twice",
            "12:26 note: `autoApprove` is not used",
            "13:48 this cannot be a header of a request",
            "14:3 it is not an object",
            "15:35 this cannot be the name of a variable",
            "16:10 there is no program `nowhere`",
        ]
    );
    let names: Vec<String> = read(text).servers.into_iter().map(|server| server.name).collect();
    assert_eq!(names, ["good", "j", "o"]);
}

#[test]
fn names_that_become_one_or_deceive_are_refused() {
    let text = "{\"mcpServers\": {\n\"a b\": {\"command\": \"x\"},\n\"a_b\": {\"command\": \"x\"},\n\"\\u202e\": {\"command\": \"x\"},\n\"--\": {\"command\": \"x\"}}}";
    assert_eq!(
        problems(text),
        [
            "3:1 in the names of skills it would be `a_b`, as `a b` is",
            "4:1 the server's name cannot stand in the names of skills",
        ]
    );
}

#[test]
fn a_file_that_gives_nothing_says_why() {
    let none = Lookups { variable: &|_| None, program: &|_| None };
    let error = McpConfig::parse("{\n  \"mcpServers\": {,}\n}", none).expect_err("no JSON");
    assert_eq!(error, ConfigError::Syntax { line: 2, column: 18, reason: "key must be a string".to_owned() });
    let error = McpConfig::parse(r#"{"servers": {}}"#, none).expect_err("other key");
    assert_eq!(
        (error.help(), error.to_string().as_str()),
        ("rename `servers` to `mcpServers`", "there is no object `mcpServers`; there is one `servers`")
    );
    let error = McpConfig::parse(&" ".repeat(MAX_BYTES + 1), none).expect_err("too large");
    assert_eq!(error, ConfigError::TooLarge(MAX_BYTES + 1));
    let many: Vec<String> = (0..=MAX_SERVERS).map(|n| format!("\"s{n}\": {{\"command\": \"x\"}}")).collect();
    let error = McpConfig::parse(&format!("{{\"mcpServers\": {{{}}}}}", many.join(",")), none).expect_err("too many");
    assert_eq!(error, ConfigError::TooManyServers(MAX_SERVERS + 1));
}

#[test]
fn a_whole_command_line_and_what_other_agents_fill_in_are_answered_with_what_to_write() {
    let text = r#"{"mcpServers": {
        "line": {"command": "npx -y @x/server"},
        "header": {"url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${input:token}"}},
        "folder": {"command": "/bin/x", "args": ["${workspaceFolder}"], "cwd": "/tmp"}
    }}"#;
    let config = McpConfig::parse(text, Lookups { variable: &|_| None, program: &|_| None }).expect("it can be read");
    let help = |server: &str| {
        let of = config.problems.iter().filter(|problem| problem.server == server);
        of.filter_map(|problem| problem.help.clone()).collect::<Vec<_>>().join(" | ")
    };
    assert!(help("line").contains("\"command\": \"npx\", and each further word in `args`"), "{}", help("line"));
    assert!(help("header").contains("write the value, or ${NAME}"), "{}", help("header"));
    assert!(help("folder").contains("whole paths in `args`"), "{}", help("folder"));
    assert!(config.servers.iter().all(|server| server.name == "folder"), "{:?}", config.servers);
}
