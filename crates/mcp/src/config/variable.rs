/// Why a text cannot be filled in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Unfilled {
    /// This variable is not set, and has no default.
    NotSet(String),
    /// `${KIND:NAME}` of another agent, which is not known here: as a text it would be sent where its value belongs.
    Foreign(String),
}

/// The text with `${NAME}`, `${env:NAME}` and either with `:-default` filled in. A `$` that begins no variable stands for itself.
pub(super) fn expanded(text: &str, variables: &dyn Fn(&str) -> Option<String>) -> Result<String, Unfilled> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, variable) = rest.split_at(start);
        expanded.push_str(before);
        let Some((inside, after)) = variable[2..].split_once('}') else {
            rest = variable;
            break;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        if !is_name(name) {
            if inside.split_once(':').is_some_and(|(kind, _)| is_name(kind)) {
                return Err(Unfilled::Foreign(inside.to_owned()));
            }
            expanded.push_str("${");
            rest = &variable[2..];
            continue;
        }
        match (variables(name).filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => expanded.push_str(&value),
            (None, Some(default)) => expanded.push_str(default),
            // What editors fill in themselves is not a variable that somebody would set.
            (None, None) if EDITORS.contains(&name) => return Err(Unfilled::Foreign(name.to_owned())),
            (None, None) => return Err(Unfilled::NotSet(name.to_owned())),
        }
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Names that editors fill in for their own windows.
const EDITORS: [&str; 6] =
    ["workspaceFolder", "workspaceFolderBasename", "userHome", "file", "pathSeparator", "workspaceRoot"];

fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_their_defaults_are_filled_in_once() {
        let variables = |name: &str| match name {
            "HOME" => Some("/home/a".to_owned()),
            "TRICK" => Some("${HOME}".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (text, expected) in [
            ("plain $5", Ok("plain $5")),
            ("${HOME}/bin", Ok("/home/a/bin")),
            ("${TRICK}", Ok("${HOME}")),
            ("${NONE:-x}${EMPTY:-y}", Ok("xy")),
            ("[${EMPTY}]", Ok("[]")),
            ("${env:HOME}/bin ${env:NONE:-x}", Ok("/home/a/bin x")),
            ("${NONE}", Err(Unfilled::NotSet("NONE".to_owned()))),
            ("Bearer ${env:NONE}", Err(Unfilled::NotSet("NONE".to_owned()))),
            ("${input:token}", Err(Unfilled::Foreign("input:token".to_owned()))),
            ("${workspaceFolder}/x", Err(Unfilled::Foreign("workspaceFolder".to_owned()))),
            ("${not a name} ${HOME", Ok("${not a name} ${HOME")),
            ("${${HOME}}", Ok("${/home/a}")),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(expanded(text, &variables), expected, "{text}");
        }
    }
}
