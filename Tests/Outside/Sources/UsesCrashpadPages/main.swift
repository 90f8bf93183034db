// SPDX-License-Identifier: Apache-2.0
// usage: UsesCrashpadPages DUMP SYMBOLS
// Makes a page about a crash, and one about its group.
import CrashpadPages
import SystemPackage

let arguments = CommandLine.arguments.map { FilePath($0) }
guard var page = try HTMLCrashPage(arguments[1], symbols: [arguments[2]]) else { throw Errno.invalidArgument }
page.title = "A <crash>"
let html = String(decoding: page.html(), as: UTF8.self)
for text in ["<title>A &lt;crash&gt;</title>", "CheckoutView.buy", "/v2/cart/items", "What happened"] {
  print("\(text): \(html.contains(text))")
}
var grouping = CrashGrouping(symbols: [arguments[2]])
try grouping.add(arguments[1])
let groups = String(decoding: HTMLGroupsPage(title: "Crashes", grouping.groups).html(), as: UTF8.self)
print("\(grouping.groups[0].id): \(groups.contains(grouping.groups[0].id))")
