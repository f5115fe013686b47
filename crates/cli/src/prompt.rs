//! Asks the person at the terminal.

use crate::args::Global;
use crate::{policy, text};
use skillgate_exec::Asked;
use skillgate_policy::{Effect, ToolPattern};
use skillgate_runtime::{Always, Answer, Answerer, Question};
use std::fmt;
use std::io::{self, BufRead, BufReader, IsTerminal as _, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// How often an answer that is none is asked for again.
const TRIES: usize = 3;

/// An answerer, when there is a terminal with a person at it.
pub(crate) fn answerer(global: &Global) -> Option<Arc<dyn Answerer>> {
    let attended = !global.no_input && io::stdin().is_terminal() && io::stderr().is_terminal();
    let owned = global.clone();
    let keep = move |rule: &str| {
        let pattern = ToolPattern::parse(rule).map_err(|error| error.to_string())?;
        let path = policy::add_rule(&owned, Effect::Allow, &pattern).map_err(|failure| failure.to_string())?;
        Ok(path.display().to_string())
    };
    attended.then(|| Arc::new(Prompt::new(BufReader::new(io::stdin()), io::stderr(), keep)) as Arc<dyn Answerer>)
}

/// Puts a rule where it lasts; gives the file, or why it could not.
type Keep = Box<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// Asks on `output` and reads lines of `input`.
struct Prompt<R, W> {
    streams: Mutex<(R, W)>,
    keep: Keep,
}

impl<R: BufRead, W: Write> Prompt<R, W> {
    fn new(input: R, output: W, keep: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static) -> Self {
        Self { streams: Mutex::new((input, output)), keep: Box::new(keep) }
    }

    fn say(&self, text: &str) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        // Who cannot be shown the question gives no answer either.
        let _nobody_reads = writeln!(streams.1, "{text}");
    }

    /// Asks until there is an answer. What is no answer, and the end of the input, is a no.
    fn read(&self, offers_always: bool) -> Answer {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let (input, output) = &mut *streams;
        for _ in 0..TRIES {
            let choices = if offers_always { "no / once / always" } else { "no / once" };
            if write!(output, "{choices}? ").and_then(|()| output.flush()).is_err() {
                return Answer::No;
            }
            let mut line = String::new();
            match input.read_line(&mut line) {
                Ok(0) | Err(_) => return Answer::No,
                Ok(_) => {}
            }
            match line.trim() {
                "no" | "n" => return Answer::No,
                "once" | "o" => return Answer::Once,
                "always" | "a" if offers_always => return Answer::Always,
                _ => {}
            }
        }
        Answer::No
    }
}

impl<R, W> fmt::Debug for Prompt<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prompt")
    }
}

impl<R: BufRead + Send, W: Write + Send> Answerer for Prompt<R, W> {
    fn announce(&self, questions: &[Question]) {
        if let [_, _, ..] = questions {
            let lines: Vec<String> = questions.iter().map(|question| format!("  {}", about(question))).collect();
            self.say(&format!("Before anything runs, {} things need your answer:\n{}", lines.len(), lines.join("\n")));
        }
    }

    fn answer(&self, question: &Question) -> Answer {
        self.say(&format!("{}\n  because of: {}", about(question), text::shown(&question.because)));
        let offers_always = match &question.always {
            Always::Never => false,
            Always::Session => {
                self.say("  always: until this command ends, because no rule stands over the one that asks");
                true
            }
            Always::Rule(rule) => {
                self.say(&format!("  always: adds '{}' to what your policy allows", text::shown(rule)));
                true
            }
        };
        let answer = self.read(offers_always);
        if let (Answer::Always, Always::Rule(rule)) = (answer, &question.always) {
            match (self.keep)(rule) {
                Ok(file) => self.say(&format!("  added to {}", text::shown(&file))),
                // It still holds for this command.
                Err(reason) => self.say(&format!(
                    "  not kept: {}; add \"{}\" to `allow` of your policy",
                    text::shown(&reason),
                    text::shown(rule)
                )),
            }
        }
        answer
    }
}

/// What a question is about, on one line with nothing in it that a terminal would act on.
fn about(question: &Question) -> String {
    let skill = question.skill.as_ref().map(ToString::to_string).unwrap_or_default();
    let text = match &question.asked {
        Asked::Skill => format!("invoke the skill {skill}"),
        Asked::Command(words) => {
            let open = if question.open { " …" } else { "" };
            let of = if skill.is_empty() { String::new() } else { format!(", a command of {skill}") };
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            format!("run `{}{open}`{of}", words.join(" "))
        }
        Asked::Tool { tool, input } => format!("use the tool {tool} with {input}"),
    };
    text::escaped(&text)
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(always: Always, words: &[&str]) -> Question {
        Question {
            skill: None,
            asked: Asked::Command(words.iter().map(|word| (*word).to_owned()).collect()),
            open: false,
            because: "ask Bash(touch:*) (host)".to_owned(),
            always,
        }
    }

    fn kept(rule: &str) -> Result<String, String> {
        if rule == "Bash(touch:*)" { Ok("policy.toml".to_owned()) } else { Err("no room".to_owned()) }
    }

    fn asked(question: &Question, input: &str) -> (Answer, String) {
        let prompt = Prompt::new(input.as_bytes(), Vec::new(), kept);
        let answer = prompt.answer(question);
        let written = prompt.streams.into_inner().expect("no test panics while it holds this").1;
        (answer, String::from_utf8(written).expect("UTF-8"))
    }

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let rule = || Always::Rule("Bash(touch:*)".to_owned());
        for (always, input, answer) in [
            (rule(), "no\n", Answer::No),
            (rule(), "once\n", Answer::Once),
            (rule(), " always \n", Answer::Always),
            (rule(), "a\n", Answer::Always),
            (rule(), "what\no\n", Answer::Once),
            (rule(), "yes\ny\nok\nonce\n", Answer::No),
            (rule(), "", Answer::No),
            (Always::Session, "always\n", Answer::Always),
            (Always::Never, "always\nalways\nalways\n", Answer::No),
            (Always::Never, "always\nonce\n", Answer::Once),
        ] {
            assert_eq!(asked(&question(always, &["touch", "a"]), input).0, answer, "{input:?}");
        }
    }

    #[test]
    fn the_question_shows_the_vector_the_rule_and_how_far_always_reaches() {
        let (_, text) = asked(&question(Always::Rule("Bash(touch:*)".to_owned()), &["touch", "a b"]), "always\n");
        assert_eq!(
            text,
            "run `touch 'a b'`\n  because of: ask Bash(touch:*) (host)\n  always: adds 'Bash(touch:*)' to what \
             your policy allows\nno / once / always?   added to policy.toml\n"
        );
        let (answer, text) = asked(&question(Always::Rule("Bash(cp:*)".to_owned()), &["cp"]), "always\n");
        assert!(answer == Answer::Always && text.contains("not kept: no room; add \"Bash(cp:*)\""), "{text}");
        assert!(!asked(&question(Always::Never, &["touch"]), "once\n").1.contains("always"));
    }

    #[test]
    fn nothing_that_is_asked_about_acts_on_the_terminal() {
        let (_, text) = asked(&question(Always::Never, &["touch", "\x1b[2Ja\nno / once? once\u{202e}"]), "no\n");
        assert!(!text.contains(['\x1b', '\u{202e}']), "{text:?}");
        assert_eq!(text.lines().filter(|line| line.starts_with("no / once?")).count(), 1, "{text:?}");
    }

    #[test]
    fn several_questions_are_shown_together_first() {
        let prompt = Prompt::new(&b""[..], Vec::new(), kept);
        prompt.announce(&[question(Always::Never, &["touch", "a"])]);
        prompt.announce(&[question(Always::Never, &["touch", "a"]), question(Always::Never, &["rm"])]);
        let written = prompt.streams.into_inner().expect("no test panics while it holds this").1;
        let text = String::from_utf8(written).expect("UTF-8");
        assert_eq!(text, "Before anything runs, 2 things need your answer:\n  run `touch a`\n  run `rm`\n");
    }
}
