internal import CElfutils

func probe() { _ = elf_version(UInt32(EV_CURRENT)) }
