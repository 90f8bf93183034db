// SPDX-License-Identifier: Apache-2.0
/// A minidump with annotations of any bytes, and next to nothing else: a system, modules, and what Crashpad adds.
public struct AnnotatedMinidump: Sendable {
  public typealias Pair = (name: [UInt8], value: [UInt8])

  public struct Module: Sendable {
    public var messages: [[UInt8]]
    public var simple: [Pair]
    public var objects: [(name: [UInt8], type: UInt16, value: [UInt8])]

    public init(
      messages: [[UInt8]] = [], simple: [Pair] = [], objects: [(name: [UInt8], type: UInt16, value: [UInt8])] = []
    ) {
      self.messages = messages
      self.simple = simple
      self.objects = objects
    }
  }

  public var annotations: [Pair] = []
  public var modules: [Module] = []
  /// As it stands in the file.
  public var clientID = [UInt8](0x10..<0x20)
  /// Whether the records of modules are those of Crashpad before it had annotation objects.
  public var hasOldModules = false
  /// Whether there is a stream of Crashpad's at all.
  public var hasCrashpadInfo = true

  public init() {}

  public init(_ annotations: KeyValuePairs<String, String>) {
    self.annotations = annotations.map { (Array($0.key.utf8), Array($0.value.utf8)) }
  }

  public var bytes: [UInt8] {
    var file = File()
    let streams: [(type: MinidumpStream, content: [UInt8])] =
      [(.systemInfo, system(&file)), (.moduleList, moduleList(&file))]
      + (hasCrashpadInfo ? [(.crashpadInfo, crashpadInfo(&file))] : [])
    var directory: [UInt8] = []
    for stream in streams { directory += Bytes.of(stream.type.rawValue) + file.put(stream.content) }
    let at = UInt32(file.append(directory))
    let header =
      Array("MDMP".utf8) + Bytes.of(UInt32(0xa793)) + Bytes.of(UInt32(streams.count)) + Bytes.of(at)
      + Bytes.of(UInt32(0)) + Bytes.of(UInt32(1_700_000_000)) + Bytes.of(UInt64(0))
    file.bytes.replaceSubrange(0..<32, with: header)
    return file.bytes
  }

  /// x86_64, Linux.
  private func system(_ file: inout File) -> [UInt8] {
    let version = file.string([], terminator: [0, 0])
    return Bytes.of(UInt16(9)) + Bytes.of(UInt16(6)) + [0, 0, 1, 1] + Bytes.of(UInt32(5)) + Bytes.of(UInt32(10))
      + Bytes.of(UInt32(0)) + Bytes.of(UInt32(0x8201)) + Bytes.of(version) + [UInt8](repeating: 0, count: 28)
  }

  private func moduleList(_ file: inout File) -> [UInt8] {
    var list = Bytes.of(UInt32(modules.count))
    for index in modules.indices {
      let name = file.string("/lib/\(index)".utf16.flatMap { Bytes.of($0) }, terminator: [0, 0])
      list += Bytes.of(UInt64(0x10000 * (index + 1))) + Bytes.of(UInt32(0x1000)) + [UInt8](repeating: 0, count: 8)
      list += Bytes.of(name) + [UInt8](repeating: 0, count: 84)
    }
    return list
  }

  /// Version, report id, client id, annotations, modules, reserved, address mask.
  private func crashpadInfo(_ file: inout File) -> [UInt8] {
    let simple = file.dictionary(annotations)
    var links: [UInt8] = []
    var count: UInt32 = 0
    for (index, module) in modules.enumerated() {
      if module.messages.isEmpty, module.simple.isEmpty, module.objects.isEmpty { continue }
      let content =
        Bytes.of(UInt32(1)) + file.list(module.messages) + file.dictionary(module.simple)
        + (hasOldModules ? [] : file.objects(module.objects))
      links += Bytes.of(UInt32(index)) + file.put(content)
      count += 1
    }
    let list = count == 0 ? [UInt8](repeating: 0, count: 8) : file.put(Bytes.of(count) + links)
    return Bytes.of(UInt32(1)) + [UInt8](0x40..<0x50) + clientID + simple + list + [UInt8](repeating: 0, count: 12)
  }

  /// The bytes after the header, in the order in which they are needed.
  private struct File {
    var bytes = [UInt8](repeating: 0, count: 32)

    mutating func append(_ content: [UInt8]) -> Int {
      while !bytes.count.isMultiple(of: 8) { bytes.append(0) }
      bytes += content
      return bytes.count - content.count
    }

    /// The size and RVA of the stream.
    mutating func put(_ content: [UInt8]) -> [UInt8] {
      Bytes.of(UInt32(content.count)) + Bytes.of(UInt32(append(content)))
    }

    /// An RVA of a length and so many bytes.
    mutating func string(_ content: [UInt8], terminator: [UInt8] = [0]) -> UInt32 {
      UInt32(append(Bytes.of(UInt32(content.count)) + content + terminator))
    }

    mutating func dictionary(_ pairs: [Pair]) -> [UInt8] {
      var entries: [UInt8] = []
      for pair in pairs { entries += Bytes.of(string(pair.name)) + Bytes.of(string(pair.value)) }
      return pairs.isEmpty ? [UInt8](repeating: 0, count: 8) : put(Bytes.of(UInt32(pairs.count)) + entries)
    }

    mutating func list(_ strings: [[UInt8]]) -> [UInt8] {
      var entries: [UInt8] = []
      for text in strings { entries += Bytes.of(string(text)) }
      return strings.isEmpty ? [UInt8](repeating: 0, count: 8) : put(Bytes.of(UInt32(strings.count)) + entries)
    }

    mutating func objects(_ objects: [(name: [UInt8], type: UInt16, value: [UInt8])]) -> [UInt8] {
      var entries: [UInt8] = []
      for object in objects {
        entries += Bytes.of(string(object.name)) + Bytes.of(object.type) + [0, 0]
        entries += Bytes.of(string(object.value, terminator: []))
      }
      return objects.isEmpty ? [UInt8](repeating: 0, count: 8) : put(Bytes.of(UInt32(objects.count)) + entries)
    }
  }
}
