// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let cxxRuntime = "the C++ runtime, by abort(): SIGABRT"

  /// An exception of the C++ library, by its name. Libraries have inline namespaces, which are in names of types.
  private static func thrown(
    _ name: String, _ event: String, causes: [String] = [], advice: [String], in header: String
  ) -> CodeMeaning {
    let names = ["std::", "std::__1::", "std::__cxx11::", "std::__cr::", "std::__ndk1::"].map { $0 + name }
    return system(
      .cause, of: .cxx, "std::" + name, names, event, by: cxxRuntime, causes: causes, advice: advice,
      .file("C++", header))
  }

  /// Ends by exceptions and checks of the C++ library.
  static let cxxMessages: [CodeMeaning] = [
    thrown(
      "out_of_range", "A std::out_of_range was not caught: an index, a position, a key or a value is not in its range",
      causes: ["An empty container, or a count that changed between check and use."],
      advice: ["Look at the function below the throw: at(), substr() or stoi() of the library, or the program's own."],
      in: "<stdexcept>"),
    thrown(
      "length_error", "A std::length_error was not caught: something was to be longer than it can be",
      causes: ["A container of a size that was computed from a negative number."],
      advice: ["Look at the size that the function below the throw passes."], in: "<stdexcept>"),
    thrown(
      "invalid_argument", "A std::invalid_argument was not caught: a function refused an argument",
      causes: ["std::stoi() and its like of text that is no number, or a check of the program."],
      advice: ["Look at the text or value that the function below the throw passes."], in: "<stdexcept>"),
    thrown(
      "bad_optional_access", "A std::optional that is empty was read with value()",
      advice: ["Ask has_value() before, or use value_or()."], in: "<optional>"),
    thrown(
      "bad_variant_access", "A std::variant was read as a type that it does not hold",
      advice: ["Ask std::holds_alternative() before, or use std::get_if() or std::visit()."], in: "<variant>"),
    thrown(
      "bad_any_cast", "A std::any was read as a type that it does not hold",
      advice: ["Use the form of std::any_cast that takes a pointer."], in: "<any>"),
    thrown(
      "bad_function_call", "A std::function that is empty was called",
      causes: ["A callback that was never set, or was moved away."], advice: ["Check it before the call."],
      in: "<functional>"),
    thrown(
      "bad_weak_ptr", "A std::shared_ptr was made of an object that no other std::shared_ptr owns",
      causes: ["shared_from_this() in a constructor or destructor, or of an object on the stack."],
      advice: ["Use weak_ptr::lock(), and make the object with std::make_shared()."], in: "<memory>"),
    thrown(
      "bad_cast", "A dynamic_cast to a reference met an object of another type",
      advice: ["Cast to a pointer, and check it."], in: "<typeinfo>"),
    thrown(
      "bad_typeid", "typeid was asked of a null pointer", advice: ["Check the pointer before."], in: "<typeinfo>"),
    thrown(
      "future_error", "A std::future or std::promise was used in a state that does not allow it",
      causes: ["A promise that was destroyed without a value, a value that was set twice, a future without a state."],
      advice: ["The message names the state."], in: "<future>"),
    thrown(
      "system_error", "A std::system_error was not caught: an operation failed with an error of the system",
      causes: ["A thread that could not be made, a mutex that another thread owns."],
      advice: ["The message has the error of the system."], in: "<system_error>"),
    thrown(
      "regex_error", "A regular expression is not valid, or too complex",
      advice: ["Look for the expression in the function below the throw."], in: "<regex>"),
    system(
      .cause, of: .cxx, "std::filesystem::filesystem_error",
      [
        "std::filesystem::filesystem_error", "std::filesystem::__cxx11::filesystem_error",
        "std::__1::__fs::filesystem::filesystem_error", "std::__fs::filesystem::filesystem_error",
      ],
      "A file operation of std::filesystem failed", by: cxxRuntime,
      advice: ["The message has the path and the error; the form with std::error_code does not throw."],
      .file("C++", "<filesystem>")),
    system(
      .cause, of: .cxx, "libc++ index",
      ["vector[] index out of bounds", "string index out of bounds", "deque[] index out of bounds"],
      "An index is outside of a container of C++", by: "the C++ library, by a trap",
      causes: ["An empty container, or a size that changed between check and use."],
      advice: ["Check the index against size(): the next frames of the stack are the caller's."],
      .file("libc++", "hardening modes")),
    system(
      .cause, of: .cxx, "libstdc++ check", ["/bits/stl_", "this->size()' failed", "!this->empty()' failed"],
      "A check of libstdc++ failed: an index, an iterator or an empty container",
      by: "libstdc++, by abort(): SIGABRT", advice: ["The message names the operation and the condition."],
      .file("libstdc++", "_GLIBCXX_ASSERTIONS")),
    system(
      .kind, of: .cxx, "terminate without an exception", ["terminate called without an active exception"],
      "The program called std::terminate, and not because of an exception", by: cxxRuntime,
      causes: ["A std::thread that is destroyed or assigned to, and was neither joined nor detached."],
      advice: ["Look for the caller of std::terminate: a destructor of std::thread, or the program itself."],
      .file("libsupc++", "vterminate.cc")),
  ]

  /// Functions of the C++ library that end a process.
  static let cxxFunctions: [CodeMeaning] = [
    function(
      .cause, "std::thread::~thread", ["std::__1::thread::~thread", "std::thread::operator="],
      "A std::thread was destroyed or assigned to, and was neither joined nor detached", by: cxxRuntime,
      causes: ["An exception or a return before join()."],
      advice: ["Join on each path, or use std::jthread."], .file("C++", "<thread>")),
    function(
      .kind, "std::__glibcxx_assert_fail",
      ["std::__replacement_assert", "__libcpp_verbose_abort", "__libcpp_assertion_handler"],
      "A check of the C++ library failed: an index, an iterator or a state that is not valid",
      by: "the C++ library, by abort(): SIGABRT",
      advice: ["The function below it is the operation: operator[], front() or * of something empty."],
      .file("libstdc++ and libc++", "_GLIBCXX_ASSERTIONS, hardening")),
  ]
}
