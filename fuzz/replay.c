/* Runs a fuzz target over files: each as it is, then every truncation of the small ones, then each
 * with one bit flipped at every place. Usage: fuzz_<name> DIRECTORY…
 *
 * I1: a directory without files is a failure: a corpus that went missing must not pass. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_BYTES 2048
#define INPUT_MAX   (4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exactly `size` bytes, so that a sanitizer sees a read past the end. */
static void run_exact(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);

    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(INPUT_MAX);
    size_t size;

    if (file == NULL || data == NULL) {
        fprintf(stderr, "%s: not readable\n", path);
        exit(1);
    }
    size = fread(data, 1, INPUT_MAX, file);
    fclose(file);
    run_exact(data, size);
    for (size_t i = 0; size <= SMALL_BYTES && i < size; i++) {
        run_exact(data, i);
        data[i] ^= (uint8_t)(1u << (i % 8));
        run_exact(data, size);
        data[i] ^= (uint8_t)(1u << (i % 8));
    }
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    int count = 0;

    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        struct dirent *entry;

        while (dir != NULL && (entry = readdir(dir)) != NULL) {
            char path[4096];

            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            count += run_file(path);
        }
        if (dir != NULL)
            closedir(dir);
    }
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
