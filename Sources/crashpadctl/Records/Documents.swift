/// Every JSON document that the tool writes, in the order of crashpadctl-json(5).
enum Documents {
  static let all: [DocumentDescription] = [
    UnlockDocument.document.description
  ]
}
