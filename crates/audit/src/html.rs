//! The report as one HTML file that needs nothing else: no script, no font, no picture, no address.

use crate::case::Group;
use crate::environment::{Environment, Kernel};
use crate::report::{CaseReport, Outcome, Report};
use std::fmt::Write as _;

const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1a1a1a;background:#fff}\
table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}\
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ddd}\
th{background:#f4f4f4}td.number{text-align:right;white-space:nowrap}\
code{font:13px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}\
.passed{color:#0a6b2d}.failed{color:#a40000;font-weight:bold}.unavailable{color:#7a5b00}\
details{margin:.2rem 0}summary{cursor:pointer}\
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}th{background:#222}th,td{border-color:#333}\
.passed{color:#5ecb82}.failed{color:#ff7b72}.unavailable{color:#e3b341}}";

impl Report {
    /// The report as one HTML file. What it shows of attacks is text; nothing in it is followed or run.
    #[must_use]
    pub fn html(&self) -> String {
        let mut out = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
        );
        out.push_str(
            "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Skillgate sandbox audit</title>\n",
        );
        line(&mut out, &format!("<style>{STYLE}</style>\n</head>\n<body>\n<h1>Skillgate sandbox audit</h1>"));
        self.write_summary(&mut out);
        write_environment(&mut out, &self.environment);
        for group in Group::ALL {
            let letter = group.letter().to_string();
            let cases: Vec<&CaseReport> = self.cases.iter().filter(|case| case.group == letter).collect();
            if cases.is_empty() {
                continue;
            }
            line(&mut out, &format!("<h2>{letter}. {}</h2>", escaped(group.title())));
            line(
                &mut out,
                "<table>\n<tr><th>case</th><th>what</th><th>backend</th><th>result</th><th>refused by</th><th>time</th></tr>",
            );
            for case in cases {
                write_case(&mut out, case);
            }
            line(&mut out, "</table>");
        }
        out.push_str("</body>\n</html>\n");
        out
    }

    fn write_summary(&self, out: &mut String) {
        line(out, "<table>\n<tr><th>backend</th><th>passed</th><th>failed</th><th>unavailable</th></tr>");
        for (backend, numbers) in &self.summary {
            let compared = if self.baselines.contains(backend) { " (to compare with)" } else { "" };
            line(
                out,
                &format!(
                    "<tr><td>{}{compared}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
                    escaped(backend),
                    numbers.passed,
                    numbers.failed,
                    numbers.unavailable
                ),
            );
        }
        line(out, "</table>");
    }
}

fn write_environment(out: &mut String, environment: &Environment) {
    let Kernel {
        system,
        release,
        machine,
        landlock_abi,
        user_namespaces,
        unprivileged_user_namespaces,
        namespaces,
        cgroup,
        cgroups,
        seccomp_actions,
        security_modules,
    } = &environment.kernel;
    let packs: Vec<String> = environment.packs.iter().map(|(name, digest)| format!("{name} {digest}")).collect();
    let limits: Vec<String> = environment.limits.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let facts = [
        ("Skillgate", environment.version.clone()),
        ("program", environment.binary.clone()),
        ("probes", environment.probes.clone().unwrap_or_else(|| "none".to_owned())),
        ("packs", packs.join(", ")),
        ("user", shown(environment.uid)),
        ("capabilities", environment.capabilities.clone().unwrap_or_else(|| "not known".to_owned())),
        ("policy", environment.policy.join(", ")),
        ("limits", limits.join(", ")),
        ("kernel", format!("{system} {} {machine}", release.clone().unwrap_or_default())),
        ("Landlock interface", shown(*landlock_abi)),
        ("user namespaces at most", shown(*user_namespaces)),
        ("user namespaces without privileges", shown(*unprivileged_user_namespaces)),
        ("namespaces", namespaces.join(", ")),
        ("control groups", format!("version {}: {}", shown(*cgroup), cgroups.join(", "))),
        ("seccomp", seccomp_actions.join(", ")),
        ("security modules", security_modules.join(", ")),
    ];
    line(out, "<h2>Where it was run</h2>\n<table>");
    for (name, value) in facts {
        line(out, &format!("<tr><th>{}</th><td><code>{}</code></td></tr>", escaped(name), escaped(&value)));
    }
    line(out, "</table>");
}

fn write_case(out: &mut String, case: &CaseReport) {
    let result = case.result.to_string();
    let class = match case.result {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::Unavailable => "unavailable",
    };
    line(
        out,
        &format!(
            "<tr><td class=\"number\">{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{result}</td><td>{}",
            case.id,
            escaped(&case.title),
            escaped(&case.backend),
            escaped(&case.detail)
        ),
    );
    line(out, &format!("<details><summary>control: {}</summary>\n<table>", escaped(&case.control)));
    line(out, "<tr><th></th><th>what</th><th>expected</th><th>found</th></tr>");
    for check in &case.checks {
        let (class, mark) = if check.holds { ("passed", "holds") } else { ("failed", "does not hold") };
        line(
            out,
            &format!(
                "<tr><td class=\"{class}\">{} {mark}</td><td><code>{}</code></td><td><code>{}</code></td><td><code>{}</code></td></tr>",
                escaped(&check.kind),
                escaped(&check.what),
                escaped(&check.expected),
                escaped(&check.found)
            ),
        );
    }
    line(out, &format!("</table>\n{}</details></td>", escaped(&case.sources.join(", "))));
    line(out, &format!("<td class=\"number\">{} ms</td></tr>", case.duration_us / 1000));
}

fn shown<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "not known".to_owned(), |value| value.to_string())
}

fn line(out: &mut String, text: &str) {
    // Writing to a String cannot fail.
    let _infallible = writeln!(out, "{text}");
}

/// Text as HTML shows it; what a terminal or a reader's eye would act on is spelled out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if (c.is_control() && c != '\n') || skillgate_core::classify_invisible(c).is_some() => {
                out.extend(c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_an_attack_is_markup() {
        assert_eq!(
            escaped("<b onclick='x'>&\"\u{202e}\u{1b}"),
            "&lt;b onclick=&#39;x&#39;&gt;&amp;&quot;\\u{202e}\\u{1b}"
        );
    }
}
