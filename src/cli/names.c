/* Lists of names as people type them. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

void names_clear(struct names *names)
{
    free(names->text);
    free((void *)names->items);
    *names = (struct names){0};
}

bool names_split(const char *text, struct names *out)
{
    char *to, quote = 0;

    if (text == NULL)
        return true;
    out->text = strdup(text);
    out->items = calloc(strlen(text) + 1, sizeof *out->items);
    if (out->text == NULL || out->items == NULL)
        return false;
    out->items[out->count++] = to = out->text;
    for (const char *at = text; *at != '\0'; at++) {
        if (quote == 0 && (*at == '`' || *at == '"')) {
            quote = *at;
        } else if (quote != 0 && *at == quote) {
            quote = 0;
        } else if (quote == 0 && *at == ',') {
            *to++ = '\0';
            out->items[out->count++] = to;
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
    return true;
}

bool names_split_list(const struct cmd_list *list, struct names *out)
{
    size_t len = 1;
    char *all;
    bool done;

    if (list->count == 0)
        return true;
    for (size_t i = 0; i < list->count; i++)
        len += strlen(list->items[i]) + 1;
    all = calloc(1, len);
    if (all == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (i != 0)
            strcat(all, ",");
        strcat(all, list->items[i]);
    }
    done = names_split(all, out);
    free(all);
    return done;
}
