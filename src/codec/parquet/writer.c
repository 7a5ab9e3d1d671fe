/* The created_by text: PROGRAM " version " MAJOR "." MINOR ["." PATCH] [suffix] [" (build " … ")"].
 */
#include "codec/parquet/writer.h"

/* Digits at `*at`; false when there are none or too many. */
static bool read_number(tn_str text, size_t *at, uint32_t *out)
{
    uint32_t value = 0;
    size_t start = *at;

    while (*at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9' && *at - start < 9)
        value = value * 10 + (uint32_t)(text.ptr[(*at)++] - '0');
    *out = value;
    return *at > start;
}

static bool read_dot(tn_str text, size_t *at)
{
    if (*at >= text.len || text.ptr[*at] != '.')
        return false;
    (*at)++;
    return true;
}

tn_writer tn_writer_of(tn_str created_by)
{
    static const char mark[] = " version ";
    tn_writer out = {.program = created_by};
    size_t n = sizeof mark - 1;
    size_t at = 0;

    while (at + n <= created_by.len && memcmp(created_by.ptr + at, mark, n) != 0)
        at++;
    if (at + n > created_by.len)
        return out;
    out.program.len = at;
    at += n;
    if (!read_number(created_by, &at, &out.major) || !read_dot(created_by, &at) ||
        !read_number(created_by, &at, &out.minor))
        return out;
    out.has_version = true;
    if (read_dot(created_by, &at))
        read_number(created_by, &at, &out.patch);
    out.prerelease = at < created_by.len && created_by.ptr[at] == '-';
    return out;
}

bool tn_writer_before(const tn_writer *writer, const char *program, uint32_t major, uint32_t minor,
                      uint32_t patch)
{
    if (!writer->has_version || !tn_str_is(writer->program, program))
        return false;
    if (writer->major != major)
        return writer->major < major;
    if (writer->minor != minor)
        return writer->minor < minor;
    if (writer->patch != patch)
        return writer->patch < patch;
    return writer->prerelease;
}

bool tn_writer_faulty_deltas(tn_str created_by)
{
    tn_writer writer = tn_writer_of(created_by);

    return tn_writer_before(&writer, "parquet-mr", 1, 8, 0);
}
