// usage: UsesCrashpadPages DUMP SYMBOLS
// Makes a page about a crash, and one about its group.
import CrashpadPages
import SystemPackage

let arguments = CommandLine.arguments.map { FilePath($0) }
let crash = try NamedCrash(arguments[1], symbols: [arguments[2]])
var page = HTMLCrashPage(title: "A <crash>", crash, try CrashExplanation(arguments[1], symbols: [arguments[2]]))
page.facts = [HTMLCrashPage.Fact("Release", "1.2.3")]
let html = String(decoding: page.html(), as: UTF8.self)
for text in ["<title>A &lt;crash&gt;</title>", "CheckoutView.buy(Cart)", "1.2.3", "What happened"] {
  print("\(text): \(html.contains(text))")
}
var grouping = CrashGrouping(symbols: [arguments[2]])
try grouping.add(arguments[1])
let groups = String(decoding: HTMLGroupsPage(title: "Crashes", grouping.groups).html(), as: UTF8.self)
print("\(grouping.groups[0].id): \(groups.contains(grouping.groups[0].id))")
