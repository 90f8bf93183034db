# SPDX-License-Identifier: Apache-2.0
"""What generators of programs have in common."""
from words import Names


class Faults:
    """A program with faults; its argument chooses one."""

    # A program has at least so many.
    count = 9

    def __init__(self, random):
        self.random, self.names = random, Names(random)
        self.faults, self.bodies = [], []
        self.prepare()
        number = 0
        while number < self.count:
            number += self.fault(number)

    def prepare(self):
        """Chooses what the faults share."""

    def add(self, kind, number, call):
        self.faults.append((f"{kind}-{number}", call))

    def functions(self):
        return self.bodies

    def source(self, version):
        """The second version has further functions between the others."""
        lines = [self.head]
        for index, body in enumerate(self.functions()):
            if version == 2:
                lines.append(self.extra(index))
            lines.append(body)
        lines += [self.route(index, call) for index, (_, call) in enumerate(self.faults)]
        lines.append(self.begin)
        lines += [self.choice(index) for index in range(len(self.faults))]
        return "\n".join(lines + [self.end])
