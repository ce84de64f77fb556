/* SPDX-License-Identifier: BSD-3-Clause */
#include "completion.h"

#include <stdio.h>
#include <string.h>

#include "exit_status.h"
#include "option_rows.h"
#include "say.h"

/* Whether a command stands in the overview, with its own options. */
#define EACH_COMMAND(row)                                                \
    for (const struct command_row *row = command_rows; row->word; row++) \
        if (row->summary)
#define EACH_OPTION(row)                                               \
    for (const struct option_row *row = option_rows; row->name; row++) \
        if (row->summary)

static bool is_path(const struct option_row *row)
{
    return row->kind == VALUE_LIBRARY || row->kind == VALUE_OUTPUT;
}

static bool is_directory(const struct option_row *row)
{
    return row->kind == VALUE_OBJECTS || row->kind == VALUE_NEW_DIRECTORY;
}

/* Text for inside of single quotes: an apostrophe ends them, stands alone, and begins them again.  For zsh,
   what its _arguments gives a meaning to is escaped as well. */
static void put_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr(special, *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void put_words(uint32_t commands)
{
    EACH_OPTION(row)
    {
        if (row->commands & commands)
            printf(row->letter ? " --%s -%c" : " --%s", row->name, row->letter);
    }
}

/* As a pattern of case: report|why. */
static void put_commands(void)
{
    const char *before = "";
    EACH_COMMAND(row)
    {
        printf("%s%s", before, row->word);
        before = "|";
    }
}

/* As a pattern of case: --html|--json-to. */
static void put_pattern(bool (*wanted)(const struct option_row *))
{
    const char *before = "    ";
    EACH_OPTION(row)
    {
        if (!wanted(row))
            continue;
        printf("%s--%s", before, row->name);
        if (row->letter)
            printf("|-%c", row->letter);
        before = "|";
    }
    puts(")");
}

static bool is_other_value(const struct option_row *row)
{
    return option_needs_value(row) && !is_path(row) && !is_directory(row) && row->kind != VALUE_CHOICE;
}

static void bash(void)
{
    puts("# mpiq completion for bash; made by: mpiq completion bash\n"
         "_mpiq()\n{\n"
         "    local word command= cur=$2 prev=$3 i\n"
         "    COMPREPLY=()\n"
         "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "        word=${COMP_WORDS[i]}\n"
         "        if [[ $word == -- && ( $command == run || $command == record ) ]]; then\n"
         "            if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); return; fi\n"
         "            compopt -o default\n"
         "            ((COMP_CWORD > i + 1)) || mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
         "            return\n"
         "        fi\n"
         "        [[ -n $command ]] || case $word in");
    fputs("        ", stdout);
    put_commands();
    puts(") command=$word ;;\n"
         "        esac\n"
         "    done\n"
         "    case $prev in");
    put_pattern(is_path);
    puts("        compopt -o default; return ;;");
    put_pattern(is_directory);
    puts("        mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); compopt -o filenames; return ;;");
    EACH_OPTION(row)
    {
        if (row->kind == VALUE_CHOICE)
            printf("    --%s) mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\"); return ;;\n", row->name,
                   row->choices);
    }
    put_pattern(is_other_value);
    puts("        return ;;\n"
         "    esac\n"
         "    local words\n"
         "    case $command in");
    EACH_COMMAND(row)
    {
        printf("    %s%s) words='", row->word, row->command == COMMAND_REPORT ? "|''" : "");
        put_words(ONE(row->command));
        puts("' ;;");
    }
    puts("    esac\n"
         "    if [[ $cur == -* ]]; then");
    puts("        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
         "        return\n"
         "    fi\n"
         "    if [[ -z $command || $command == help ]]; then");
    fputs("        mapfile -t COMPREPLY < <(compgen -W '", stdout);
    EACH_COMMAND(row) printf(" %s", row->word);
    puts("' -- \"$cur\")\n"
         "    fi\n"
         "    [[ $command == help ]] || compopt -o default\n"
         "}\n"
         "complete -F _mpiq mpiq");
}

static const char *zsh_action(const struct option_row *row)
{
    return is_path(row) ? "_files" : is_directory(row) ? "_files -/" : "";
}

static void zsh(void)
{
    puts("#compdef mpiq\n"
         "# mpiq completion for zsh; made by: mpiq completion zsh\n"
         "_mpiq()\n{\n"
         "    local context state line curcontext=$curcontext\n"
         "    local -a known options\n"
         "    local word command\n"
         "    known=(");
    EACH_COMMAND(row)
    {
        printf("        '%s:", row->word);
        put_quoted(row->summary, ":\\");
        puts("'");
    }
    puts("    )\n"
         "    for word in ${words[2,CURRENT-1]}; do\n"
         "        case $word in");
    fputs("        ", stdout);
    put_commands();
    puts(") command=$word; break ;;\n"
         "        esac\n"
         "    done\n"
         "    case ${command:-report} in");
    EACH_COMMAND(command)
    {
        printf("    %s) options=(\n", command->word);
        EACH_OPTION(row)
        {
            if (!(row->commands & ONE(command->command)))
                continue;
            for (int form = 0; form < (row->letter ? 2 : 1); form++) { /* long, then short */
                if (form > 0)
                    printf("        '-%c[", row->letter);
                else
                    printf("        '--%s%s[", row->name, row->kind == VALUE_CHECK ? "=-" : "");
                put_quoted(row->summary, "[]\\:");
                putchar(']');
                if (row->choices)
                    printf("%s%s:(%s)", row->kind == VALUE_CHECK ? "::" : ":", row->value, row->choices);
                else if (row->value)
                    printf(":%s:%s", row->value, zsh_action(row));
                puts("'");
            }
        }
        puts("        ) ;;");
    }
    puts("    esac\n"
         "    case $command in\n"
         "    run|record)\n"
         "        local at=${words[(i)--]}\n"
         "        if (( at < CURRENT )); then shift $at words; (( CURRENT -= at )); _normal\n"
         "        else _arguments $options '1: :($command)' '*: :_command_names -e'; fi ;;\n"
         "    help) _arguments '1: :(help)' '2: :{_describe command known}' ;;\n"
         "    '') _arguments $options '1: :{_describe command known; _files}' '*:target:_files' ;;\n"
         "    *) _arguments $options '1: :($command)' '*:target:_files' ;;\n"
         "    esac\n"
         "}\n"
         "if [[ $funcstack[1] == _mpiq ]]; then _mpiq \"$@\"; else compdef _mpiq mpiq; fi");
}

static void fish(void)
{
    puts("# mpiq completion for fish; made by: mpiq completion fish\n"
         "complete -c mpiq -n '__fish_seen_subcommand_from run record; and contains -- -- (commandline "
         "-opc)' -x "
         "-a '(complete -C (string replace -r \"^.*? -- \" \"\" -- (commandline -cp)))'");
    EACH_COMMAND(row)
    {
        printf("complete -c mpiq -n __fish_use_subcommand -a %s -d '", row->word);
        put_quoted(row->summary, "\\");
        puts("'");
        printf("complete -c mpiq -n '__fish_seen_subcommand_from help' -x -a %s\n", row->word);
    }
    EACH_OPTION(row)
    {
        fputs("complete -c mpiq -n '", stdout);
        if (row->commands & ONE(COMMAND_REPORT))
            fputs("__fish_use_subcommand; or ", stdout);
        fputs("__fish_seen_subcommand_from", stdout);
        EACH_COMMAND(command)
        {
            if (row->commands & ONE(command->command))
                printf(" %s", command->word);
        }
        printf("' -l %s", row->name);
        if (row->letter)
            printf(" -s %c", row->letter);
        if (row->kind == VALUE_CHOICE)
            printf(" -x -a '%s'", row->choices);
        else if (row->kind == VALUE_CHECK)
            printf(" -a '%s'", row->choices);
        else if (is_directory(row))
            fputs(" -x -a '(__fish_complete_directories)'", stdout);
        else if (option_needs_value(row))
            fputs(is_path(row) ? " -r -F" : " -x", stdout);
        fputs(" -d '", stdout);
        put_quoted(row->summary, "\\");
        puts("'");
    }
}

int print_completion(const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print();
            return put_out(NULL, "");
        }
    }
    fprintf(stderr, "mpiq: there are completions for bash, zsh and fish, not for '%s'\n", shell);
    return EXIT_USAGE;
}
