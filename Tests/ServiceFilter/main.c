// SPDX-License-Identifier: Apache-2.0
// service-filter NUMBERS PROGRAM [ARGUMENT...]: becomes a program that is killed at every system call but those whose numbers
// stand in the file NUMBERS. It does what systemd does for SystemCallFilter=.
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "which architecture?"
#endif

static struct sock_filter code[4096];
static unsigned short count;

static void add(struct sock_filter instruction) { code[count++] = instruction; }

int main(int argument_count, char **arguments) {
  if (argument_count < 3) return 64;
  FILE *numbers = fopen(arguments[1], "r");
  if (!numbers) return 66;
  add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
  add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
  unsigned number;
  while (count < 4000 && fscanf(numbers, "%u", &number) == 1) {
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  fclose(numbers);
  add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  struct sock_fprog program = {count, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("service-filter");
    return 71;
  }
  execv(arguments[2], arguments + 2);
  perror(arguments[2]);
  return 127;
}
