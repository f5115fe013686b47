use skillgate_core::Skill;
use skillgate_exec::Scene;
use std::path::Path;

/// Adds to a scene what hooks find in their environment: `CLAUDE_PROJECT_DIR`, `CLAUDE_SKILL_DIR`, and for a skill of a plugin
/// `CLAUDE_PLUGIN_ROOT` and `CLAUDE_PLUGIN_DATA`. What is there already stays.
#[must_use]
pub fn with_hook_environment(mut scene: Scene, skill: &Skill, project: Option<&Path>) -> Scene {
    let plugin = skill.plugin.as_ref();
    let places = [
        ("CLAUDE_PROJECT_DIR", project),
        ("CLAUDE_SKILL_DIR", skill.directory.as_deref()),
        ("CLAUDE_PLUGIN_ROOT", plugin.map(|plugin| plugin.root.as_path())),
        ("CLAUDE_PLUGIN_DATA", plugin.and_then(|plugin| plugin.data.as_deref())),
    ];
    for (name, path) in places {
        let Some(path) = path else { continue };
        if !scene.environment.iter().any(|(known, _)| known == name) {
            scene.environment.push((name.to_owned(), path.to_string_lossy().replace('\\', "/")));
        }
    }
    scene
}
