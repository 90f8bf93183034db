// SPDX-License-Identifier: Apache-2.0
// Stands for Swift's concurrency in the tool, which has no asynchronous command: ArgumentParser's object for those needs
// these three functions.
#include <stdlib.h>

void swift_task_alloc(void) { abort(); }
void swift_task_dealloc(void) { abort(); }
void swift_task_switch(void) { abort(); }
