// SPDX-License-Identifier: Apache-2.0
// libelf of elfutils, and the numbers of DWARF.
#ifndef CRASHPADCTL_CELFUTILS_H
#define CRASHPADCTL_CELFUTILS_H

#include "CDwarf.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#endif
