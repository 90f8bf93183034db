// SPDX-License-Identifier: Apache-2.0
/// A file in a form.
package struct FormPart: Sendable {
  package let field: String
  package let fileName: String
  package let content: [UInt8]

  package init(field: String, fileName: String, content: [UInt8]) {
    (self.field, self.fileName, self.content) = (field, fileName, content)
  }
}
