/* A handler for `Stop`: as long as the last message promises something for later, the agent goes on.
 *
 * Plain C against the component model's own interface, without a library: docs/hooks.md says how it becomes a component. The
 * names of the exports and the layout of the answer follow from wit/hook/0.1/hook.wit. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The track of the world that this was written for, in a section of its own. */
__asm__(".section \".custom_section.skillgate:hook\",\"\",@\n.ascii \"0.1\"\n");

enum verdict { PASS, DENY, ASK, CONTEXT, REWRITE };

struct answer {
    uint8_t verdict;
    const char *text;
    size_t length;
};

/* What the host writes the event into. Each call has a fresh instance, so nothing is ever given back. */
static uint8_t memory[1 << 20];
static size_t used;

__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size) {
    used = (used + align - 1) & ~(align - 1);
    if (size > sizeof memory - used)
        __builtin_trap(); /* The host takes it for a failure. */
    void *fresh = memory + used;
    used += size;
    if (old_size)
        memcpy(fresh, old, old_size < size ? old_size : size);
    return fresh;
}

static int holds(const uint8_t *text, size_t length, const char *word) {
    size_t wanted = strlen(word);
    for (size_t at = 0; at + wanted <= length; at++)
        if (!memcmp(text + at, word, wanted))
            return 1;
    return 0;
}

__attribute__((export_name("skillgate:hook/handler@0.1.0#handle"))) const struct answer *
handle(const char *event, size_t event_length, const uint8_t *input, size_t input_length) {
    static struct answer answer;
    static const char reason[] = "the last message promises something for later: do it now, or say that you will not";
    int stops = event_length == 4 && !memcmp(event, "Stop", 4);
    /* Who was told once already is let go. */
    int again = holds(input, input_length, "\"stop_hook_active\":true");
    if (stops && !again && holds(input, input_length, "TODO"))
        answer = (struct answer){DENY, reason, sizeof reason - 1};
    else
        answer = (struct answer){PASS, NULL, 0};
    return &answer;
}
