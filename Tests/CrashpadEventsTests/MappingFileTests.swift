// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

@testable import CrashpadEvents

/// Files that change a form.
struct MappingFileTests {
  private func mapping(_ text: String) throws -> MappingFile {
    let bytes = Array(text.utf8)
    return try unsafe MappingFile(bytes.span.bytes)
  }

  private func lines(_ text: String) throws -> [String] {
    let file = try EventForm.file(mapping(text))
    return try file.lines(SampleEvent.event(SampleEvent.active), SampleEvent.reporter).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private static let head = #""schema":"crashpadctl-mapping/1""#

  @Test func `Without changes the form is the base's`() throws {
    #expect(try lines("{\(Self.head)}") == SampleEvent.lines(.seed, SampleEvent.active))
    #expect(try lines(#"{\#(Self.head),"base":"ecs"}"#) == SampleEvent.lines(.ecs, SampleEvent.active))
  }

  @Test func `Events get other names, or are left out`() throws {
    let lines = try lines(#"{\#(Self.head),"events":{"$AppCrashed":"crash","$AppEnd":null}}"#)
    #expect(lines.count == 1)
    #expect(try JSONDocument(Data(lines[0].utf8))["event"].string == "crash")
    let ecs = try self.lines(#"{\#(Self.head),"base":"ecs","events":{"app-crash":"crash"}}"#)
    #expect(try JSONDocument(Data(ecs[0].utf8))["event"]["action"].string == "crash")
  }

  @Test func `Members are left out, renamed and added, in this order`() throws {
    let text = #"""
      {\#(Self.head),"drop":["/properties/$model","/time","/nothing/there"],
       "rename":{"/properties/$os":"system","/distinct_id":"user","/properties/$manufacturer":"$lib"},
       "constants":{"/project":"shop","/properties/$model":"any","/a/b":{"no":1}}}
      """#
    #expect(throws: MappingFile.NotAMapping.self) { try lines(text) }
    let line = try lines(text.replacing(#"{"no":1}"#, with: "-3"))[0]
    let event = try JSONDocument(Data(line.utf8))
    #expect(event["time"].int == nil)
    #expect(event["user"].string == "anna")
    #expect(event["distinct_id"].string == nil)
    #expect(event["properties"]["system"].string == "iOS")
    #expect(event["properties"]["$model"].string == "any")
    #expect(event["properties"]["$lib"].string == "Apple")
    #expect(event["project"].string == "shop")
    #expect(event["a"]["b"].int == -3)
    #expect(line.components(separatedBy: "\"$lib\"").count == 2)
  }

  @Test(arguments: [
    "", "{", "[]", "{}", #"{"schema":"crashpadctl-mapping/2"}"#, #"{\#(head),"base":"otel"}"#,
    #"{\#(head),"base":"sead"}"#, #"{\#(head),"renames":{}}"#, #"{\#(head),"rename":{"model":"x"}}"#,
    #"{\#(head),"rename":{"/model":3}}"#, #"{\#(head),"drop":"/model"}"#, #"{\#(head),"drop":[3]}"#,
    #"{\#(head),"constants":{"/x":1.5}}"#, #"{\#(head),"events":{"$AppEnd":""}}"#,
    #"{\#(head),"base":"sentry-session","events":{"x":"y"}}"#, #"{\#(head),"events":["x"]}"#,
  ])
  func `A file that is not a mapping is refused with a reason`(text: String) {
    let error = #expect(throws: MappingFile.NotAMapping.self) { try mapping(text) }
    #expect(error?.reason.isEmpty == false)
  }
}
