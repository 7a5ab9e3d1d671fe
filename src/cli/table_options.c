/* Options that say what a Hudi table is. */
#include "table_options.h"

const char *const table_versions[] = {"6", "8", "9", NULL};

void table_options_clear(struct table_names *names)
{
    names_clear(&names->keys);
    names_clear(&names->partitions);
    names_clear(&names->ordering);
}

bool table_options_of(const struct table_values *values, struct table_names *names,
                      tarn_table_options *out)
{
    static const int versions[] = {6, 8, 9};

    if (!names_split_list(&values->key, &names->keys) ||
        !names_split_list(&values->partition, &names->partitions) ||
        !names_split_list(&values->ordering, &names->ordering))
        return false;
    *out = (tarn_table_options){.keys = names->keys.items,
                                .key_count = names->keys.count,
                                .partition_by = names->partitions.items,
                                .partition_by_count = names->partitions.count,
                                .ordering = names->ordering.items,
                                .ordering_count = names->ordering.count,
                                .version = values->version >= 0 ? versions[values->version] : 0,
                                .type = values->type,
                                .keygen = values->keygen,
                                .hive_style = values->hive_style,
                                .url_encode = values->url_encode,
                                .no_meta_fields = values->no_meta_fields,
                                .merge_mode = values->merge_mode,
                                .payload = values->payload,
                                .timezone = values->timezone,
                                .name = values->name,
                                .database = values->database,
                                .set = values->set.items,
                                .set_count = values->set.count,
                                .config = values->config};
    return true;
}
