/// What a model is told about the Skill tool, beside the listing.
pub const SKILL_TOOL_GUIDANCE: &str = "\
A skill is a set of instructions for one kind of task. The Skill tool loads it into the conversation.

- `/name` in a message of the user names a skill: `/review` means the skill `review`. Call the Skill tool with it.
- When a skill matches what the user asks for, call the Skill tool before you answer.
- A `<command-name>` tag in the current turn means that the skill is loaded already: follow it, and do not call the tool again.
- The list holds names and short descriptions only; what a skill says is known when it is loaded. Use no name that is not in the list.
- A skill that only the user may invoke is suggested to the user by its name, and what it would do is not imitated.
";
