// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot

extension ModuleIdentity {
  package init(_ module: ModuleSnapshot, _ snapshot: ProcessSnapshot, _ file: InputFile) {
    func text(_ content: SnapshotBytes?) -> String? {
      guard let content, !content.isEmpty else { return nil }
      return file.withBytes { snapshot.text(content, in: $0) }
    }
    let id: DebugID?
    var buildID: [UInt8] = []
    switch module.identity {
    case .uuid(let uuid, let age): id = uuid == .zero ? nil : DebugID(uuid: uuid, age: age)
    case .buildID(let content):
      buildID = file.withBytes { snapshot.bytes(of: content, in: $0) }
      id = DebugID(buildID: buildID)
    case nil: id = module.oldPDB.map { DebugID(oldPDB: $0.time, age: $0.age) }
    }
    // The path may not be UTF-8, but must still lead to the file.
    var path = module.name.map { name in file.withBytes { ArgumentText.text(snapshot.bytes(of: name, in: $0)) } }
    // The loader's name may be relative to a directory that the dump does not have: the kernel has the whole path.
    if let name = path, !name.isEmpty, !isSharedPath(Array(name.utf8)), let address = module.address,
      let maps = snapshot.linux?.maps,
      let mapped = file.withBytes({ snapshot.withBytes(of: maps, in: $0) { MemoryMaps.file(at: address, in: $0) } })
    {
      path = ArgumentText.text(mapped)
    }
    // The name in a report says nothing of the file that has it on this machine: any system has a libc.so.6.
    let isOfThisMachine = snapshot.report == nil || id != nil
    let isOfWindows = snapshot.system.operatingSystem == .windows
    self.init(
      path: path ?? "", debugName: text(module.debugName) ?? text(module.name), debugID: id, buildID: buildID,
      mayBeLocal: isOfThisMachine && [.linux, .android, .unknown].contains(snapshot.system.operatingSystem),
      isOfWindows: isOfWindows, codeID: isOfWindows ? WindowsCodeID(module) : nil)
  }
}

extension WindowsCodeID {
  fileprivate init?(_ module: ModuleSnapshot) {
    guard let timestamp = module.timestamp.flatMap({ UInt32(exactly: $0) }), let size = module.size else { return nil }
    self.init(timestamp: timestamp, size: size)
  }
}

extension ModuleMap {
  package init(_ modules: [ModuleSnapshot]) {
    self.init(
      modules.enumerated().compactMap { index, module in
        module.address.flatMap { address in module.size.map { (address, $0, index) } }
      })
  }
}
