/* shout [FILE...]: writes the files, or standard input, in capital letters.
 *
 * An ordinary C program; docs/writing-a-command.md says how it becomes a component. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void shout(FILE *input) {
    int c;
    while ((c = getc(input)) != EOF)
        putchar(toupper(c));
}

int main(int argc, char **argv) {
    int status = 0;
    if (argc < 2)
        shout(stdin);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "r");
        if (!file) {
            fprintf(stderr, "shout: %s: %s\n", argv[i], strerror(errno));
            status = 1;
            continue;
        }
        shout(file);
        fclose(file);
    }
    return fflush(stdout) ? 1 : status;
}
