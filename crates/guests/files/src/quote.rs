//! Names in messages, quoted as GNU's `quoteaf` does: for a shell to read again.

/// A name between quotes.
pub(crate) fn quoted(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    if text.chars().any(char::is_control) {
        let mut out = String::from("'");
        for c in text.chars() {
            match c {
                '\'' => out.push_str("'\\''"),
                '\n' => out.push_str("'$'\\n''"),
                '\t' => out.push_str("'$'\\t''"),
                '\r' => out.push_str("'$'\\r''"),
                c if c.is_control() => {
                    for byte in c.to_string().bytes() {
                        out.push_str(&format!("'$'\\{byte:03o}''"));
                    }
                }
                c => out.push(c),
            }
        }
        out.push('\'');
        return out;
    }
    if text.contains('\'') && !text.contains(['"', '$', '`', '\\', '!']) {
        return format!("\"{text}\"");
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_are_quoted_for_a_shell() {
        for (name, shown) in
            [("a b", "'a b'"), ("it's", "\"it's\""), ("it's $5", "'it'\\''s $5'"), ("a\nb", "'a'$'\\n''b'"), ("", "''")]
        {
            assert_eq!(quoted(name.as_bytes()), shown);
        }
    }
}
