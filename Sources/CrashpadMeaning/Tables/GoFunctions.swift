// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let goRuntime = "the Go runtime, which raises SIGABRT with GOTRACEBACK=crash"
  private static let goTraceback = "The traceback on standard error has the message and all goroutines."

  private static func panics(
    _ name: String, _ others: [String] = [], _ event: String, causes: [String] = [], advice: [String], in file: String
  ) -> CodeMeaning {
    function(
      .cause, name, others, event, by: goRuntime, causes: causes, advice: advice + [goTraceback],
      .file("Go", "src/runtime/" + file))
  }

  /// Functions of Go's runtime that end a program. Those of a cause call the ones that panic for all.
  static let goFunctions: [CodeMeaning] = [
    panics(
      "runtime.panicIndex",
      [
        "runtime.goPanicIndex", "runtime.goPanicIndexU", "runtime.panicIndexU", "runtime.goPanicSliceAlen",
        "runtime.goPanicSliceAcap", "runtime.goPanicSliceB", "runtime.panicSliceAlen", "runtime.panicSliceAcap",
        "runtime.panicSliceB", "runtime.goPanicSlice3Alen", "runtime.goPanicSlice3Acap", "runtime.panicSliceConvert",
        "runtime.panicBounds",
      ],
      "An index or a range is outside of a slice, an array or a string",
      advice: ["Check the index against len(): the message has both."], in: "panic.go"),
    panics(
      "runtime.panicmem", ["runtime.panicmemAddr"], "Memory was used through a pointer that is nil or not valid",
      causes: ["A nil pointer or interface.", "unsafe, or C code."],
      advice: ["Look at the pointers in the line of the first own function."], in: "panic.go"),
    panics(
      "runtime.panicdivide", [], "An integer was divided by zero", advice: ["Check the divisor."], in: "panic.go"),
    panics(
      "runtime.panicdottypeE", ["runtime.panicdottypeI", "runtime.panicdottype", "runtime.panicnildottype"],
      "An interface holds another type than was asserted",
      advice: ["Use the form with two results: value, ok := x.(T)."], in: "iface.go"),
    panics(
      "runtime.checkdead", [], "No goroutine can go on: all of them wait, or have ended",
      causes: ["A channel or lock that no other goroutine uses any more, or a WaitGroup that is never done."],
      advice: ["Look at what each goroutine waits for."], in: "proc.go"),
    panics(
      "runtime.newstack", [], "The stack of a goroutine can't grow: mostly an endless recursion",
      advice: ["Look for the functions that repeat in the stack."], in: "stack.go"),
    panics(
      "sync.fatal", ["sync.throw"],
      "A lock of the package sync was used wrongly: mostly unlocked while it was not locked",
      advice: ["Look at the function that called Unlock or RUnlock."], in: "panic.go"),
    function(
      .kind, "runtime.gopanic", ["runtime.fatalpanic"], "A panic of Go was not recovered", by: goRuntime,
      causes: ["A call of panic() in the program, or a check of the runtime."], advice: [goTraceback],
      .file("Go", "src/runtime/panic.go")),
    function(
      .kind, "runtime.fatalthrow", ["runtime.throw", "runtime.fatal"],
      "The Go runtime ended the program because of an error that can't be recovered", by: goRuntime,
      causes: ["A map that two goroutines use at once, a lock, a deadlock, damaged memory."], advice: [goTraceback],
      .file("Go", "src/runtime/panic.go")),
    function(
      .general, "runtime.dieFromSignal", ["runtime.crash", "runtime.raisebadsignal"],
      "The Go runtime ended the process by a signal: a Go program panicked, or a signal came that it does not handle",
      by: "the Go runtime, by a signal that it sent to itself",
      advice: ["Read what the program wrote to standard error: it has the panic or the signal, and the goroutines."],
      .file("Go", "src/runtime/signal_unix.go")),
  ]
}
