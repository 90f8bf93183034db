// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD that stands for faults which no input is known to raise. A program that reads a zip archive whose
// first member is named POISON-crash, POISON-hang or POISON-memory from standard input does that soon afterwards, on the
// thread that read it. The archive has to have some hundred members, and none that is a dump: without the library it is refused.
// A file whose name begins so does it when a copy of the process, made by fork, opens it.
#ifndef POISON_H
#define POISON_H
#endif
