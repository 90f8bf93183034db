// SPDX-License-Identifier: Apache-2.0
extension SystemImages {
  /// Names of images below /System and /usr/lib in reports of macOS 10.4 to 26 and iOS 9 to 26 that no other rule of `contains`
  /// covers. Those that programs have for a name too are left out.
  static let others = Set(
    """
    ACTFramework AE AFKUser AGL ALF AMDMTLBronzeDriver AMDRadeonX4000GLDriver ANECompiler AOSAccounts AOSKit
    AOSMigrate AOSNotification APFS APFSUserAgent ARDAgent ARKit ARKitCore ASEProcessing ATIRadeonX4000SCLib.dylib
    ATS ATSUI AVConference AVRouting AXCoreUtilities AXFrontBoardUtils AXRuntime AccessibilitySettingsLoader
    AccessibilityUI AccessibilityUIShared AccessibilityUIUtilities AccountSettings AccountsDaemon AccountsUI
    AcousticId ActionPredictionHeuristics ActionPredictionHeuristicsInternal ActivityKit AdAnalytics AdCore
    AdPlatforms AddressBook AddressBookCore AddressBookSourceSync AddressBookUI AddressBookUIFramework AirPlayUIAgent
    AirQualityUI AirTraffic AlgosScoreFramework AnnotationKit AppC3D AppContainer AppIntentsServices
    AppNotificationsLoggingClient AppPredictionClient AppPredictionInternal AppPreferenceClient AppSSO AppSSOCore
    AppSandbox AppStoreOverlays AppTrackingTransparency Apple80211 AppleAccountUI AppleCV3D AppleCV3DMOVKit
    AppleCV3DModels AppleCVA AppleDepth AppleFSCompression AppleFSCompressionTypeDataless AppleFSCompressionTypeZlib
    AppleGVA AppleHDAHALPlugIn AppleIntelBDWGraphicsVADriver AppleIntelCPUPowerManagement AppleIntelHD3000Graphics
    AppleIntelHD3000GraphicsGLDriver AppleLDAP AppleMobileFileIntegrity AppleNeuralEngine AppleOSXWatchdog
    ApplePowerAccessoryUpdater AppleSMC AppleSRP AppleSpell AppleSystemInfo AppleUSBAudio AppleVA AppleVPA
    AssetCacheLocatorService AssetCacheManagerService AssetCacheTetheratorService AssetsLibrary AssistantSystemUI
    AudioAnalytics AudioCodecs AudioComponentRegistrar AudioResourceArbitration AudioUnit AuthKitUI
    AuthKitUIMacHelper AuthenticationServicesCore AutoLoop AutomaticAssessmentConfiguration AvatarKit AvatarUI
    BTLEAudioController BackBoardServices BackgroundTaskAgent BackgroundTaskManagement BannerKit BaseBoard BioKitAggD
    BiometricKit BookLibrary BrailleTranslation BridgeOSInstall BridgeOSSoftwareUpdate BridgeXPC BrowserEngineKit
    BulletinBoard CFOpenDirectory CMImaging CPMS CVMCompiler CVMServer CalNCService CalendarAgent CalendarAgentLink
    CalendarDraw CalendarPersistence CalendarUI CalendarUIKit CallHistory CallHistoryPluginHelper CarKit CarPlay
    Carbon CarbonCore CarbonSound CardDAVPlugin CertInfo CharacterPicker ChatKit ChatKitFramework CinematicFraming
    ClassKit ClockKit ClockUI CloudDocsDaemon CloudDocsFileProvider CloudKeychainProxy CloudKitDaemon
    CloudPhotoServicesConfiguration CloudPhotosConfigurationXPC Cocoa ColorSync ColorSyncLegacy CommerceCore
    CommerceKit CommonPanels CompanionSync ConfigurationEngineModel ConfigurationProfiles ContactsAccountsService
    ContactsPersistence ContactsUIMacHelper ContainerMetadataExtractor ContentIndex ContextKit ContextKitExtraction
    CoreAUC CoreAVCHD CoreAccessories CoreAnalytics CoreAppleCVA CoreAudioKit CoreAudioTypes CoreAuthentication
    CoreBrightness CoreCDP CoreCDPInternal CoreCDPUI CoreDaemon CoreDisplay CoreDuetDebugLogging CoreIDV CoreKDL
    CoreMIDI CoreMaterial CoreMediaAuthoring CoreMediaIO CoreNLP CoreParsec CoreRE CoreRecognition CoreRoutine
    CoreSDB CoreSVG CoreServicesInternal CoreServicesUIAgent CoreSpeech CoreSurface CoreSymbolication
    CoreTransferable CoreTrust CoreWLAN CoreWLANKit CoreWiFi CrashReporterSupportHelper CryptoKit CryptoTokenKit
    DAAPKit DCERPC DSExternalDisplay DaemonUtils DataDetection DataDetectors DataDetectorsNaturalLanguage
    DataDetectorsUI DebugSymbols DesktopServicesPriv DeveloperToolsSupport DeviceActivity DeviceCheck DeviceIdentity
    DeviceManagement DiagnosticExtensions DiagnosticLogCollection DifferentialPrivacy DirectoryService DiscRecording
    DiskArbitration DiskImages DiskManagement DistributionKit DocumentManager DocumentManagerCore
    DuetActivityScheduler DuetActivitySchedulerDaemon DuetRecommendation EAP8021X EAPOLController EFILogin
    EmbeddedOSInstall EmbeddedOSSupportHost EmojiKit EscrowSecurityAlert Espresso EventKitUI EventKitUIFramework
    ExposureNotification ExtensionKit ExternalAccessory FMCore FMCoreUI FMF FMFUI FSEvents FaceCoreLight
    FamilyControls FileProviderOverride FileSearchUI FinderKit FlightUtilities FrontBoard FuseBoard GLEngine GLKit
    GLRendererFloat GPUWrangler GSS GSSCred GameCenter GameCenterUI GameplayKit GeneralKnowledgeUI GeoKit
    H264H4.videoencoder H264H7.videoencoder HID HSAAuthentication HangTracer HearingCore HearingUtilities HelpViewer
    HomeSharing IAP IASUtilities IDSKVStore IMAP IMAVCore IMCore IMDPersistence IMDPersistenceAgent IMGSGX535GLDriver
    IMRemoteURLConnectionAgent IMSharedUI IMSharedUtilities IMTranscoding IO80211Family IOAccelMemoryInfo
    IOAccelerator IOAccessoryManager IOBluetooth IOBluetoothFamily IOGPU IOHIDNXEventTranslatorSessionFilter IOKitten
    IOMobileFramebuffer IOPlatformPluginFamily IOPresentment IOSurfaceAccelerator ITMLKit IconServices ImageCapture
    ImageCaptureCore ImageKit InputContext InstallerDiagnostics IntentsCore IntentsUI InternetAccounts
    IntlPreferences JPEGH1.videoencoder JasperDepth JournalingSuggestions KBLayouts_iPhone.dylib Kerberos
    KerberosHelper KeychainCircle LDAP LangAnalysis LatentSemanticMapping LegacyGameKit LegacyHandle LimitAdTracking
    LiveCommunicationKit LocalAuthenticationPrivateUI LocalAuthenticationUI LocationMenu LoggingSupport LoginUICore
    LoginUserService MLAssetIO MOVStreamIO MSUDataAccessor MailCore MailService MailUI MallocStackLogging
    ManagedSettings Mangrove MapKitFramework MarketplaceKit MarkupUI MediaAnalysis MediaControlSender MediaLibrary
    MediaLibraryCore MediaPlayerFramework MediaRemote MediaSafetyNet MemoryMonitor MessageProtection
    MessageUIFramework MessagesUI MetricKit MetricsKit MicroblogUI MobileAccessoryUpdater MobileActivation
    MobileBackup MobileDevice MobileDeviceLink MobileKeyBag MobileObliteration MobileSafari MobileSpotlightIndex
    MobileStorage MobileWiFi MomentsLibrary MusicKit MusicLibrary NearbyInteraction NetAppsUtilities NetAuth NetFS
    Netrb NetworkStatistics NeutrinoCore NeutrinoKit NewsAnalyticsUpload NewsDaemon NewsServicesInternal
    NewsTransport NotesShared NotesUI NotificationCenter NotificationCenterUI NotificationsUI OAuth OSAnalytics
    OSPersonalization OpenAL OpenCL OpenDirectory OpenGL OpenScripting PCSC PPPController PackageKit PaperKit
    ParsecUI PassKitCore PegasusAPI PeopleSuggester PerformanceAnalysis PersonalizationPortrait PhotoImaging
    PhotoLibrary PhotoLibraryFramework PhotosFramework PhotosPlayer PhotosUICore PhotosUIFramework PowerLog
    PowerlogCore PreferencePanes PreferencesFramework PrintCore PrintKit PrintUITool ProactiveMagicalMoments
    ProactiveSupport ProgressUI ProofReader ProtectedCloudKeySyncing PrototypeTools PrototypeToolsUI Proximity QD
    QTKit Quarantine Quartz QuartzComposer QuartzFilters QuickLookIosmac QuickLookNonBaseSystem QuickLookThumbnailing
    QuickLookUI QuickLookUIIosmac QuickSpeak QuickTime ROCKit RTTUtilities RawCamera RealityFoundation RemindersUI
    RemoteConfiguration RemoteManagement RemoteServiceDiscovery RemoteUI RemoteUIFramework RemoteXPC RenderBox
    ReplayKit ReportCrash ResponseKit Reveal RoomPlan SSMenuAgent SafariBookmarksSyncAgent SafariCore
    SafariDAVNotifier SafariShared SafariSharedUI SafeEjectGPUAgent SafeEjectGPUService SafetyKit SampleAnalysis
    Sandbox SceneIntelligence ScopedBookmarkAgent ScreenCaptureKit ScreenReaderCore ScreenReaderOutput ScreenTime
    ScreenTimeCore Search SearchKit SecCodeWrapper SecurityAgent SecurityHI SecurityInterface
    SensitiveContentAnalysis SensorKit ServerInformation ServiceManagement SettingsUI SharePointManagementService
    SharedFileList SharedWebCredentials SharedWithYou SharingFramework ShazamKit Shortcut SidecarCore SidecarUI
    SignpostCollection SignpostNotification SimpleKeyExchange SiriActivation SiriLiminal SiriNCService SiriUI
    SiriUICore Slim.videoencoder Social SocialFramework SoftwareUpdate SoundAnalysis SpeakerRecognition SpeechObjects
    SpeechRecognition SpeechRecognitionCore SpeechSynthesis SpotlightDaemon SpotlightIndex SpotlightLinguistics
    SpotlightReceiver SpotlightServerKit SpringBoard SpringBoardUI StatsKit StorageKit StorageManagement
    StorageSettings StoreKitFramework StoreKitUI StudyLog SubmitDiagInfo Suggestions Symbolication SymptomAnalytics
    SymptomDiagnosticReporter SymptomPresentationFeed SymptomReporter SyncedDefaults SystemAdministration SystemCache
    SystemInformationUI SystemPolicy SystemUIServer TabularData TelephonyUI TextInputUI TextToSpeech TimeSync TipKit
    TipsCore TipsUI ToneKit TranslationUIServices Transparency TransparencyDetailsView TrustEvaluationAgent Twitter
    UIAccessibility UIFoundation USDKit UniformTypeIdentifiers Uninstall UniversalSearchUI UsageTracking UserActivity
    UserFS UserNotificationsKit UserNotificationsUI VCH263.videoencoder VDCAssistant ViceroyTrace VideoProcessing
    VideoSubscriberAccount ViewBridge ViewBridgeAuxiliary VirtualGarage VisionKit VisualIntelligence
    VisualLocalization VoiceShortcutClient VoiceTrigger WAAnswerUI WatchConnectivity WatchdogClient WeatherKit
    WebBookmarks WebInspector WebUI WhitePages WiFiAgent WiFiPolicy WiFiProxy WindowServer WirelessCoexManager
    WirelessProximity WorkflowKit WorkoutKit XCTAutomationSupport XCTestCore XCTestSupport XPCKit XPCObjects
    accountsd adid aggregated akd analyticsd apfs appleeventsd appstoreagent apsd assetsd assistantd atsd authd
    authorizationhost autofs awdd backgroundtaskmanagementagent backupd-helper bird callservicesd cdpd cloudd
    cloudpaird cloudphotosd colorsync.useragent commerce contextstored coreauthd corecrypto coreservicesd corespeechd
    corespotlightd coresymbolicationd csparser ctkahp ctkd deleted diagnostics_agent diskimages-helper familycircled
    fileproviderd followupd fontd fontworker fseventsd fud homed iAd iAdCore iTunesCloud iTunesStore
    iTunesStoreFramework iTunesStoreUI iTunesStoreUIFramework icdd iconservicesagent iconservicesd identityservicesd
    imagent imklaunchagent installd kdc kernel kperf kperfdata ktrace launchservicesd libATSServer.dylib
    libAVFAudio.dylib libAWDProtobufFacetimeiMessage.dylib libAWDSupportConfig.dylib libAWDSupportInfo.dylib
    libCMSBuiltin.A.dylib libCheckFix.dylib libDiagnosticMessagesClient.dylib libEDR libEmbeddedSystemAUs.dylib
    libFDR.dylib libFontRegistry.dylib libFontRegistryUI.dylib libFosl_dynamic.dylib libHeimdalProxy.dylib
    libIASAuthReboot.dylib libMatch.1.dylib libMobileCheckpoint.dylib libRIP.A.dylib libReverseProxyDevice.dylib
    libRosetta.dylib libSERestoreInfo.dylib libSMC.dylib libScreenReader.dylib libTrueTypeScaler.dylib
    libUAPreferences.dylib libUniversalAccess.dylib libassertion_extension.dylib libauthinstall.dylib
    libcldcpuengine.dylib libcoreroutine.dylib libcsfde.dylib libdns_services.dylib libdnsinfo.dylib libdscsym.dylib
    libdz.dylib libextension.dylib libfakelink.dylib libkxld.dylib libmarisa.dylib libmecab.1.0.0.dylib
    libmecab_em.dylib libmetal_timestamp.dylib libmorphun.dylib liboah.dylib libodfde.dylib libpmsample.dylib
    libsasl2.2.dylib libsubstrate.dylib libsysdiagnose.dylib libsysmon.dylib libtzupdate.dylib libvminterpose.dylib
    libxar.1.dylib libxcselect.dylib localAuthenticationRemoteService login logind loginsupport loginwindow mds
    mds_stores mdworker_shared mdwrite mediaanalysisd mediaremoteagent mediaremoted nbagent nbstated parsec-fbf
    parsecd pbs photoanalysisd photolibraryd powerd printtool pthread quicklookd revisiond runtime_t8027
    sharedfilelistd snatmap soagent storeaccountd storeassetd storedownloadd suggestd system_installd talagent tccd
    uninstalld usbmuxd useractivityd writeconfig
    """.split { $0 == " " || $0 == "\n" })
}
