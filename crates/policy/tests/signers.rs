//! Which keys count, and what packs that they signed are granted.

use skillgate_policy::file::{Day, KeyStanding, Layers, Level, Policy, PolicyFile, PublicKey};

const ONE: &str = "0101010101010101010101010101010101010101010101010101010101010101";
const TWO: &str = "skillgate-public:0202020202020202020202020202020202020202020202020202020202020202";

const TODAY: Day = Day { year: 2026, month: 11, day: 30 };

fn file(level: Level, text: &str) -> Option<PolicyFile> {
    Some(PolicyFile::parse(text, level, "policy.toml").expect("a policy"))
}

fn entry(id: &str, public: &str, more: &str) -> String {
    format!("[[keys]]\nid = \"{id}\"\npublic = \"{public}\"\n{more}\n")
}

fn policy(managed: &str, user: &str) -> Policy {
    Policy::of(Layers { managed: file(Level::Managed, managed), user: file(Level::User, user), ..Layers::default() })
}

fn granted(policy: &Policy, keys: &[&str]) -> Option<Vec<String>> {
    let keys: Vec<PublicKey> = keys.iter().map(|key| PublicKey::parse(key).expect("a key")).collect();
    let grant = policy.granted_to_signers(&keys, TODAY)?;
    Some(grant.allow.iter().map(|pattern| pattern.text().to_owned()).collect())
}

#[test]
fn a_key_grants_what_its_entry_says_while_it_counts() {
    let allow = "allow = [\"Bash(git:*)\"]";
    let user = entry("one", ONE, allow);
    assert_eq!(granted(&policy("", &user), &[ONE]), Some(vec!["Bash(git:*)".to_owned()]));
    assert_eq!(granted(&policy("", &user), &[TWO]), None, "another key");
    assert_eq!(granted(&policy("", &user), &[]), None, "no key");
    for (more, counts) in [
        ("expires = 2026-11-30", true),
        ("expires = 2026-11-29", false),
        ("expires = 2027-01-01", true),
        ("revoked = false", true),
        ("revoked = true", false),
    ] {
        let user = entry("one", ONE, &format!("{allow}\n{more}"));
        assert_eq!(granted(&policy("", &user), &[ONE]).is_some(), counts, "{more}");
    }
}

#[test]
fn hooks_run_where_the_entry_of_a_key_that_counts_says_so() {
    let hooks = |user: &str| {
        let keys = [ONE, TWO].map(|key| PublicKey::parse(key).expect("a key"));
        policy("", user).granted_to_signers(&keys, TODAY).is_some_and(|grant| grant.hooks)
    };
    assert!(!hooks(&entry("one", ONE, "")));
    assert!(hooks(&entry("one", ONE, "hooks = true")));
    assert!(hooks(&(entry("one", ONE, "hooks = true") + &entry("two", TWO, "hooks = false"))), "one says so");
    assert!(!hooks(&(entry("one", ONE, "hooks = true\nrevoked = true") + &entry("two", TWO, ""))));
}

#[test]
fn whoever_revokes_a_key_revokes_it_for_all_and_under_every_name() {
    let user = entry("one", ONE, "allow = [\"Bash(git:*)\"]");
    let revoking = entry("stolen", ONE, "revoked = true");
    let key = PublicKey::parse(ONE).expect("a key");
    assert_eq!(policy("", &user).standing(&key, TODAY), KeyStanding::Counts);
    assert_eq!(policy(&revoking, &user).standing(&key, TODAY), KeyStanding::Revoked);
    let both = format!("{user}{revoking}");
    assert_eq!(policy("", &both).standing(&key, TODAY), KeyStanding::Revoked);
    assert_eq!(granted(&policy(&revoking, &user), &[ONE]), None);
}

#[test]
fn during_a_rotation_the_key_that_counts_grants() {
    let old = entry("old", ONE, "allow = [\"Bash(git:*)\"]\nrevoked = true");
    let new = entry("new", TWO, "allow = [\"Bash(ls:*)\"]");
    let policy = policy("", &format!("{old}{new}"));
    assert_eq!(granted(&policy, &[ONE, TWO]), Some(vec!["Bash(ls:*)".to_owned()]));
    assert_eq!(granted(&policy, &[ONE]), None);
}
