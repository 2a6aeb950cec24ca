/*
 * Runs a fuzz target over files without libFuzzer: each file of the named folders as it is, and cut
 * short at every byte of its beginning, then at some.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_target.h"

enum { INPUT_MAX = 1 << 20, CUTS_MAX = 512, EACH_BYTE = 96, THEN_STEP = 7 };

/* Each input is a block of its own, so that a sanitizer sees a read behind its end. */
static void run_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) {
        abort();
    }
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int run_file(const char *path)
{
    static uint8_t data[INPUT_MAX];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return -1;
    }
    size_t size = fread(data, 1, sizeof data, f);
    (void) fclose(f);
    for (size_t cut = 0; cut < size && cut < CUTS_MAX; cut += cut < EACH_BYTE ? 1 : THEN_STEP) {
        run_copy(data, cut);
    }
    run_copy(data, size);
    return 0;
}

static int run_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        perror(folder);
        return -1;
    }
    int count = 0;
    struct dirent *entry;
    while (count >= 0 && (entry = readdir(dir))) {
        char path[4096];
        if (entry->d_name[0] == '.') {
            continue;
        }
        (void) snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count = run_file(path) == 0 ? count + 1 : -1;
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int count = argv[i][0] == '-' ? 0 : run_folder(argv[i]);
        if (count < 0) {
            return EXIT_FAILURE;
        }
        total += count;
    }
    printf("%d inputs\n", total);
    return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
