# SPDX-License-Identifier: Apache-2.0
"""Names of functions and types from a seed: most are words, some begin as those of a runtime or a library do."""

VERBS = ("load save draw move pack ship open close merge split trim count parse print sort find drop send fetch store "
         "paint scale blend mix tune weigh price quote bill scan seal mark fold stack queue route track verify sign "
         "check update select commit apply render resolve encode").split()
NOUNS = ("order cart ledger track parcel invoice tile layer brush page note level room player stage scene cell grid "
         "route ticket seat menu recipe photo album sample budget report entry token batch field shelf crate border "
         "planet harbor engine pool table letter").split()

# How names of runtimes and libraries begin that programs use as well.
LIKE_C = ("dispatch_ malloc_ swift_ dl_ uv__ uv_ je_ free_ os_ objc_ str mem wcs g_main_ event_base_ sentry_ bsg_ class_ weak_ "
          "tiny_ large_ mi_ tc_ _os_ backtrace_ abort_ raise_ pthread_ poll_ read_ wait_ lock_ sem_ ev_run_ object_ runtime_ "
          "kill_ signal_ thread_ assert_ io_ tls_").split()
LIKE_CXX = "core:: alloc:: backtrace:: mio:: asio:: swift:: gimli:: dart:: hermes:: runtime:: sync:: breakpad_ui:: mono:: detail::".split()
LIKE_SWIFT = "Range Character Set Data Array2 Sequence String2 Optional2 Dictionary2 DispatchQueue2 Unicode2 Slice".split()
LIKE_OBJC = "Sentry CLS DD NR BSG KSCrash PLCrash NSX".split()
LIKE_RUST = "core_ alloc_ std_ backtrace_ tokio_ mio_".split()
LIKE_GO = "runtime reflect sync syscall strings sort time".split()


class Names:
    """Names of one program, none of them twice."""

    def __init__(self, random):
        self.random, self.used = random, set()

    def fresh(self, make):
        for _ in range(1000):
            name = make()
            if name.lower() not in self.used:
                self.used.add(name.lower())
                return name
        raise ValueError("no more names")

    def snake(self, share=0.4):
        """A name of C; `share` of them begin as one of a runtime."""
        r = self.random

        def make():
            start = r.choice(LIKE_C) if r.random() < share else ""
            return start + r.choice(VERBS) + "_" + r.choice(NOUNS)
        return self.fresh(make)

    def camel(self):
        r = self.random
        return self.fresh(lambda: r.choice(VERBS) + r.choice(NOUNS).capitalize())

    def type(self, like=(), share=0.3):
        r = self.random
        return self.fresh(lambda: r.choice(like) if like and r.random() < share
                          else r.choice(NOUNS).capitalize() + r.choice(("", "Store", "View", "Job", "Map")))
