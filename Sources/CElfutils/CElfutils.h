// libelf and libdw of elfutils, and what Swift can't see of them.
#ifndef CRASHPADCTL_CELFUTILS_H
#define CRASHPADCTL_CELFUTILS_H

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <libelf.h>

#endif
