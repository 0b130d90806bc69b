/* Tells the fuzzers of npu-conformance what a driver or runtime in C or C++ reaches.
 *
 * Compile your sources with -fsanitize-coverage=trace-pc (clang and gcc know it), this file without, and link both:
 *
 *     cc -c -fPIC npu_coverage.c
 *     cc -fsanitize-coverage=trace-pc -shared -fPIC -o libdriver.so driver.c npu_coverage.o
 *
 * Every library or program gets a copy of its own. Nothing is counted where the environment names no table.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 1 << 16 };
static uint8_t nobody_looks[SIZE];
static uint8_t *table = nobody_looks;
static __thread uintptr_t before;

__attribute__((constructor)) static void find_table(void) {
    const char *path = getenv("NPU_CONFORMANCE_COVERAGE");
    int descriptor = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    struct stat file;
    if (descriptor < 0) return;
    if (fstat(descriptor, &file) == 0 && file.st_size == SIZE) {
        void *mapped = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (mapped != MAP_FAILED) table = mapped;
    }
    close(descriptor);
}

/* Called wherever the program may branch: counts the way from the place before to this one. Places are counted from
 * this library on, so that they have the same numbers wherever it is loaded. */
__attribute__((visibility("hidden"))) void __sanitizer_cov_trace_pc(void) {
    uintptr_t place = (uintptr_t)__builtin_return_address(0) - (uintptr_t)nobody_looks;
    uint32_t way = (uint32_t)(place ^ (before << 1)) * 2654435761u;
    before = place;
    table[way >> 16]++;
}
