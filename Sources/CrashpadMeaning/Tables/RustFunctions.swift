// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let rustRuntime = "the Rust runtime, by abort() where panics abort"

  private static func panics(
    _ name: String, _ others: [String] = [], _ event: String, advice: [String], in file: String
  ) -> CodeMeaning {
    function(.cause, name, others, event, by: rustRuntime, advice: advice, .file("Rust", file))
  }

  /// Functions of Rust's library that panic for one cause each.
  static let rustFunctions: [CodeMeaning] = [
    panics(
      "stack_overflow::imp::signal_handler",
      ["stack_overflow::imp::make_handler", "stack_overflow::signal_handler", "unix::stack_overflow::handler"],
      "A thread has no stack left: mostly an endless recursion",
      advice: ["Look for the functions that repeat in the stack, and for large local variables."],
      in: "library/std/src/sys/pal/unix/stack_overflow.rs"),
    panics(
      "core::option::unwrap_failed", ["core::option::expect_failed"],
      "An Option that is None was unwrapped", advice: ["Use ?, match or unwrap_or at the line of the first own frame."],
      in: "library/core/src/option.rs"),
    panics(
      "core::result::unwrap_failed", [], "A Result that is an error was unwrapped",
      advice: ["The message on standard error has the error: handle it, or use ?."],
      in: "library/core/src/result.rs"),
    panics(
      "core::panicking::panic_bounds_check", ["core::slice::index::slice_index_fail"],
      "An index is outside of a slice",
      advice: ["Use get(), or check the index: the message has it and the length."],
      in: "library/core/src/panicking.rs"),
    panics(
      "core::slice::index::slice_start_index_len_fail",
      [
        "core::slice::index::slice_end_index_len_fail", "core::slice::index::slice_index_order_fail",
        "core::str::slice_error_fail", "core::str::slice_error_fail_rt",
      ],
      "A range is outside of a slice or string, or inside of a character",
      advice: ["The message has the range: use get(), or char_indices() for texts."], in: "library/core/src/slice"),
    panics(
      "core::cell::panic_already_borrowed",
      ["core::cell::panic_already_mutably_borrowed", "core::cell::RefCell::panic_already_borrowed"],
      "A RefCell was borrowed twice, once for changes", advice: ["End the first borrow before, or use try_borrow()."],
      in: "library/core/src/cell.rs"),
    panics(
      "core::panicking::assert_failed",
      ["core::panicking::assert_matches_failed", "core::panicking::assert_failed_inner"],
      "An assert_eq! or assert_ne! does not hold", advice: ["The message has both values."],
      in: "library/core/src/panicking.rs"),
    panics(
      "core::panicking::panic_const::panic_const_div_by_zero",
      [
        "core::panicking::panic_const::panic_const_rem_by_zero", "core::num::panic_const_div_by_zero",
      ],
      "A number was divided by zero", advice: ["Check the divisor, or use checked_div()."],
      in: "library/core/src/panicking.rs"),
    panics(
      "core::panicking::panic_const::panic_const_add_overflow",
      [
        "core::panicking::panic_const::panic_const_sub_overflow",
        "core::panicking::panic_const::panic_const_mul_overflow",
        "core::panicking::panic_const::panic_const_neg_overflow",
        "core::panicking::panic_const::panic_const_shl_overflow",
        "core::panicking::panic_const::panic_const_shr_overflow",
      ],
      "The result of an operation does not fit its type",
      advice: ["Use checked_, saturating_ or wrapping_ operations."], in: "library/core/src/panicking.rs"),
    panics(
      "alloc::alloc::handle_alloc_error", ["std::alloc::rust_oom", "alloc::raw_vec::handle_error"],
      "Memory could not be allocated, or a capacity is too large",
      advice: ["Look at the size that the function below it asks for."], in: "library/alloc/src/alloc.rs"),
    panics(
      "core::panicking::panic_null_pointer_dereference", ["core::panicking::panic_misaligned_pointer_dereference"],
      "A check of debug builds found a pointer that is null or not aligned",
      advice: ["Look at the unsafe code below it."],
      in: "library/core/src/panicking.rs"),
    panics(
      "core::panicking::panic_invalid_enum_construction", [],
      "A check of debug builds found a value that its enumeration does not have",
      advice: ["Look at the unsafe code below it: a transmute, or memory that was not initialized."],
      in: "library/core/src/panicking.rs"),
    panics(
      "core::panicking::panic_in_cleanup", ["core::panicking::panic_cannot_unwind"],
      "A panic left a function that must not unwind: a destructor during another panic, or one that C calls",
      advice: ["Look for the first panic on standard error."], in: "library/core/src/panicking.rs"),
  ]
}
