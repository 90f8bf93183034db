// SPDX-License-Identifier: Apache-2.0
// Instructions as text, by the system's capstone, which is loaded when the first instruction is read: it is needed neither
// for building nor for anything else. The layouts are part of its binary interfaces 4 and 5 (capstone/capstone.h).
#ifndef CRASHPADCTL_CCAPSTONE_H
#define CRASHPADCTL_CCAPSTONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum capstone_code {
  CAPSTONE_ARM,
  CAPSTONE_THUMB,
  CAPSTONE_ARM64,
  CAPSTONE_X86,
  CAPSTONE_X86_64,
};

struct capstone;

// One instruction: how many bytes it takes, and its mnemonic and operands, which end with a zero.
struct capstone_line {
  size_t size;
  char mnemonic[33];
  char operands[161];
};

// Whether a version of the library is installed whose layouts are known.
bool capstone_is_installed(void);

// Returns NULL without the library, or if it was built without this architecture.
struct capstone *_Nullable capstone_begin(enum capstone_code code);

// Reads the instruction at the start of `bytes`; false if they are not an instruction.
bool capstone_read(struct capstone *_Nonnull reader, const uint8_t *_Nonnull bytes, size_t count, uint64_t address,
                   struct capstone_line *_Nonnull line);

void capstone_end(struct capstone *_Nonnull reader);

#endif
