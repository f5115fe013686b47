use skillgate_core::{Profile, Source};

/// The sources in the order in which they take a name, the strongest first.
///
/// For `safe`, and for `strict`, which has no order of its own: managed, project, additional, user, plugin, bundled, pack,
/// mcp. For `claude`: managed, user, project, additional, plugin, bundled, pack, mcp.
#[must_use]
pub fn precedence(profile: Profile) -> [Source; 8] {
    match profile {
        Profile::Safe | Profile::Strict => Source::ALL,
        Profile::Claude => [
            Source::Managed,
            Source::User,
            Source::Project,
            Source::Additional,
            Source::Plugin,
            Source::Bundled,
            Source::Pack,
            Source::Mcp,
        ],
    }
}

pub(crate) fn rank(profile: Profile, source: Source) -> usize {
    let order = precedence(profile);
    order.iter().position(|other| *other == source).unwrap_or(order.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_orders_every_source() {
        for profile in [Profile::Safe, Profile::Claude, Profile::Strict] {
            let mut order = precedence(profile);
            order.sort_unstable();
            assert_eq!(order, {
                let mut all = Source::ALL;
                all.sort_unstable();
                all
            });
        }
    }
}
