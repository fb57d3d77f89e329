package text

// PrefsSection is the title of a section of the settings window.
func PrefsSection(id string) Key { return Key("prefs.section." + id) }

// PrefsStepOK is how a step of the test went well.
func PrefsStepOK(step string) Key { return Key("prefs.step.ok." + step) }

// PrefsPhase is how a link is doing, of package windowapi.
func PrefsPhase(phase string) Key { return Key("prefs.phase." + phase) }

// PrefsChoice is a value of a setting, as people say it.
func PrefsChoice(key, value string) Key { return Key("prefs.choice." + key + "." + value) }

// PrefsHelp is what a setting does, where the window says it otherwise than the
// command line.
func PrefsHelp(key string) Key { return Key("prefs.help." + key) }

// PrefsWant is what may stand in a setting.
func PrefsWant(key string) Key { return Key("prefs.want." + key) }

// The settings window.
const (
	PrefsTitle              Key = "prefs.title"
	PrefsGeneral            Key = "prefs.general"
	PrefsAdmins             Key = "prefs.admins"
	PrefsSave               Key = "prefs.save"
	PrefsDrop               Key = "prefs.drop"
	PrefsStay               Key = "prefs.stay"
	PrefsUndo               Key = "prefs.undo"
	PrefsUnsaved            Key = "prefs.unsaved"
	PrefsSaving             Key = "prefs.saving"
	PrefsSaved              Key = "prefs.saved"
	PrefsBadValues          Key = "prefs.bad_values"
	PrefsNotSaved           Key = "prefs.not_saved"
	PrefsNotWritable        Key = "prefs.not_writable"
	PrefsByHand             Key = "prefs.by_hand"
	PrefsLocked             Key = "prefs.locked"
	PrefsLockedHub          Key = "prefs.locked.hub"
	PrefsTooLong            Key = "prefs.too_long"
	PrefsHotkeyOff          Key = "prefs.hotkey_off"
	PrefsSeconds            Key = "prefs.seconds"
	PrefsProblems           Key = "prefs.problems"
	PrefsHubIntro           Key = "prefs.hub.intro"
	PrefsHubAsk             Key = "prefs.hub.ask"
	PrefsAdvancedIntro      Key = "prefs.advanced.intro"
	PrefsAdvancedShow       Key = "prefs.advanced.show"
	PrefsAdvancedHide       Key = "prefs.advanced.hide"
	PrefsSecret             Key = "prefs.secret"
	PrefsSecretHelp         Key = "prefs.secret.help"
	PrefsSecretLooking      Key = "prefs.secret.looking"
	PrefsSecretOn           Key = "prefs.secret.on"
	PrefsSecretSet          Key = "prefs.secret.set"
	PrefsSecretWaiting      Key = "prefs.secret.waiting"
	PrefsSecretNone         Key = "prefs.secret.none"
	PrefsSecretNew          Key = "prefs.secret.new"
	PrefsSecretEnter        Key = "prefs.secret.enter"
	PrefsSecretAgain        Key = "prefs.secret.again"
	PrefsSecretNoStore      Key = "prefs.secret.no_store"
	PrefsSecretNoAddress    Key = "prefs.secret.no_address"
	PrefsSecretMissing      Key = "prefs.secret.missing"
	PrefsTest               Key = "prefs.test"
	PrefsTestHelp           Key = "prefs.test.help"
	PrefsTestNumber         Key = "prefs.test.number"
	PrefsTestStart          Key = "prefs.test.start"
	PrefsTestStop           Key = "prefs.test.stop"
	PrefsTestRunning        Key = "prefs.test.running"
	PrefsTestPassed         Key = "prefs.test.passed"
	PrefsTestPassedSave     Key = "prefs.test.passed.save"
	PrefsTestPassedNoNumber Key = "prefs.test.passed.nonumber"
	PrefsTestFailed         Key = "prefs.test.failed"
	PrefsTestOld            Key = "prefs.test.old"
	PrefsTestBad            Key = "prefs.test.bad"
	PrefsTestMissing        Key = "prefs.test.missing"
	PrefsHubSays            Key = "prefs.hub_says"
	PrefsAsk                Key = "prefs.ask"
	PrefsBetter             Key = "prefs.better"
	PrefsBetterTake         Key = "prefs.better.take"
	PrefsBetterEmpty        Key = "prefs.better.empty"
	PrefsStepNoNumber       Key = "prefs.step.nonumber"
	PrefsStepTestHub        Key = "prefs.step.testhub"
	PrefsStepBadNumber      Key = "prefs.step.badnumber"
	PrefsStepFound          Key = "prefs.step.found"
	PrefsLinesIntro         Key = "prefs.lines.intro"
	PrefsLinesNone          Key = "prefs.lines.none"
	PrefsLinesAdd           Key = "prefs.lines.add"
	PrefsPhonesIntro        Key = "prefs.phones.intro"
	PrefsPhonesNone         Key = "prefs.phones.none"
	PrefsPhonesAdd          Key = "prefs.phones.add"
	PrefsPhonesRecipes      Key = "prefs.phones.recipes"
	PrefsRemove             Key = "prefs.remove"
	PrefsNeeded             Key = "prefs.needed"
	PrefsNameTaken          Key = "prefs.name_taken"
	PrefsUsual              Key = "prefs.usual"
	PrefsFileOpen           Key = "prefs.file.open"
	PrefsFileTitle          Key = "prefs.file.title"
	PrefsFileIntro          Key = "prefs.file.intro"
	PrefsFilePick           Key = "prefs.file.pick"
	PrefsFilePath           Key = "prefs.file.path"
	PrefsFileWhole          Key = "prefs.file.whole"
	PrefsFilePhrase         Key = "prefs.file.phrase"
	PrefsFileShow           Key = "prefs.file.show"
	PrefsFileOpening        Key = "prefs.file.opening"
	PrefsFileCheck          Key = "prefs.file.check"
	PrefsFileNumber         Key = "prefs.file.number"
	PrefsFileTake           Key = "prefs.file.take"
	PrefsFileCancel         Key = "prefs.file.cancel"
	PrefsFileClose          Key = "prefs.file.close"
	PrefsFileTaken          Key = "prefs.file.taken"
	PrefsFileGone           Key = "prefs.file.gone"
	PrefsFileAgain          Key = "prefs.file.again"
	PrefsFileTesting        Key = "prefs.file.testing"
	PrefsWantNumber         Key = "prefs.want_number"
	PrefsWantSeconds        Key = "prefs.want_seconds"
	PrefsWantDate           Key = "prefs.want_date"
	PrefsWantOther          Key = "prefs.want_other"
	PrefsDateHint           Key = "prefs.date_hint"
	PrefsListHint           Key = "prefs.list_hint"
)
