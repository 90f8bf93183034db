/// Every JSON document that the tool writes, in the order of crashpadctl-json(5).
enum Documents {
  static let all: [DocumentDescription] = [
    InspectDocument.document.description, UnlockDocument.document.description, SymbolizeDocument.document.description,
    SignatureDocument.document.description, EventsDocument.document.description,
  ]
}
