// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let uiKit = Source.file("Apple", "UIKit, its NSException")
  private static let coreData = Source.file("Apple", "Core Data, its NSException")

  /// Messages of frameworks and of libraries that many programs use.
  static let frameworkMessages: [CodeMeaning] = interfaceMessages + dataMessages + libraryMessages

  private static let interfaceMessages: [CodeMeaning] = [
    objectiveC(
      .cause, "Invalid update of a list",
      [
        "invalid update: invalid number of", "attempt to delete row", "attempt to delete item",
        "attempt to insert item",
      ],
      "A table or collection view was told of changes that its data do not have",
      causes: ["Data that change between two updates, or on another thread."],
      advice: ["Change data and view in one step on the main thread, or use a diffable data source."], uiKit),
    objectiveC(
      .cause, "Section or row that a list does not have",
      [
        "request for number of items in section", "request for number of rows in section",
        "request for index path for global index",
        "request for rect at invalid index path", "request for layout attributes for",
        "attempt to scroll to invalid index path", "attempted to scroll the table view to an out-of-bounds",
        "attempted to scroll the collection view to an out-of-bounds",
      ],
      "A table or collection view was asked for a section or row that its data do not have",
      causes: ["Data that became fewer before the view was told of it.", "A layout that keeps old index paths."],
      advice: ["Compare the index path in the message with what the data source returned last."], uiKit),
    objectiveC(
      .cause, "Missing nib or storyboard",
      [
        "could not load nib in bundle", "could not find a storyboard named", "doesn't contain a view controller with",
        "could not load the \"",
      ],
      "A nib, a storyboard or a scene of it is not in the bundle",
      causes: ["A file that was renamed, or is not a member of the target."],
      advice: ["Compare the name in the message with the files in the bundle."], uiKit),
    objectiveC(
      .cause, "Cell not registered", ["unable to dequeue a cell with identifier", "could not dequeue a view of kind"],
      "A cell or view was asked for by an identifier that was not registered",
      causes: ["An identifier that was renamed, or a class that was never registered."],
      advice: ["Register the class or nib for the identifier in the message."], uiKit),
    objectiveC(
      .cause, "View controller presented twice",
      [
        "modally a view controller that is already being presented", "pushing the same view controller instance",
        "application tried to present modal view controller on itself", "pushing a navigation controller",
      ],
      "A view controller was shown while it is shown already", causes: ["Two taps, or two notifications."],
      advice: ["Show a new instance, or check presentingViewController before."], uiKit),
    objectiveC(
      .cause, "Popover without an anchor",
      [
        "should have a non-nil sourceview or barbuttonitem", "you must provide location information for this popover",
        "popoverpresentationcontroller",
      ],
      "A popover or action sheet was shown without a place: on iPad it needs one",
      causes: ["An action sheet that was tried on a phone only."],
      advice: ["Set sourceView or barButtonItem of popoverPresentationController."], uiKit),
    objectiveC(
      .cause, "Layer geometry is not a number",
      ["calayer position contains nan", "calayer bounds contains nan", "calayerinvalidgeometry", "calayerinvalid"],
      "A view was given a position or size that is no number", causes: ["A division by zero in a layout."],
      advice: ["Look for divisions by a width, a height or a count that can be 0."],
      .file("Apple", "Core Animation, its NSException")),
    objectiveC(
      .cause, "Constraint without a common ancestor",
      [
        "because they have no common ancestor", "unable to install constraint on view",
        "impossible to set up layout with view hierarchy unprepared for constraint",
      ],
      "A constraint ties views that are not in one hierarchy",
      causes: ["A view that was not added yet, or was removed."],
      advice: ["Add both views before the constraint is activated."], uiKit),
    objectiveC(
      .cause, "Observer not removed",
      [
        "was deallocated while key value observers were still registered with it",
        "because it is not registered as an observer",
      ],
      "A key value observer outlived its object, or was removed twice",
      causes: ["Observers by hand in a class that is reused."],
      advice: ["Use the block form of observe, whose token ends the observation."],
      .file("Apple", "Foundation, key value observing")),
    objectiveC(
      .cause, "Background task not registered",
      [
        "no launch handler registered for task with identifier",
        "all launch handlers must be registered before application finishes launching",
        "launch handler for task with identifier",
      ],
      "A background task has no launch handler, two, or one that was registered too late",
      causes: ["A task that is submitted in a build or target whose start does not register it."],
      advice: ["Register each identifier once, before didFinishLaunching returns, and list it in Info.plist."],
      .apple("BGTaskScheduler")),
    objectiveC(
      .cause, "No reason for protected data",
      ["usagedescription must be set in the app's info.plist"],
      "The program asked for protected data without a reason in its Info.plist",
      causes: ["A key that ends in UsageDescription is missing."],
      advice: ["Add the key that the message names to Info.plist."], .apple("Requesting access to protected resources")),
    CodeMeaning(
      .message, "Private data without a reason", aliases: ["without a usage description"],
      "The program asked for protected data without a reason in its Info.plist",
      endedBy: "the system's privacy service, TCC, in the process itself",
      causes: ["A key that ends in UsageDescription is missing."],
      advice: ["Add the key that the message names to Info.plist."], .apple("Requesting access to protected resources"),
      grounds: Grounds(.cause)),
    objectiveC(
      .cause, "Audio format not valid", ["isformatsamplerateandchannelcountvalid", "com.apple.coreaudio.avfaudio"],
      "The audio engine was given a format or state that it does not accept",
      causes: ["An input with 0 channels: no permission, a call, or a change of the route."],
      advice: ["Ask the node for its format when the session is active, and check its sample rate and channels."],
      .file("Apple", "AVFAudio, its NSException")),
    CodeMeaning(
      .message, "Missing environment object", aliases: ["no observableobject of type", "no observable object of type"],
      "A SwiftUI view uses an environment object that no view above it has",
      endedBy: "the Swift runtime, by a trap: SIGTRAP on arm64, SIGILL on x86_64",
      causes: ["A sheet or window, which has an environment of its own."],
      advice: ["Give the object to the view, or to its sheet, with environmentObject or environment."],
      .apple("EnvironmentObject"), grounds: Grounds(.cause, of: .swift)),
  ]

  private static let dataMessages: [CodeMeaning] = [
    objectiveC(
      .cause, "JSON of an unsupported type",
      [
        "invalid type in json write", "invalid top-level type in json write",
        "invalid number value (nan) in json write",
      ],
      "An object was written as JSON that JSON can't have",
      causes: ["A date, data, a number that is not finite, or an object of the program."],
      advice: ["Check with JSONSerialization.isValidJSONObject, or use Codable."],
      .file("Apple", "Foundation, NSJSONSerialization")),
    objectiveC(
      .cause, "Persistent store missing",
      [
        "this nspersistentstorecoordinator has no persistent stores",
        "cannot create an nspersistentstorecoordinator with a nil model",
      ],
      "Core Data has no store or no model: it could not be opened, or was not yet",
      causes: ["A protected store while the device is locked, or a failed migration."],
      advice: ["Look at the error of loadPersistentStores."], coreData),
    objectiveC(
      .cause, "Core Data on another queue",
      [
        "coredatamultithreadingassertions", "illegal attempt to establish a relationship",
        "cannot delete objects in other contexts", "__multithreading_violation_allthatisleftishasknownbugs__",
      ],
      "A Core Data object was used outside of its context or its queue",
      causes: ["An object that is handed to another thread."],
      advice: ["Hand over the object's id, and use perform of the context."], coreData),
    objectiveC(
      .cause, "Realm object misused",
      [
        "realm accessed from incorrect thread", "object has been deleted or invalidated",
        "attempting to modify object outside of a write transaction", "rlmexception",
      ],
      "A Realm object was used on another thread, after its deletion, or outside of a transaction",
      causes: ["An object that is kept in the program's own structures."],
      advice: ["Freeze objects, or look them up again on the thread that uses them."],
      .file("Realm", "RLMException")),
    objectiveC(
      .cause, "Archive of another class",
      ["incomprehensible archive", "cannot decode object of class", "value for key '"],
      "An archive holds what the program can't decode",
      causes: ["A class that was renamed, or data of another version."],
      advice: ["Use NSSecureCoding with its errors, and map old class names."],
      .file("Apple", "Foundation, NSKeyedUnarchiver")),
  ]

  private static let cxxRuntime = "the library, by abort() or a trap"

  private static let libraryMessages: [CodeMeaning] = [
    objectiveC(
      .cause, "Firebase not configured",
      [
        "could not locate configuration file: 'googleservice-info.plist'",
        "could not find a valid googleservice-info.plist",
        "the default firebase app has not yet been configured", "no app has been configured yet",
        "failed to get firebaseapp instance", "default app has already been configured",
      ],
      "Firebase was used before it was configured, was configured twice, or GoogleService-Info.plist is not in the bundle",
      causes: ["A target without the file, or code that runs before FirebaseApp.configure()."],
      advice: ["Call FirebaseApp.configure() once, first; look for GoogleService-Info.plist in the bundle."],
      .file("Firebase", "FIRApp.m")),
    objectiveC(
      .cause, "Google Ads without an id",
      [
        "gadinvalidinitializationexception", "google mobile ads sdk was initialized without",
        "gadapplicationidentifier",
      ],
      "The Google Mobile Ads SDK has no application id", causes: ["GADApplicationIdentifier is missing in Info.plist."],
      advice: ["Add GADApplicationIdentifier to Info.plist."], .file("Google", "Mobile Ads SDK, get started")),
    system(
      .cause, of: .javaScript, "JavaScript exception not handled",
      ["unhandled js exception", "rctfatalexception", "non-std c++ exception"],
      "A JavaScript error was not handled: React Native ended the app",
      by: "abort(), after an exception of React Native: SIGABRT",
      advice: ["The message has the JavaScript error and its stack; map it with the bundle's source map."],
      .file("React Native", "React/Base/RCTAssert.m")),
    system(
      .cause, of: .javaScript, "JavaScript heap exhausted",
      ["javascript heap out of memory", "allocation failed - javascript heap"],
      "The JavaScript engine has no memory left",
      by: cxxRuntime, causes: ["A leak, or a heap that is too small for the work."],
      advice: ["Take a heap snapshot; raise --max-old-space-size only if the work needs it."],
      .file("V8", "src/init/v8.cc, FatalProcessOutOfMemory")),
    system(
      .kind, of: .kotlin, "Kotlin exception not caught", ["uncaught kotlin exception", "exceptionobjholder"],
      "A Kotlin exception was not caught, or reached Swift or Objective-C from a function without @Throws",
      by: "the Kotlin runtime, by abort(): SIGABRT", causes: ["A shared function that throws and is not annotated."],
      advice: ["The message has the exception and its stack; annotate the function with @Throws, and catch."],
      .file("Kotlin/Native", "runtime, Exceptions.cpp")),
    system(
      .cause, of: .library, "Metal validation failed",
      ["failed assertion `", "draw errors validation"],
      "Metal was used in a way that it does not allow: its validation failed", by: "Metal, by abort(): SIGABRT",
      causes: ["A resource that is not bound, or has another size, format, usage or offset than the call needs."],
      advice: ["The message names the call and the resource."], .apple("Validating your app's Metal API usage")),
    system(
      .cause, of: .dotNet, "No compiler (.NET)", ["attempting to jit compile method"],
      "A method of .NET was called that was not compiled ahead of time, where the system allows no compiler",
      by: "the runtime, by abort(): SIGABRT",
      causes: ["A generic or dynamic call that the build could not foresee, or code that was trimmed."],
      advice: ["The message names the method: avoid reflection there, or build with the interpreter for its assembly."],
      .file(".NET", "runtime, mini-runtime.c, and \"Limitations of iOS\"")),
    system(
      .kind, of: .dotNet, "Managed exception not caught",
      ["unhandled managed exception", "unhandled exception. system."],
      "An exception of .NET was not caught", by: "the runtime, by abort(): SIGABRT",
      advice: ["The message has the exception's type and its managed stack."],
      .file(".NET", "runtime, unhandled exceptions")),
  ]
}
