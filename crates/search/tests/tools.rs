//! The search for deferred tools: each rule of the description it comes from is one test.

use skillgate_search::{ToolInfo, ToolSearch};

fn tool(name: &str, description: &str) -> ToolInfo {
    ToolInfo {
        name: name.to_owned(),
        description: description.to_owned(),
        is_mcp: name.starts_with("mcp__"),
        should_defer: true,
        ..ToolInfo::default()
    }
}

fn names(search: &ToolSearch, query: &str) -> Vec<String> {
    search.search(query, 5).tools.into_iter().map(|tool| tool.name.clone()).collect()
}

fn host() -> ToolSearch {
    ToolSearch::new(vec![
        ToolInfo { should_defer: false, ..tool("Read", "Reads a file") },
        tool("NotebookEdit", "Edits a cell of a jupyter notebook"),
        tool("WebFetch", "Gets a page and reads it"),
        tool("mcp__slack__send_message", "Sends a message to a channel"),
        tool("mcp__slack__list_channels", "Lists channels"),
        tool("mcp__mail__send", "Sends an electronic letter"),
    ])
}

#[test]
fn a_tool_that_is_always_loaded_is_never_deferred() {
    let tool = ToolInfo { always_load: true, is_mcp: true, ..tool("mcp__a__b", "") };
    assert!(!tool.is_deferred());
}

#[test]
fn a_tool_of_a_server_is_always_deferred() {
    assert!(ToolInfo { should_defer: false, ..tool("mcp__a__b", "") }.is_deferred());
}

#[test]
fn the_search_itself_is_never_deferred() {
    assert!(!tool("ToolSearch", "").is_deferred());
}

#[test]
fn any_other_tool_is_deferred_as_the_host_says() {
    assert!(tool("WebFetch", "").is_deferred());
    assert!(!ToolInfo { should_defer: false, ..tool("Read", "") }.is_deferred());
}

#[test]
fn select_takes_tools_by_name_deferred_or_not_and_names_the_unknown() {
    let host = host();
    let found = host.search("select:WebFetch, read ,Nothing,WebFetch", 5);
    assert_eq!(found.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["WebFetch", "Read"]);
    assert_eq!(found.unknown, ["Nothing"]);
    assert_eq!(names(&host, "SELECT:webfetch"), ["WebFetch"]);
}

#[test]
fn an_exact_name_is_the_only_answer() {
    assert_eq!(names(&host(), "mcp__mail__send"), ["mcp__mail__send"]);
    assert_eq!(names(&host(), "notebookedit"), ["NotebookEdit"]);
}

#[test]
fn the_beginning_of_a_servers_names_finds_its_tools() {
    assert_eq!(names(&host(), "mcp__slack"), ["mcp__slack__send_message", "mcp__slack__list_channels"]);
    assert_eq!(names(&host(), "mcp__"), Vec::<String>::new());
}

#[test]
fn a_required_term_filters() {
    assert_eq!(names(&host(), "+slack send"), ["mcp__slack__send_message", "mcp__slack__list_channels"]);
    assert_eq!(names(&host(), "+jupyter send"), ["NotebookEdit"]);
    assert_eq!(names(&host(), "+nowhere send"), Vec::<String>::new());
}

#[test]
fn terms_of_hint_and_description_stand_at_word_borders() {
    assert_eq!(names(&host(), "cell"), ["NotebookEdit"]);
    assert_eq!(names(&host(), "cel"), Vec::<String>::new());
}

#[test]
fn each_place_has_its_score() {
    // 12 for a part of a server's tool, 10 for another's, 6 and 5 for a piece of a part, 4 for the hint, 2 for the description.
    let ranked = ToolSearch::new(vec![
        tool("Other", "needle"),
        ToolInfo { search_hint: Some("needle".to_owned()), ..tool("Hinted", "") },
        tool("Needlework", ""),
        tool("mcp__x__needles", ""),
        tool("NeedleTool", ""),
        tool("mcp__x__needle", ""),
    ]);
    let names: Vec<_> = ranked.search("needle", 10).tools.into_iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["mcp__x__needle", "NeedleTool", "mcp__x__needles", "Needlework", "Hinted", "Other"]);

    // 5 + 2 + 4 beat 10; 4 + 2 = 6 ties with a server's piece, which was registered first.
    let sums = ToolSearch::new(vec![
        tool("mcp__x__needles", ""),
        ToolInfo { search_hint: Some("needle".to_owned()), ..tool("Both", "needle") },
        ToolInfo { search_hint: Some("needle".to_owned()), ..tool("Needles", "needle") },
        tool("NeedleTool", ""),
    ]);
    let names: Vec<_> = sums.search("needle", 10).tools.into_iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Needles", "NeedleTool", "mcp__x__needles", "Both"]);
}

#[test]
fn no_more_than_the_limit() {
    assert_eq!(host().search("send", 1).tools.len(), 1);
    assert_eq!(host().search("mcp__slack", 1).tools.len(), 1);
    assert_eq!(host().search("select:Read,WebFetch", 1).tools.len(), 1);
    assert_eq!(host().search("send", 0).tools.len(), 0);
}

#[test]
fn the_prepared_tools_are_kept_while_the_set_is_the_same() {
    let mut host = host();
    let before = host.prepared_times();
    host.set_tools(self::host().search("select:Read", 1).tools.into_iter().cloned().collect());
    assert_eq!(host.prepared_times(), before + 1);
    host.set_tools(self::host().search("select:Read", 1).tools.into_iter().cloned().collect());
    assert_eq!(host.prepared_times(), before + 1);
}

#[test]
fn an_empty_query_finds_nothing() {
    for query in ["", "  ", "+", "select:", "select: , ,"] {
        assert_eq!(names(&host(), query), Vec::<String>::new(), "{query:?}");
    }
}
