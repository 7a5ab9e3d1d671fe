/* Instants, as several commands print them. */
#ifndef CLI_INSTANT_PRINT_H
#define CLI_INSTANT_PRINT_H

#include "cmd.h"
#include "tarn/timeline.h"

/* "2024-04-18 17:28:04.498" of "20240418172804498"; other texts as they are. */
const char *instant_print_time(struct out_word *word, const char *time);
/* A table of them; with `counts` what commits wrote. */
void instant_print_table(struct out *out, const tarn_instant *instants, size_t count, bool counts);
void instant_print_json(struct out_json *json, const tarn_instant *instant);
/* Members of an object that is open. */
void instant_print_members(struct out_json *json, const tarn_instant *instant);

#endif
