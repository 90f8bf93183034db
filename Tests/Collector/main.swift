// SPDX-License-Identifier: Apache-2.0
import Glibc

// Collects crash reports as servers do, or does what servers do wrong; as a proxy it passes TLS on to this host. It listens on 127.0.0.1 and ends when its standard
// input does.
//
// usage: collector [--port N] [--directory DIR] [--discard] [--answer TEXT] [--stay]
//   --port N       0, or without it: any that is free; the first line of output is "listening PORT"
//   --directory D  reports go to D/1, D/2, ..., and a line for each to D/log.ndjson
//   --discard      only count; without a directory, that is what happens too
//   --answer TEXT  the body of an answer, in which % becomes the report's number; without it, CrashID=bp-%
//   --stay         go on when standard input is at its end
let options = Options(CommandLine.arguments.dropFirst())
_ = signal(SIGPIPE, SIG_IGN)
let listener = Listener(port: options.port)
let store = Store(directory: options.directory, answer: options.answer)
print("listening \(listener.port)")
fflush(nil)
Threads.start {
  if options.stays { while true { pause() } }
  var byte: UInt8 = 0
  while unsafe read(0, &byte, 1) > 0 {}
  listener.stop()
}
while let descriptor = listener.next() {
  store.connectionBegins()
  Threads.start {
    Connection(descriptor, store).serve()
    store.connectionEnds()
  }
}
// A client that closed its connection meanwhile is still recorded.
store.waitForConnections(seconds: 3)
print(store.summary)
exit(0)
