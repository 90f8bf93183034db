# SPDX-License-Identifier: Apache-2.0
# Every target works on a fresh clone: scripts/dependencies lists the missing system packages, and installs them where
# that is allowed.
SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
# Without XDG_DATA_DIRS fish looks below /usr and the user's own directories, but not below /usr/local.
FISH_COMPLETIONS ?= $(if $(filter /usr/local,$(PREFIX)),/etc/fish/completions,$(PREFIX)/share/fish/vendor_completions.d)
FUZZ_SECONDS ?= 600
SWEEP ?= 1000000
SOAK_SECONDS ?= 600
BENCH_ARGUMENTS ?=

# Without this option, an import of a target that the manifest does not name may build by chance.
STRICT = --explicit-target-dependency-import-check error
# The tool contains the Swift runtime, and needs only libraries that every slim Debian has. The C++ library of the runtime,
# libelf and the decompressors are linked in too, where there are archives: binding the first at each start took 0.4 of
# 2.8 ms, and a slim image has none of the others.
STATIC = .build/static
# A binary of the toolchain's lld spends 0.2 ms less on page faults at each start than one of gold. No dynamic symbols and no
# search path for libraries: no library uses the tool's symbols, and each look-up took time. A section for each function:
# scripts/release-tool puts those of a start side by side, which takes 0.3 ms off each; and those without a use are left out.
LINK = -Xswiftc -use-ld=lld -Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xlinker --no-export-dynamic \
  --disable-local-rpath
RELEASE = -c release --static-swift-stdlib $(LINK) -Xswiftc -gnone -Xswiftc -Xfrontend -Xswiftc -function-sections \
  -Xlinker -s -Xlinker -L$(CURDIR)/$(STATIC) $$(cat $(STATIC)/flags) $(STRICT)
# A library for programs that have no Swift: compiled with the same options, so that nothing is compiled twice. The archives
# of $(STATIC) are not made for shared libraries.
SHARED = -c release --static-swift-stdlib $(LINK) -Xswiftc -gnone -Xswiftc -Xfrontend -Xswiftc -function-sections \
  -Xlinker -s $$(grep -o -e '-Xcc [^ ]*' $(STATIC)/flags) $(STRICT)
TOOL = .build/release/crashpadctl
# The tests are built without optimization, because that is fastest; but not in SwiftPM's debug configuration, in which
# ArgumentParser checks all options at each of the thousands of starts of the tool: that took 4 of 8 minutes of processor time.
# The last options take a quarter off the build: no debug information; each module is compiled once, not once more for its
# interface; and SwiftPM, which looks for tests in an index, indexes these alone, not the system's modules too. With
# optimization the second one takes longer, as modules wait for those that they import.
QUICK = -c release --scratch-path .build/test -Xswiftc -enable-testing -Xswiftc -Onone -Xswiftc -gnone \
  -Xswiftc -no-emit-module-separately-wmo -Xswiftc -index-ignore-system-modules -Xswiftc -use-ld=lld
OPTIMIZED = -c release --scratch-path .build-sweep -Xswiftc -enable-testing
# The libraries for programs in C and C++, which `make install` installs if they are built.
CLIENT = .build/client
CLIENT_LIBDIR = lib
# The library that `crashpadctl run` preloads.
HANDLER = .build/handler/libcrashpad_handler.so
# The sample files in the commands of README.md.
DEMO = .build/demo
FUZZERS = FuzzIntermediateDump FuzzDumpJSON FuzzMinidump FuzzCore FuzzMachO FuzzSym FuzzElf FuzzReport \
  FuzzCrashText FuzzPacked FuzzPE FuzzWrapped FuzzIndex FuzzSharedCache FuzzServer
LIBRARIES = CrashpadCore CrashpadSymbols CrashpadExplanations CrashpadGroups CrashpadPages CrashpadClient CrashpadDatabase \
  CrashpadUpload CrashpadRedaction CrashpadSnapshot

.PHONY: help demo build client here test sweep matrix soak lint format check all bench quality fuzz docs man install uninstall dist try clean

help:
	@echo "make demo       build the tool, make sample files in $(DEMO), and show the main commands on them"
	@echo "make build      build the tool: $(TOOL)"
	@echo "make client     build the client for programs in C and C++: $(CLIENT)"
	@echo "make test       build and run all tests"
	@echo "make sweep      run SWEEP=$(SWEEP) mutations of dumps through every reader and writer"
	@echo "make matrix     capture every kind of crash, alone and beside other signal handlers; compare with gdb"
	@echo "make soak       run the long tests, about an hour: servers, browser, cluster, matrix, sweep; installs them"
	@echo "make check      check formatting, man pages, house rules and the crash-time code"
	@echo "make all        build, test, check, docs, man"
	@echo "make bench      measure against cp, curl and /bin/true, side by side"
	@echo "make quality    measure precision and recall of signatures on crashes of known faults"
	@echo "make fuzz       fuzz each input format for FUZZ_SECONDS=$(FUZZ_SECONDS)"
	@echo "make docs man   build the documentation of the libraries, and the man pages as text"
	@echo "make format     format the sources"
	@echo "make install    install the build: PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)"
	@echo "make uninstall  remove the installed files"
	@echo "make dist       make packages in dist/: an archive, Debian packages, an image"
	@echo "make try        install the packages of dist/ in new Debian systems, as root, and run them"

demo: build
	scripts/demo $(TOOL) $(DEMO)

build: here
	scripts/dependencies build
	scripts/static-libraries $(STATIC)
	$(SWIFT) build $(RELEASE) --product crashpadctl
	scripts/release-tool .build/release $(STATIC)
	scripts/handler-library $(HANDLER)

client: here
	scripts/dependencies build
	scripts/static-libraries $(STATIC)
	$(SWIFT) build $(SHARED) --product crashpad_client
	scripts/packages/client .build/release/crashpad_client.product/Objects.LinkFileList $(CLIENT)

# SwiftPM keeps absolute paths, and fails without a reason in a clone that was moved or copied with what it had built.
here:
	@if [ -e .build/place ] && [ "$$(cat .build/place)" != "$(CURDIR)" ]; then \
	  echo "this clone was built in $$(cat .build/place): what was built there is removed" >&2; \
	  rm -rf .build .build-fuzz .build-matrix .build-sweep; fi
	@mkdir -p .build && echo "$(CURDIR)" > .build/place

test: here
	scripts/dependencies build test
	scripts/handler-library $(HANDLER)
	$(SWIFT) build $(QUICK) --build-tests $(STRICT)
	scripts/test-tool .build/test/release .build/test/tool
	scripts/packages/older .build/test/release
	scripts/outside .build/test/release .build/test/tool/crashpadctl
	CRASHPADCTL_HANDLER_LIBRARY=$(CURDIR)/$(HANDLER) CRASHPADCTL=$(CURDIR)/.build/test/tool/crashpadctl \
	  scripts/test .build/test/release

sweep:
	CRASHPADCTL_SWEEP=$(SWEEP) $(SWIFT) test $(OPTIMIZED) $(STRICT) --filter '^SweepTests\.'

# Every kind of crash in debug and release, with 1, 8 and 200 threads, alone and with other handlers, compared with gdb.
# TESTS names the directory of tests that were built already.
matrix:
	scripts/handler-library $(HANDLER)
	$(if $(TESTS),,$(SWIFT) build $(QUICK) --build-tests $(STRICT))
	$(SWIFT) build --product crashing-program
	$(SWIFT) build -c release --scratch-path .build-matrix --product crashing-program
	CRASHPADCTL_MATRIX=$(CURDIR)/.build/debug/crashing-program:$(CURDIR)/.build-matrix/release/crashing-program \
	  scripts/test $(or $(TESTS),.build/test/release) AgreementTests.CaptureTests

# All tests with all of their cases, on a disk, optimized as the installed tool: with servers and runtimes that have crash
# handlers of their own, on a cluster of Spark, and with dumps of a program that runs for SOAK_SECONDS; then the matrix and
# the sweep. With MINIDUMPS=DIRECTORY and rust-minidump's minidump-stackwalk, the stacks of both are compared.
soak:
	scripts/dependencies build test soak fleet collectors
	scripts/handler-library $(HANDLER)
	$(SWIFT) build $(OPTIMIZED) --build-tests $(STRICT)
	CRASHPADCTL_HANDLER_LIBRARY=$(CURDIR)/$(HANDLER) CRASHPADCTL_SOAK=1 CRASHPADCTL_UNHARMED="$(SOAK_SECONDS) 1" \
	  CRASHPADCTL_CLUSTER=600 TMPDIR=$${TMPDIR:-/var/tmp} scripts/test .build-sweep/release
	scripts/outside .build-sweep/release .build-sweep/release/crashpadctl --whole
	$(MAKE) matrix TESTS=.build-sweep/release
	$(MAKE) sweep
	@if [ -n "$$MINIDUMPS" ] && command -v minidump-stackwalk >/dev/null; then \
	  Tests/Peers/compare-stacks .build-sweep/release/crashpadctl "$$MINIDUMPS"; \
	else echo "stacks are not compared: MINIDUMPS names no directory, or minidump-stackwalk is not installed"; fi

lint:
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests

format:
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests

check: lint man
	scripts/dependencies check
	scripts/house-rules
	scripts/folder-cycles
	scripts/file-cycles
	scripts/imports
	scripts/crash-time

all: build test check docs man

bench: build
	$(SWIFT) build $(RELEASE) --product bench
	$(SWIFT) build $(RELEASE) --product collector
	.build/release/bench --tool $(TOOL) $(BENCH_ARGUMENTS)
	@[ -z "$$SIGGEN_PYTHON" ] || $(MAKE) quality

# With those of siggen too, if SIGGEN_PYTHON names a Python that has it. SEED makes the same faults again.
quality:
	scripts/handler-library $(HANDLER)
	$(SWIFT) build $(QUICK) --build-tests $(STRICT)
	$(SWIFT) test $(QUICK) --disable-xctest --skip-build --filter QualityTests
	scripts/test-tool .build/test/release .build/test/tool
	Tests/CrashpadSignaturesTests/Faults/Quality/measure .build/test/tool/crashpadctl "$${SEED:-$$$$}" --variants \
	  --library "$$PWD/.build/handler/libcrashpad_handler.so" $${SIGGEN_PYTHON:+--siggen "$$SIGGEN_PYTHON"}

fuzz:
	scripts/fuzz $(FUZZ_SECONDS) $(FUZZERS)

docs:
	scripts/docs $(LIBRARIES)

man:
	scripts/dependencies man
	scripts/man .build/man

# Builds nothing: root usually has no Swift in its PATH, and must own no file in .build.
install:
	@[ -x $(TOOL) ] && [ -e $(HANDLER) ] || { echo "nothing to install: run 'make build' first, without sudo" >&2; exit 1; }
	install -D -m 755 $(TOOL) $(DESTDIR)$(PREFIX)/bin/crashpadctl
	install -D -m 644 $(HANDLER) $(DESTDIR)$(PREFIX)/lib/crashpadctl/libcrashpad_handler.so
	if [ -e $(CLIENT)/libcrashpad_client.so ]; then \
	  scripts/packages/client-files $(CLIENT) "$(DESTDIR)" "$(PREFIX)" $(CLIENT_LIBDIR); fi
	for page in man/*.[157]; do \
	  install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; done
	mkdir -p $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	  $(DESTDIR)$(FISH_COMPLETIONS)
	$(TOOL) --generate-completion-script bash | sed "1{/^#!/d}" > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/crashpadctl
	$(TOOL) --generate-completion-script zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_crashpadctl
	$(TOOL) --generate-completion-script fish > $(DESTDIR)$(FISH_COMPLETIONS)/crashpadctl.fish
	for schema in scripts/schemas/*.json; do \
	  install -D -m 644 $$schema $(DESTDIR)$(PREFIX)/share/crashpadctl/schemas/$${schema##*/} || exit 1; done
	install -D -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/crashpadctl/LICENSE
	install -D -m 644 README.md $(DESTDIR)$(PREFIX)/share/doc/crashpadctl/README.md
	for example in scripts/crashpadctl-cron scripts/*.service scripts/*.timer; do \
	  install -D -m 644 $$example $(DESTDIR)$(PREFIX)/share/doc/crashpadctl/examples/$${example##*/} || exit 1; done
	for example in scripts/ci/check-dumps scripts/ci/github/*.yml scripts/ci/gitlab/*.yml; do \
	  install -D -m 644 $$example $(DESTDIR)$(PREFIX)/share/doc/crashpadctl/ci/$${example#scripts/ci/} || exit 1; done
	for example in scripts/fleet/*; do \
	  install -D -m 644 $$example $(DESTDIR)$(PREFIX)/share/doc/crashpadctl/fleet/$${example##*/} || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/crashpadctl
	rm -rf $(DESTDIR)$(PREFIX)/lib/crashpadctl $(DESTDIR)$(PREFIX)/share/crashpadctl \
	  $(DESTDIR)$(PREFIX)/share/doc/crashpadctl
	rm -f $(DESTDIR)$(PREFIX)/include/crashpad_client.h $(DESTDIR)$(PREFIX)/$(CLIENT_LIBDIR)/libcrashpad_client.* \
	  $(DESTDIR)$(PREFIX)/$(CLIENT_LIBDIR)/pkgconfig/crashpad_client*.pc
	rm -rf $(DESTDIR)$(PREFIX)/include/CCrashpadClient $(DESTDIR)$(PREFIX)/$(CLIENT_LIBDIR)/cmake/CrashpadClient
	for page in man/*.[157]; do rm -f $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}; done
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/crashpadctl \
	  $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_crashpadctl \
	  $(DESTDIR)$(FISH_COMPLETIONS)/crashpadctl.fish

# Packages for machines without Swift, in dist/: see scripts/dist.
dist:
	scripts/dependencies build dist
	$(MAKE) build
	$(SWIFT) build $(SHARED) --product crashpad_client
	scripts/dist .build/release $(STATIC) dist

try:
	scripts/dependencies try
	scripts/packages/try dist

clean:
	rm -rf .build .build-fuzz .build-matrix .build-sweep
