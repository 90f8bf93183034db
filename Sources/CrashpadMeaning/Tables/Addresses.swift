// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static func address(
    _ name: String, _ number: UInt64?, _ event: String, causes: [String], advice: [String], myth: String? = nil,
    headline: String? = nil, _ source: Source
  ) -> CodeMeaning {
    CodeMeaning(
      .address, name, number.map { [Number(value: $0, platform: .any)] } ?? [], event,
      endedBy: "the kernel, for the access; the pattern only says where the address may come from", causes: causes,
      advice: advice, myth: myth, headline: headline, source)
  }
  private static let lore = Source.users("common knowledge of debuggers")

  /// Patterns in addresses and registers. `AddressPattern` recognizes them.
  static let addresses: [CodeMeaning] = [
    address(
      "address null", 0, "A null pointer was used, or one to a field near the start of an object that is null",
      causes: ["An object, a function pointer or a result that was not checked."],
      advice: ["The address is the offset of the field: the type that has a field there is the suspect."], lore),
    address(
      "address negative", nil, "A small negative number was used as a pointer, or what is before a null pointer",
      causes: [
        "An error code or a result of -1 in place of a pointer.", "A field before the start of an object that is null.",
      ],
      advice: ["Look for the value, and the function that returns it: a result that was not checked."], lore),
    address(
      "address scribble-freed", 0x5555_5555_5555_5555, "The address was read from memory that was freed",
      causes: ["MallocScribble fills freed memory with 0x55."],
      advice: ["Look for who freed the object: Zombies, Address Sanitizer."],
      .file("Apple", "malloc(3), MallocScribble")),
    address(
      "address scribble-new", 0xaaaa_aaaa_aaaa_aaaa, "The address was read from memory that was never initialized",
      causes: ["MallocScribble (MallocPreScribble) fills new memory with 0xaa."],
      advice: ["Initialize the memory, or use calloc."], .file("Apple", "malloc(3), MallocPreScribble")),
    address(
      "address webkit-crash", 0xbbad_beef, "WebKit ended the process by a write to this address",
      causes: ["A check of WebKit failed: CRASH() or RELEASE_ASSERT."],
      advice: ["Look at the function at the top of the stack."],
      .file("WebKit", "wtf/Assertions.h; newer versions use a trap")),
    address(
      "address swift-bad-object", 0x4000_0000_0000_bad0,
      "A Swift object pointer that the runtime marked as bad was used",
      causes: ["Use of an object after it was freed, or a reference that was never set."],
      advice: ["Build with Address Sanitizer; look at unowned and unmanaged references."],
      .users("seen in one issue of firebase-ios-sdk")),
    address(
      "address text", nil,
      "The bytes of the address are text: memory that held the pointer was overwritten with a string",
      causes: ["A buffer overrun, or an object that was freed and whose memory now holds a string."],
      advice: ["Search the program for the text; build with Address Sanitizer."], lore),
    address(
      "address signed", nil, "High bits of the address are set as after a failed pointer authentication",
      causes: ["On arm64e a signed pointer was changed, or one without a signature was used."],
      advice: ["Clear the high bits of the pointer to get the intended address; build with Address Sanitizer."],
      myth: "KERN_INVALID_ADDRESS with such an address is no ordinary wild pointer.",
      headline: "an access through a pointer with high bits set, as after a failed pointer authentication",
      .reports("Apple prints \"possible pointer authentication failure\" beside it")),
    address(
      "address high bits", nil, "High bits of the address are set, which no address of a program has",
      causes: [
        "A pointer that was overwritten with other data; on arm64e also a signed pointer that was used without its"
          + " authentication."
      ],
      advice: ["Read the value as bytes: text, a floating-point number, two small integers."],
      headline: "an access through a pointer with high bits set", lore),
    address(
      "address tagged", nil, "Bits 59 to 56 of the address are set: a memory tag, on hardware with tagging",
      causes: ["The tag of the pointer and that of the memory differ: use after free, or a buffer overrun."],
      advice: ["Compare with EXC_ARM_MTE_TAGCHECK_FAIL; build with Address Sanitizer."], lore),
    address(
      "address kernel", nil, "The address is in the kernel's half, where a program has no memory",
      causes: ["A pointer that was overwritten with other data."],
      advice: ["Read the value as bytes: two numbers of 32 bits, the upper one negative; a floating-point number."],
      .file("Intel", "Software Developer's Manual, canonical addresses")),
    address(
      "address non-canonical", nil, "No pointer of x86_64 can have this address: bits 63 to 47 differ",
      causes: ["A pointer that was overwritten with other data."],
      advice: ["Read the value as bytes: text, a floating-point number, two small integers."],
      .file("Intel", "Software Developer's Manual, canonical addresses")),
  ]
}
