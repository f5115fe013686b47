//! The command line: `[--only NAME] [--samples N] [--format human|json]`.

/// How the result is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Human,
    Json,
}

/// What is measured, and how often.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Options {
    pub(crate) only: Option<String>,
    pub(crate) samples: Option<usize>,
    pub(crate) format: Format,
}

impl Options {
    /// Reads the arguments; `names` are the benchmarks there are.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>, names: &[&str]) -> Result<Self, String> {
        let mut options = Self { only: None, samples: None, format: Format::Human };
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            let (option, value) = match argument.split_once('=') {
                Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
                None => (argument, None),
            };
            let mut value =
                || value.clone().or_else(|| arguments.next()).ok_or_else(|| format!("{option} needs a value"));
            match option.as_str() {
                "--only" => {
                    let only = value()?;
                    if !names.contains(&only.as_str()) {
                        return Err(format!("there is no benchmark `{only}`; there are {}", names.join(", ")));
                    }
                    options.only = Some(only);
                }
                "--samples" => {
                    let text = value()?;
                    let samples = text.parse().ok().filter(|samples| *samples > 0);
                    options.samples = Some(samples.ok_or_else(|| format!("`{text}` is not a number of samples"))?);
                }
                "--format" => {
                    options.format = match value()?.as_str() {
                        "human" => Format::Human,
                        "json" => Format::Json,
                        other => return Err(format!("`{other}` is not a format; there are human and json")),
                    };
                }
                other => {
                    return Err(format!(
                        "unknown argument `{other}`; use [--only {}] [--samples N] [--format human|json]",
                        names.join("|")
                    ));
                }
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned), &["a", "b"])
    }

    #[test]
    fn options_are_read_and_mistakes_are_said() {
        let options = |only: Option<&str>, samples, format| Options { only: only.map(str::to_owned), samples, format };
        assert_eq!(parse(""), Ok(options(None, None, Format::Human)));
        assert_eq!(parse("--only b --samples 7"), Ok(options(Some("b"), Some(7), Format::Human)));
        assert_eq!(parse("--format=json --samples=1"), Ok(options(None, Some(1), Format::Json)));
        for (line, message) in [
            ("--only c", "there is no benchmark"),
            ("--only", "needs a value"),
            ("--samples 0", "not a number"),
            ("--samples x", "not a number"),
            ("--format xml", "not a format"),
            ("a", "unknown argument"),
        ] {
            assert!(parse(line).is_err_and(|error| error.contains(message)), "{line}");
        }
    }
}
