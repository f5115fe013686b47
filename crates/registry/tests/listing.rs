//! What a model is told within a budget.

mod skills;

use proptest::prelude::*;
use skillgate_core::Source;
use skillgate_registry::{
    Catalogue, CatalogueOptions, Level, Listing, ListingForm, ListingOptions, MAX_DESCRIPTION_CHARS,
    MIN_DESCRIPTION_CHARS, NamePattern, SKILL_TOOL_GUIDANCE, SkillSearch,
};
use skillgate_search::Query;
use skills::{described, trusted};
use std::collections::BTreeMap;

fn catalogue(skills: &[(&str, &str)]) -> Catalogue {
    let skills = skills.iter().map(|(line, description)| described(line, description)).collect();
    Catalogue::build(skills, Vec::new(), &trusted())
}

fn budget(budget_chars: usize) -> ListingOptions {
    ListingOptions { budget_chars, ..ListingOptions::default() }
}

fn levels(listing: &Listing) -> Vec<String> {
    listing.entries.iter().map(|listed| format!("{} {}", listed.entry.called(), listed.level.as_str())).collect()
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

#[test]
fn everything_stands_there_when_it_fits() {
    let skills = catalogue(&[
        ("user /u/b", "Second."),
        ("user /u/a when=When_asked.", "First,\nin two lines."),
        ("user /u/c", ""),
    ]);
    let listing = skills.listing(&ListingOptions::default());
    assert_eq!(listing.text, "- a: First, in two lines. When asked.\n- b: Second.\n");
    assert_eq!(levels(&listing), ["a full", "b full"], "what has no description is not offered");
    assert!(listing.cut.is_nothing() && listing.cut.whole == 2 && listing.cut.chars == 0, "{:?}", listing.cut);
    assert_eq!(catalogue(&[]).listing(&ListingOptions::default()).text, "");
}

#[test]
fn only_what_is_offered_is_told() {
    let lines = ["user /u/a", "user /u/b user-only", "user /u/c lost", "user /u/d paths=src", "plugin /q/e bare"];
    let skills: Vec<_> = lines.iter().map(|line| (*line, "Does it.")).collect();
    assert_eq!(levels(&catalogue(&skills).listing(&ListingOptions::default())), ["a full"]);
    let untrusted = vec![described("project /p/x", "Does it.")];
    let untrusted = Catalogue::build(untrusted, Vec::new(), &CatalogueOptions::default());
    assert_eq!(untrusted.listing(&ListingOptions::default()).text, "");
}

#[test]
fn the_others_share_what_the_pinned_leave() {
    let long = "word ".repeat(40);
    let skills = [("user /u/a", "Short."), ("user /u/b", long.as_str()), ("user /u/c", &long), ("bundled /b/d", &long)];
    let skills = catalogue(&skills);
    let listing = skills.listing(&budget(400));
    assert_eq!(levels(&listing), ["a full", "b short", "c short", "d pinned"]);
    let lengths: Vec<usize> = listing.text.lines().map(chars).collect();
    assert_eq!(lengths, [11, 90, 90, 204], "the same for both, and nothing wasted: {}", listing.text);
    assert!(chars(&listing.text) <= 400 && chars(&listing.text) > 396);
    assert_eq!((listing.cut.short, listing.cut.pinned, listing.cut.whole), (2, 0, 2));
    assert_eq!(listing.cut.chars, 2 * (199 - 84), "85 characters each, one of them the mark");
    let pinned = ListingOptions { pinned: vec![NamePattern::new("user:b")], ..budget(500) };
    assert_eq!(levels(&skills.listing(&pinned)), ["a full", "b pinned", "c short", "d pinned"]);
}

#[test]
fn descriptions_go_least_used_first_and_names_stay() {
    let long = "x".repeat(100);
    let names = ["a", "b", "c", "d", "e"].map(|name| format!("user /u/{name}"));
    let skills: Vec<_> = names.iter().map(|line| (line.as_str(), long.as_str())).collect();
    let skills = catalogue(&skills);
    let used = BTreeMap::from([("user:b".to_owned(), 3), ("user:d".to_owned(), 9)]);
    let listing = skills.listing(&ListingOptions { used, ..budget(2 * (5 + 33) + 3 * 4 + 20) });
    assert_eq!(levels(&listing), ["a name", "b short", "c name", "d short", "e name"]);
    assert_eq!((listing.cut.name_only, listing.cut.short), (3, 2));
    // Without counts the last of the names lose first.
    let listing = skills.listing(&budget(2 * (5 + 33) + 3 * 4 + 20));
    assert_eq!(levels(&listing), ["a short", "b short", "c name", "d name", "e name"]);
}

#[test]
fn complaint_80_a_deferred_skill_is_named_and_its_description_is_left_to_the_search() {
    let skills = catalogue(&[
        ("user /u/a", "Reads invoices."),
        ("user /u/b deferred when=When_asked.", "Writes invoices."),
        ("bundled /b/c deferred", "Counts invoices."),
    ]);
    for form in [ListingForm::Text, ListingForm::Xml] {
        let listing = skills.listing(&ListingOptions { form, ..ListingOptions::default() });
        assert_eq!(levels(&listing), ["a full", "b name", "c name"]);
        assert!(listing.text.contains("Reads invoices.") && !listing.text.contains("Writes"), "{}", listing.text);
        assert!(!listing.text.contains("Counts"), "it is the bundled skill's own wish: {}", listing.text);
        assert!(listing.cut.is_nothing() && listing.cut.kept_back == 2, "nothing was cut: {:?}", listing.cut);
    }
    let pinned = ListingOptions { pinned: vec![NamePattern::new("b")], ..ListingOptions::default() };
    assert_eq!(levels(&skills.listing(&pinned)), ["a full", "b full", "c name"], "the host decides");
    let search = SkillSearch::of(&skills);
    let found = search.search(&skills, &Query::new("write invoices"));
    assert_eq!(found.first().map(|hit| hit.entry.called()), Some("b"));
}

#[test]
fn pinned_ones_that_exceed_the_budget_are_cut_and_it_is_said() {
    let long = "x".repeat(500);
    let skills = catalogue(&[("bundled /b/a", &long), ("bundled /b/b", &long), ("user /u/c", &long)]);
    let listing = skills.listing(&budget(600));
    assert_eq!(levels(&listing), ["a short", "b short", "c short"]);
    assert_eq!(listing.cut.pinned, 2);
    assert!(chars(&listing.text) <= 600);
}

#[test]
fn names_that_do_not_fit_are_counted() {
    let names: Vec<String> = (0..1_000).map(|number| format!("user /u/skill-number-{number:04}")).collect();
    let skills: Vec<_> = names.iter().map(|line| (line.as_str(), "Does something.")).collect();
    let skills = catalogue(&skills);
    let used = BTreeMap::from([("user:skill-number-0999".to_owned(), 1)]);
    let listing = skills.listing(&ListingOptions { used, ..budget(8_000) });
    assert!(chars(&listing.text) <= 8_000, "{}", chars(&listing.text));
    let named = listing.text.lines().count() - 1;
    assert_eq!((listing.cut.name_only, listing.cut.deferred), (named, 1_000 - named));
    assert!(listing.text.ends_with(&format!(
        "- skill-number-0999\n({} more skills are not named here; DiscoverSkills finds them)\n",
        1_000 - named
    )));
    assert_eq!(listing.entries.len(), 1_000, "the report names every one of them");
    assert_eq!(skills.listing(&budget(20)).text, "", "no room to say anything");
}

/// A thousand skills, each with a description of its own of some thirty words.
fn a_thousand() -> Catalogue {
    let verbs = ["Formats", "Checks", "Counts", "Draws", "Sorts", "Signs", "Merges", "Renames", "Archives", "Compares"];
    let things = ["invoices", "photos", "tickets", "recipes", "logs", "maps", "letters", "budgets", "songs", "forms"];
    let places = [
        "harbours",
        "gardens",
        "hospitals",
        "schools",
        "museums",
        "farms",
        "banks",
        "stations",
        "libraries",
        "theatres",
    ];
    let rest = "Begins with what is there, asks when something is missing, and says at the end what was done and why.";
    let skills = (0..1_000).map(|number| {
        let (verb, thing, place) = (verbs[number / 100], things[number / 10 % 10], places[number % 10]);
        let line = format!("user /u/{}-{thing}-of-{place}", verb.to_lowercase());
        described(&line, &format!("{verb} the {thing} that come from {place} each evening. {rest}"))
    });
    Catalogue::build(skills.collect(), Vec::new(), &trusted())
}

#[test]
fn complaint_80_a_thousand_skills_within_eight_thousand_characters_are_named_or_counted_and_all_are_found() {
    let catalogue = a_thousand();
    let listing = catalogue.listing(&budget(8_000));
    assert!(chars(&listing.text) <= 8_000, "{}", chars(&listing.text));
    let named: Vec<&str> = listing.text.lines().filter_map(|line| line.strip_prefix("- ")?.split(':').next()).collect();
    let counted = |level: Level| listing.entries.iter().filter(|listed| listed.level == level).count();
    assert_eq!(listing.entries.len(), 1_000);
    assert_eq!(named.len() + listing.cut.deferred, 1_000);
    assert_eq!((counted(Level::Deferred), counted(Level::Name)), (listing.cut.deferred, listing.cut.name_only));
    for listed in &listing.entries {
        assert_eq!(
            listed.level != Level::Deferred,
            named.contains(&listed.entry.called()),
            "{}",
            listed.entry.called()
        );
    }
    // Whatever lost its description is found by its name, and by how its description begins.
    let search = SkillSearch::of(&catalogue);
    let lost = listing.entries.iter().filter(|listed| matches!(listed.level, Level::Name | Level::Deferred));
    let mut looked_for = 0;
    for listed in lost {
        let (entry, name) = (&listed.entry, listed.entry.called());
        let description = entry.skill().description.as_deref().expect("each has one").to_owned();
        let first: Vec<&str> = description.split_whitespace().take(8).collect();
        for query in [name, &first.join(" ")] {
            let found = search.search(&catalogue, &Query::new(query).limit(10));
            assert!(found.iter().any(|found| found.entry.called() == name), "`{query}` does not find {name}");
        }
        looked_for += 1;
    }
    assert!(looked_for > 500, "{looked_for}");
}

/// So many skills with 500 characters each, as people have them.
fn long_descriptions(count: usize) -> Catalogue {
    let texts: Vec<(String, String)> = (0..count)
        .map(|number| (format!("user /u/s{number:03}"), format!("{:.<500}", format!("Does task {number:03} "))))
        .collect();
    let skills: Vec<_> = texts.iter().map(|(line, description)| (line.as_str(), description.as_str())).collect();
    catalogue(&skills)
}

#[test]
fn complaint_78_what_many_skills_lose_is_counted_and_searched_and_what_is_pinned_is_kept() {
    let catalogue = long_descriptions(200);
    let pinned = vec![NamePattern::new("s123")];
    let listing = catalogue.listing(&ListingOptions { pinned, ..ListingOptions::default() });
    assert!(chars(&listing.text) <= ListingOptions::default().budget_chars, "{}", chars(&listing.text));
    assert_eq!((listing.cut.whole, listing.cut.short + listing.cut.name_only, listing.cut.deferred), (1, 199, 0));
    assert!(listing.cut.name_only > 0, "200 descriptions have no room: {:?}", listing.cut);
    let search = SkillSearch::of(&catalogue);
    for listed in &listing.entries {
        let name = listed.entry.called();
        assert_eq!(listed.level == Level::Pinned, name == "s123", "{name}");
        let query = format!("task {}", &name[1..]);
        let found = search.search(&catalogue, &Query::new(&query));
        assert_eq!(found.first().map(|found| found.entry.called()), Some(name), "`{query}`");
    }
}

#[test]
fn complaint_79_many_skills_share_the_budget_and_each_keeps_the_beginning_of_its_description() {
    let listing = long_descriptions(150).listing(&ListingOptions::default());
    assert_eq!((listing.cut.short, listing.cut.name_only, listing.cut.deferred), (150, 0, 0));
    let lines: Vec<&str> = listing.text.lines().collect();
    let (first, least) = (chars(lines[0]), "- s000: ".len() + MIN_DESCRIPTION_CHARS);
    for (number, line) in lines.iter().enumerate() {
        assert!(chars(line) == first && first >= least && line.ends_with('\u{2026}'), "{line}");
        assert!(line.starts_with(&format!("- s{number:03}: Does task {number:03}")), "{line}");
    }
}

#[test]
fn complaint_23_a_long_description_is_cut_in_the_listing_only() {
    let long = "a".repeat(1_025);
    let listing = catalogue(&[("user /u/a", &long)]).listing(&ListingOptions::default());
    assert_eq!((listing.text.len(), listing.cut.is_nothing()), (1_025 + "- a: \n".len(), true));
    let longer = "a".repeat(2_000);
    let listing = catalogue(&[("user /u/a", &longer)]).listing(&ListingOptions::default());
    assert_eq!(levels(&listing), ["a short"]);
    assert_eq!(chars(&listing.text), MAX_DESCRIPTION_CHARS + "- a: \n".len());
    assert_eq!(listing.cut.chars, 2_000 - MAX_DESCRIPTION_CHARS + 1);
}

#[test]
fn complaint_82_a_set_of_skills_is_listed_alone() {
    let skills = catalogue(&[("user /u/review-pr", "A."), ("user /u/deploy", "B."), ("user /u/review", "C.")]);
    let only = Some(vec![NamePattern::new("review*")]);
    let listing = skills.listing(&ListingOptions { only, ..ListingOptions::default() });
    assert_eq!(levels(&listing), ["review full", "review-pr full"]);
}

#[test]
fn the_xml_form_is_one_element_for_each_and_escaped() {
    let skills = catalogue(&[("user /u/a", "Reads <b> & \"c\"."), ("user /u/b", &"<".repeat(300))]);
    let options = |budget_chars| ListingOptions { form: ListingForm::Xml, ..budget(budget_chars) };
    let listing = skills.listing(&options(8_000));
    let first = "<skill><name>a</name><description>Reads &lt;b&gt; &amp; &quot;c&quot;.</description></skill>\n";
    assert!(listing.text.starts_with(first), "{}", listing.text);
    let listing = skills.listing(&options(600));
    assert!(chars(&listing.text) <= 600 && listing.text.ends_with("&lt;…</description></skill>\n"), "{}", listing.text);
    let names = skills.listing(&options(75));
    assert_eq!(names.text, "<skill><name>a</name></skill>\n<skill><name>b</name></skill>\n");
}

#[test]
fn the_budget_of_a_context_window_is_a_hundredth_of_it() {
    assert_eq!(ListingOptions::budget_of_context(200_000), 8_000);
    assert_eq!(ListingOptions::budget_of_context(0), 0);
    assert_eq!(ListingOptions::budget_of_context(usize::MAX), usize::MAX / 100);
}

#[test]
fn the_guidance_has_every_rule() {
    for rule in [
        "`/name` in a message of the user names a skill",
        "call the Skill tool before you answer",
        "A `<command-name>` tag in the current turn means that the skill is loaded already",
        "names and short descriptions only",
        "suggested to the user by its name, and what it would do is not imitated",
    ] {
        assert_eq!(SKILL_TOOL_GUIDANCE.lines().filter(|line| line.contains(rule)).count(), 1, "{rule}");
    }
}

proptest! {
    #[test]
    fn a_listing_keeps_to_its_budget_and_names_whom_it_can(
        skills in prop::collection::btree_map("[a-z]{1,12}", ("\\PC{0,200}", any::<bool>(), 0..4_u64), 0..40),
        budget_chars in 0..6_000_usize,
        xml in any::<bool>(),
    ) {
        let lines: Vec<(String, &str)> = skills
            .iter()
            .map(|(name, (text, bundled, _))| (format!("{} /u/{name}", if *bundled { "bundled" } else { "user" }), text.as_str()))
            .collect();
        let pairs: Vec<(&str, &str)> = lines.iter().map(|(line, text)| (line.as_str(), *text)).collect();
        let form = if xml { ListingForm::Xml } else { ListingForm::Text };
        let used = skills.iter().map(|(name, (_, _, used))| (format!("user:{name}"), *used)).collect();
        let catalogue = catalogue(&pairs);
        let options = ListingOptions { form, used, ..budget(budget_chars) };
        let listing = catalogue.listing(&options);
        prop_assert!(chars(&listing.text) <= budget_chars);
        prop_assert_eq!(listing.entries.len(), catalogue.offered_to_model().count());
        let count = |level: Level| listing.entries.iter().filter(|listed| listed.level == level).count();
        prop_assert_eq!(listing.cut.deferred, count(Level::Deferred));
        prop_assert_eq!(listing.cut.short, count(Level::Short));
        prop_assert_eq!(listing.cut.name_only, count(Level::Name));
        if listing.cut.deferred > 0 {
            prop_assert_eq!(count(Level::Full) + count(Level::Pinned) + count(Level::Short), 0, "first the descriptions go");
        }
        // A larger budget never tells less, unless it is enough to keep pinned ones whole and others pay for it.
        let pays = catalogue.offered_to_model().any(|entry| entry.skill().id.source == Source::Bundled);
        let more = catalogue.listing(&ListingOptions { budget_chars: budget_chars + 500, ..options });
        prop_assert!(more.cut.deferred <= listing.cut.deferred);
        prop_assert!(pays || more.cut.deferred > 0 || more.cut.name_only <= listing.cut.name_only + listing.cut.deferred);
    }

    #[test]
    fn a_short_description_is_never_shorter_than_the_least(
        lengths in prop::collection::vec(0..300_usize, 1..30),
        budget_chars in 300..4_000_usize,
    ) {
        let lines: Vec<(String, String)> =
            lengths.iter().enumerate().map(|(index, length)| (format!("user /u/s{index:02}"), "y".repeat(*length))).collect();
        let pairs: Vec<(&str, &str)> = lines.iter().map(|(line, text)| (line.as_str(), text.as_str())).collect();
        let listing = catalogue(&pairs).listing(&budget(budget_chars));
        for (line, listed) in listing.text.lines().zip(&listing.entries) {
            if listed.level == Level::Short {
                prop_assert!(chars(line) >= "- s00: ".len() + MIN_DESCRIPTION_CHARS, "{}", line);
            }
        }
    }
}
