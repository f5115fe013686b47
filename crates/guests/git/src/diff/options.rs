//! The options that every command with a diff understands.

use super::MAX_SCORE;
use super::lines::{Comparison, Space};
use super::rename::Detection;
use crate::failure::{Failure, Outcome, fatal, unsupported};
use crate::repository::Repository;
use gix_imara_diff::Algorithm;

/// What is printed of a diff; several at once are possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Formats {
    pub(crate) patch: bool,
    pub(crate) stat: bool,
    pub(crate) numstat: bool,
    pub(crate) shortstat: bool,
    pub(crate) summary: bool,
    pub(crate) raw: bool,
    pub(crate) name_only: bool,
    pub(crate) name_status: bool,
    /// `-s`
    pub(crate) none: bool,
}

impl Formats {
    pub(crate) fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// How a diff is made and printed.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) formats: Formats,
    pub(crate) context: usize,
    pub(crate) comparison: Comparison,
    pub(crate) renames: Option<Detection>,
    /// The end of a record is a NUL.
    pub(crate) nul: bool,
    pub(crate) full_index: bool,
    pub(crate) abbreviation: Option<usize>,
    pub(crate) prefixes: (String, String),
    /// Chosen by the kinds of sides (`diff.mnemonicPrefix`).
    pub(crate) mnemonic: bool,
    pub(crate) reverse: bool,
    pub(crate) text: bool,
    pub(crate) quiet: bool,
    pub(crate) exit_code: bool,
    /// Letters of `--diff-filter`.
    pub(crate) filter: Option<String>,
    pub(crate) quote_path: bool,
    pub(crate) stat_width: usize,
    pub(crate) stat_name_width: Option<usize>,
    pub(crate) stat_count: Option<usize>,
    pub(crate) pickaxe: Option<Pickaxe>,
}

/// `-S` and `-G`.
#[derive(Clone, Debug)]
pub(crate) enum Pickaxe {
    Count(Vec<u8>),
    Lines(regex::bytes::Regex),
}

const DEFAULT_CONTEXT: usize = 3;
const DEFAULT_LIMIT: usize = 1_000;
const DEFAULT_WIDTH: usize = 80;

impl Options {
    /// What the configuration says. Whatever it says of programs to run is not looked at.
    pub(crate) fn new(repo: &Repository) -> Outcome<Self> {
        let config = &repo.config;
        if config.boolean("diff.relative") == Some(true) && !repo.prefix.is_empty() {
            return unsupported("diff.relative");
        }
        let limit =
            config.integer("diff.renamelimit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(DEFAULT_LIMIT);
        let renames = match config.string("diff.renames") {
            Some(value) if value == "copies" || value == "copy" => return unsupported("diff.renames=copies"),
            Some(value) => crate::config::boolean(value) != Some(false),
            None => true,
        };
        let context = config.integer("diff.context").and_then(|context| usize::try_from(context).ok());
        let algorithm = config.text("diff.algorithm").map_or(Ok(Algorithm::Myers), |name| algorithm(&name))?;
        let plain = config.boolean("diff.noprefix") == Some(true);
        let prefixes = if plain {
            (String::new(), String::new())
        } else {
            (
                config.text("diff.srcprefix").unwrap_or_else(|| "a/".into()),
                config.text("diff.dstprefix").unwrap_or_else(|| "b/".into()),
            )
        };
        let columns =
            std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
        Ok(Self {
            formats: Formats::default(),
            context: context.unwrap_or(DEFAULT_CONTEXT),
            comparison: Comparison {
                algorithm,
                indent_heuristic: config.boolean("diff.indentheuristic") != Some(false),
                ..Comparison::default()
            },
            renames: renames.then_some(Detection { minimum: MAX_SCORE / 2, limit }),
            nul: false,
            full_index: false,
            abbreviation: None,
            prefixes,
            mnemonic: !plain && config.boolean("diff.mnemonicprefix") == Some(true),
            reverse: false,
            text: false,
            quiet: false,
            exit_code: false,
            filter: None,
            quote_path: config.boolean("core.quotepath") != Some(false),
            stat_width: columns.unwrap_or(DEFAULT_WIDTH),
            stat_name_width: config.integer("diff.statnamewidth").and_then(|width| usize::try_from(width).ok()),
            stat_count: None,
            pickaxe: None,
        })
    }

    /// Takes an option in; `false` when it is none of a diff.
    pub(crate) fn take(
        &mut self,
        repo: &Repository,
        argument: &str,
        rest: &mut impl Iterator<Item = String>,
    ) -> Outcome<bool> {
        let (name, value) = argument.split_once('=').map_or((argument, None), |(name, value)| (name, Some(value)));
        let number = |value: &str| {
            value.parse::<usize>().map_err(|_| Failure::Error(format!("{name} expects a numerical value"), 129))
        };
        match name {
            "-p" | "-u" | "--patch" => self.formats.patch = true,
            "-s" | "--no-patch" => self.formats = Formats { none: true, ..Formats::default() },
            "--stat" => {
                self.formats.stat = true;
                if let Some(value) = value {
                    let mut parts = value.split(',');
                    self.stat_width = parts.next().map_or(Ok(0), number)?;
                    self.stat_name_width = parts.next().map(number).transpose()?.or(self.stat_name_width);
                    self.stat_count = parts.next().map(number).transpose()?;
                }
            }
            "--stat-width" => (self.formats.stat, self.stat_width) = (true, number(value.unwrap_or_default())?),
            "--stat-name-width" => {
                (self.formats.stat, self.stat_name_width) = (true, Some(number(value.unwrap_or_default())?))
            }
            "--stat-count" => (self.formats.stat, self.stat_count) = (true, Some(number(value.unwrap_or_default())?)),
            "--patch-with-stat" => (self.formats.patch, self.formats.stat) = (true, true),
            "--patch-with-raw" => (self.formats.patch, self.formats.raw) = (true, true),
            "--numstat" => self.formats.numstat = true,
            "--shortstat" => self.formats.shortstat = true,
            "--summary" => self.formats.summary = true,
            "--raw" => self.formats.raw = true,
            "--name-only" => self.formats.name_only = true,
            "--name-status" => self.formats.name_status = true,
            "-z" => self.nul = true,
            "--full-index" => self.full_index = true,
            "--abbrev" => self.abbreviation = value.map(number).transpose()?.map(|length| length.clamp(4, 40)),
            "--no-abbrev" => self.abbreviation = Some(40),
            "--no-prefix" => (self.prefixes, self.mnemonic) = ((String::new(), String::new()), false),
            "--default-prefix" => (self.prefixes, self.mnemonic) = (("a/".into(), "b/".into()), false),
            "--src-prefix" => self.prefixes.0 = value.unwrap_or_default().to_owned(),
            "--dst-prefix" => self.prefixes.1 = value.unwrap_or_default().to_owned(),
            "-R" => self.reverse = true,
            "-a" | "--text" => self.text = true,
            "-w" | "--ignore-all-space" => self.comparison.space = Space::None,
            "-b" | "--ignore-space-change" => self.comparison.space = Space::Amount,
            "--ignore-space-at-eol" => self.comparison.space = Space::AtEnd,
            "--ignore-cr-at-eol" => self.comparison.space = Space::ReturnAtEnd,
            "--minimal" => self.comparison.algorithm = Algorithm::MyersMinimal,
            "--histogram" => return unsupported("--histogram"),
            "--patience" => return unsupported("--patience"),
            "--diff-algorithm" => {
                self.comparison.algorithm =
                    algorithm(&value.map_or_else(|| rest.next().unwrap_or_default(), str::to_owned))?
            }
            "--indent-heuristic" => self.comparison.indent_heuristic = true,
            "--no-indent-heuristic" => self.comparison.indent_heuristic = false,
            "--quiet" => (self.quiet, self.exit_code) = (true, true),
            "--exit-code" => self.exit_code = true,
            "--no-renames" => self.renames = None,
            "--renames" => self.set_renames(None),
            "-M" | "--find-renames" => self.set_renames(value.map(score).transpose()?),
            "--diff-filter" => self.filter = Some(value.map_or_else(|| rest.next().unwrap_or_default(), str::to_owned)),
            "--relative" if value.is_some() || !repo.prefix.is_empty() => return unsupported("--relative"),
            "--relative" | "--no-relative" => {}
            "--no-color"
            | "--no-ext-diff"
            | "--no-textconv"
            | "--no-color-moved"
            | "--ext-diff"
            | "--textconv"
            | "--no-rename-empty"
            | "--ignore-submodules" => {}
            "--color" => match value {
                Some("never" | "auto") => {}
                _ => return unsupported("--color"),
            },
            "--submodule" if value == Some("short") => {}
            "--unified" => {
                self.set_context(value.map_or_else(|| rest.next().unwrap_or_default(), str::to_owned).as_str())?
            }
            "-U" => {
                let value = rest.next().unwrap_or_default();
                self.set_context(&value)?;
            }
            "-S" | "-G" => {
                let text = rest.next().unwrap_or_default();
                self.set_pickaxe(name, &text)?;
            }
            "-C"
            | "--find-copies"
            | "--find-copies-harder"
            | "-B"
            | "--break-rewrites"
            | "--word-diff"
            | "--color-words"
            | "--word-diff-regex"
            | "-W"
            | "--function-context"
            | "--ignore-blank-lines"
            | "-I"
            | "--ignore-matching-lines"
            | "--inter-hunk-context"
            | "--check"
            | "--ws-error-highlight"
            | "--binary"
            | "--dirstat"
            | "--dirstat-by-file"
            | "--cumulative"
            | "-X"
            | "--compact-summary"
            | "--color-moved"
            | "--submodule"
            | "--line-prefix"
            | "-O"
            | "--skip-to"
            | "--rotate-to"
            | "--find-object"
            | "--pickaxe-all"
            | "--pickaxe-regex"
            | "--anchored"
            | "-D"
            | "--irreversible-delete"
            | "-l"
            | "--output"
            | "--ita-invisible-in-index"
            | "--output-indicator-new"
            | "--output-indicator-old"
            | "--output-indicator-context" => {
                return unsupported(name);
            }
            short if short.starts_with("-U") && value.is_none() => self.set_context(&short[2..])?,
            short if short.starts_with("-M") && short.len() > 2 => self.set_renames(Some(score(&short[2..])?)),
            short if (short.starts_with("-S") || short.starts_with("-G")) && short.len() > 2 => {
                self.set_pickaxe(&argument[..2], &argument[2..])?
            }
            short
                if ["-C", "-B", "-X", "-O", "-l", "-I"].iter().any(|known| short.starts_with(known))
                    && !short.starts_with("--") =>
            {
                return unsupported(&short[..2]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_context(&mut self, value: &str) -> Outcome {
        self.context = value.parse().map_err(|_| {
            Failure::Error(
                "option `unified' expects a non-negative integer value with an optional k/m/g suffix".into(),
                129,
            )
        })?;
        self.formats.patch = true;
        Ok(())
    }

    fn set_renames(&mut self, minimum: Option<u64>) {
        let limit = self.renames.map_or(DEFAULT_LIMIT, |detection| detection.limit);
        self.renames = Some(Detection { minimum: minimum.unwrap_or(MAX_SCORE / 2), limit });
    }

    fn set_pickaxe(&mut self, name: &str, text: &str) -> Outcome {
        self.pickaxe = Some(if name == "-S" {
            Pickaxe::Count(text.as_bytes().to_vec())
        } else {
            let regex = regex::bytes::RegexBuilder::new(text).multi_line(true).build();
            Pickaxe::Lines(regex.map_err(|_| Failure::Fatal(format!("invalid regex: {text}")))?)
        });
        Ok(())
    }

    /// Digits of an abbreviated id.
    pub(crate) fn digits(&self, repo: &Repository) -> usize {
        if self.full_index { 40 } else { self.abbreviation.unwrap_or_else(|| repo.abbreviation()) }
    }
}

fn algorithm(name: &str) -> Outcome<Algorithm> {
    match name {
        "default" | "myers" => Ok(Algorithm::Myers),
        "minimal" => Ok(Algorithm::MyersMinimal),
        "histogram" | "patience" => unsupported(format_args!("the diff algorithm '{name}'")),
        _ => fatal("option diff-algorithm accepts \"myers\", \"minimal\", \"patience\" and \"histogram\""),
    }
}

/// `50%`, `5` (a half) or `.5`.
fn score(text: &str) -> Outcome<u64> {
    let percent = text.strip_suffix('%');
    let digits = percent.unwrap_or(text).replace('.', "");
    let number: u64 = digits.parse().map_err(|_| Failure::Error("invalid argument to find-renames".into(), 129))?;
    let whole = if percent.is_some() { 100 } else { 10_u64.pow(u32::try_from(digits.len()).unwrap_or(1).min(10)) };
    Ok((number * MAX_SCORE / whole).min(MAX_SCORE))
}
