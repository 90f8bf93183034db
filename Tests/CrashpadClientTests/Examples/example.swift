// SPDX-License-Identifier: Apache-2.0
// A program in Swift that links the client's C library: example DATABASE
import CCrashpadClient

var message = [CChar](repeating: 0, count: 256)
guard crashpad_start(CommandLine.arguments[1], nil, "swift-example", nil, &message, message.count) == 0 else {
  fatalError("the client did not start")
}
let path = crashpad_string_annotation("path", 64)
crashpad_string_annotation_set(path, "/from/swift")
UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
