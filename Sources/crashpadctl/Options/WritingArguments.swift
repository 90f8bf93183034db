import ArgumentParser

/// Options of commands that make a file of each dump.
struct WritingArguments: ParsableArguments {
  // Directories are always searched recursively; the flag remains for existing scripts.
  @Flag(name: .shortAndLong, help: ArgumentHelp("Has no effect.", visibility: .hidden))
  var recursive = false

  @Flag(name: .shortAndLong, help: "Continue with the other dumps when one fails.")
  var keepGoing = false

  @Flag(name: .long, help: "Flush each output to disk before it gets its name.")
  var fsync = false
}
