/// The text with `${NAME}` and `${NAME:-default}` filled in. A `$` that begins no variable stands for itself.
///
/// # Errors
/// The name of a variable that is not set and has no default.
pub(super) fn expanded(text: &str, variables: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
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
        if !is_name(name) {
            expanded.push_str("${");
            rest = &variable[2..];
            continue;
        }
        match (variables(name).filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => expanded.push_str(&value),
            (None, Some(default)) => expanded.push_str(default),
            (None, None) => return Err(name.to_owned()),
        }
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

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
            ("${NONE}", Err("NONE")),
            ("${not a name} ${HOME", Ok("${not a name} ${HOME")),
            ("${${HOME}}", Ok("${/home/a}")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(expanded(text, &variables), expected, "{text}");
        }
    }
}
