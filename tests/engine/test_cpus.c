/* SPDX-License-Identifier: MIT */
/* Default number of threads of a context: environment, affinity, quotas. */
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpus.h"
#include "support/problems.h"

/* Threads of a context with default options; 0 without a context. */
static int threads_by_default(void)
{
    auto_context ctx = NULL;

    if (attend_context_create(&ctx, NULL, NULL) != ATTEND_OK)
        return 0;
    const int threads = attend_context_threads(ctx);
    return threads;
}

TEST(the_environment)
{
    static const struct {
        const char *value;
        int threads; /* 0: the CPUs */
    } cases[] = {{"3", 3},  {"5,2,1", 5}, {" 7 ", 7}, {"6 , 2", 6},
                 {"0", 0},  {"-2", 0},    {"", 0},    {"many", 0},
                 {"3x", 0}, {",4", 0},    {"2.5", 0}, {"99999999999999999999", 4096}};

    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
        setenv("OMP_NUM_THREADS", cases[at].value, 1);
        const int want = cases[at].threads ? cases[at].threads : attendi_cpus();
        CHECK(threads_by_default() == want, "OMP_NUM_THREADS=%s gives %d, not %d",
              cases[at].value, threads_by_default(), want);
    }
    unsetenv("OMP_NUM_THREADS");
    CHECK(threads_by_default() == attendi_cpus(), "%d", threads_by_default());
}

#ifdef __linux__

/* In a child process: whether the number of threads follows mask and quota. */
static int follows_mask(const cpu_set_t *all, int count)
{
    const int quota = attendi_cpu_quota("");
    cpu_set_t some;
    int taken = 0;

    CPU_ZERO(&some);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && taken < count; cpu++)
        if (CPU_ISSET(cpu, all)) {
            CPU_SET(cpu, &some);
            taken++;
        }
    unsetenv("OMP_NUM_THREADS");
    return sched_setaffinity(0, sizeof some, &some) == 0 &&
           threads_by_default() == (count < quota ? count : quota);
}

TEST(affinity)
{
    cpu_set_t all;

    if (sched_getaffinity(0, sizeof all, &all) != 0)
        SKIP("this machine has more CPUs than a cpu_set_t");
    for (int count = 1; count <= CPU_COUNT(&all); count++) {
        fflush(stdout);
        const pid_t child = fork();
        int status = -1;
        if (child == 0)
            _exit(!follows_mask(&all, count));
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0,
              "a mask of %d CPUs", count);
    }
}

static char root[] = "/tmp/attend-cpus-XXXXXX";

/* Writes a file below the root, and creates its folders. */
static void write_file(const char *path, const char *text)
{
    char full[512];

    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + sizeof root; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *const file = fopen(full, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(full);
        exit(2);
    }
}

static void remove_root(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0)
        perror(root);
}

TEST(quotas)
{
    static const struct {
        const char *groups; /* /proc/self/cgroup */
        int cpus;
    } cases[] = {
        {"0::/\n", 12},
        {"0::/open\n", 12},      /* its own quota is max */
        {"0::/open/half\n", 1},  /* 50 ms of 100 */
        {"0::/open/many\n", 12}, /* the parent's quota is lower */
        {"0::/three/open", 3},   /* 2.5, rounded up; no newline */
        {"0::/not/there\n", 12}, /* a container with the cgroup names of its host */
        {"0::/broken\n", 12},    /* neither numbers nor "max" */
        {"0::/../other\n", INT_MAX},
        {"1:name=systemd:/one\n", INT_MAX},
        {"5:cpuset:/one\n4:cpu,cpuacct:/one\n0::/\n", 2},
        {"4:cpuacct,cpu:/joint\n", 5},
        {"4:cpu:/free\n", 20}, /* -1: no quota here, but the parent has one */
        {"nonsense\n", INT_MAX},
        {"", INT_MAX},
    };

    CHECK(mkdtemp(root) != NULL, "a folder");
    CHECK(attendi_cpu_quota(root) == INT_MAX, "an empty folder");
    write_file("/sys/fs/cgroup/cpu.max", "1200000 100000\n");
    write_file("/sys/fs/cgroup/open/cpu.max", "max 100000\n");
    write_file("/sys/fs/cgroup/open/half/cpu.max", "50000 100000\n");
    write_file("/sys/fs/cgroup/open/many/cpu.max", "6400000 100000\n");
    write_file("/sys/fs/cgroup/three/cpu.max", "250000 100000\n");
    write_file("/sys/fs/cgroup/three/open/cpu.max", "max 100000\n");
    write_file("/sys/fs/cgroup/broken/cpu.max", "0 0\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "1000000\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n");
    write_file("/sys/fs/cgroup/cpu/one/cpu.cfs_quota_us", "150000\n");
    write_file("/sys/fs/cgroup/cpu/one/cpu.cfs_period_us", "100000\n");
    write_file("/sys/fs/cgroup/cpu/free/cpu.cfs_quota_us", "-1\n");
    write_file("/sys/fs/cgroup/cpu/free/cpu.cfs_period_us", "100000\n");
    write_file("/sys/fs/cgroup/cpuacct,cpu/joint/cpu.cfs_quota_us", "500000\n");
    write_file("/sys/fs/cgroup/cpuacct,cpu/joint/cpu.cfs_period_us", "100000\n");
    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
        write_file("/proc/self/cgroup", cases[at].groups);
        const int cpus = attendi_cpu_quota(root);
        CHECK(cpus == cases[at].cpus, "%s gives %d, not %d", cases[at].groups, cpus,
              cases[at].cpus);
    }
    remove_root();
}

#else

TEST(affinity) { SKIP("no affinity masks here"); }
TEST(quotas) { SKIP("no control groups here"); }

#endif
