/*
 * without_uring COMMAND [ARGUMENT]...: runs it as where io_uring is not permitted, as in many
 * containers: a seccomp filter lets io_uring_setup() fail with EPERM.  Status 77 where there is no
 * such filter.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STATUS_SKIPPED = 77 };

int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (argc < 2) {
        fprintf(stderr, "usage: without_uring COMMAND [ARGUMENT]...\n");
        return 2;
    }
    /* Root needs no PR_SET_NO_NEW_PRIVS, and servers below it become another user. */
    if (geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        perror("without_uring: PR_SET_NO_NEW_PRIVS");
        return STATUS_SKIPPED;
    }
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("SKIPPED: no seccomp filter");
        return STATUS_SKIPPED;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 2;
}
