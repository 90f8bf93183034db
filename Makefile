# Every target works on a fresh clone; what is missing on the machine, scripts/dependencies installs.
SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 600
SWEEP ?= 1000000
BENCH_ARGUMENTS ?=

# An import of a sibling that the manifest does not name builds by chance; this makes it an error.
STRICT = --explicit-target-dependency-import-check error
# The tool carries its Swift runtime with it: what it needs beyond that, every slim Debian has. The C++ library that the
# runtime uses, and libelf and libdw with what they need, are linked in too, where there are archives to link: binding the
# first at each start took 0.4 of 2.8 ms, and a slim image has none of the others.
STATIC = .build/static
RELEASE = -c release --static-swift-stdlib -Xlinker -s -Xlinker -L$(CURDIR)/$(STATIC) \
  $$(cat $(STATIC)/flags) $(STRICT)
TOOL = .build/release/crashpadctl
# What `crashpadctl run` preloads.
HANDLER = .build/handler/libcrashpad_handler.so
FUZZERS = FuzzIntermediateDump FuzzDumpJSON FuzzMinidump FuzzCore FuzzMachO FuzzSym FuzzElf
LIBRARIES = BinaryFormat Snapshot JSONFormat FileSystem IntermediateDump CrashDatabase DumpInterpretation Minidump \
  CoreFile Supervision Symbolication CrashpadCore CrashUpload Redaction CrashCapture CrashpadClient

.PHONY: help demo build test sweep matrix lint format check all bench fuzz docs man install uninstall clean

help:
	@echo "make demo       explain a sample dump and turn it into a minidump"
	@echo "make build      build the tool: $(TOOL)"
	@echo "make test       build and run all tests"
	@echo "make sweep      $(SWEEP) mutations of dumps through everything, as SWEEP=$(SWEEP) says"
	@echo "make matrix     every kind of crash in every company, against gdb"
	@echo "make check      formatting, man pages, house rules"
	@echo "make all        build, test, check, docs, man"
	@echo "make bench      measure against cp, curl and /bin/true, side by side"
	@echo "make fuzz       fuzz each input format for FUZZ_SECONDS=$(FUZZ_SECONDS)"
	@echo "make docs man   documentation of the libraries; man pages as text"
	@echo "make format     rewrite the sources in the house's format"
	@echo "make install uninstall    PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)"

demo: build
	scripts/demo $(TOOL)

build:
	scripts/dependencies build
	scripts/static-libraries $(STATIC)
	$(SWIFT) build $(RELEASE) --product crashpadctl
	scripts/handler-library $(HANDLER)

test:
	scripts/dependencies build
	scripts/dependencies test
	scripts/handler-library $(HANDLER)
	$(SWIFT) build --build-tests $(STRICT)
	scripts/test $(SWIFT) test --skip-build

sweep:
	CRASHPADCTL_SWEEP=$(SWEEP) $(SWIFT) test -c release --scratch-path .build-sweep -Xswiftc -enable-testing \
	  --filter SweepTests

# Every kind of crash in debug and release, with 1, 8 and 200 threads, alone and with other handlers, against gdb.
matrix:
	scripts/handler-library $(HANDLER)
	$(SWIFT) build --build-tests
	$(SWIFT) build -c release --scratch-path .build-matrix --product crashing-program
	CRASHPADCTL_MATRIX=$(CURDIR)/.build/debug/crashing-program:$(CURDIR)/.build-matrix/release/crashing-program \
	  $(SWIFT) test --skip-build --filter AgreementTests.CaptureTests

lint:
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests

format:
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests

check: lint man
	scripts/house-rules
	scripts/crash-time

all: build test check docs man

bench: build
	$(SWIFT) build $(RELEASE) --product bench
	$(SWIFT) build $(RELEASE) --product collector
	.build/release/bench --tool $(TOOL) $(BENCH_ARGUMENTS)

fuzz:
	scripts/fuzz $(FUZZ_SECONDS) $(FUZZERS)

docs:
	scripts/docs $(LIBRARIES)

man:
	scripts/dependencies man
	scripts/man .build/man

install: build
	install -D -m 755 $(TOOL) $(DESTDIR)$(PREFIX)/bin/crashpadctl
	install -D -m 755 $(HANDLER) $(DESTDIR)$(PREFIX)/lib/crashpadctl/libcrashpad_handler.so
	for page in man/*.[15]; do \
	  install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; done
	mkdir -p $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	  $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(TOOL) --generate-completion-script bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/crashpadctl
	$(TOOL) --generate-completion-script zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_crashpadctl
	$(TOOL) --generate-completion-script fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/crashpadctl.fish

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/crashpadctl
	rm -rf $(DESTDIR)$(PREFIX)/lib/crashpadctl
	for page in man/*.[15]; do rm -f $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}; done
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/crashpadctl \
	  $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_crashpadctl \
	  $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/crashpadctl.fish

clean:
	rm -rf .build .build-fuzz .build-matrix .build-sweep
