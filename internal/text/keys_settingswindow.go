package text

// SettingsWindowSection is the title of a section of the settings window.
func SettingsWindowSection(id string) Key { return Key("settingswindow.section." + id) }

// SettingsWindowStepOK describes the success of a step of the test.
func SettingsWindowStepOK(step string) Key { return Key("settingswindow.step.ok." + step) }

// SettingsWindowPhase describes the state of a link, by the phases of package windowapi.
func SettingsWindowPhase(phase string) Key { return Key("settingswindow.phase." + phase) }

// SettingsWindowChoice is the label of a setting's value.
func SettingsWindowChoice(key, value string) Key {
	return Key("settingswindow.choice." + key + "." + value)
}

// SettingsWindowHelp explains a setting where the window's text differs
// from the command line's.
func SettingsWindowHelp(key string) Key { return Key("settingswindow.help." + key) }

// SettingsWindowWant says what a setting may contain.
func SettingsWindowWant(key string) Key { return Key("settingswindow.want." + key) }

// The settings window.
const (
	SettingsWindowTitle              Key = "settingswindow.title"
	SettingsWindowGeneral            Key = "settingswindow.general"
	SettingsWindowAdmins             Key = "settingswindow.admins"
	SettingsWindowSave               Key = "settingswindow.save"
	SettingsWindowDrop               Key = "settingswindow.drop"
	SettingsWindowStay               Key = "settingswindow.stay"
	SettingsWindowUndo               Key = "settingswindow.undo"
	SettingsWindowUnsaved            Key = "settingswindow.unsaved"
	SettingsWindowSaving             Key = "settingswindow.saving"
	SettingsWindowSaved              Key = "settingswindow.saved"
	SettingsWindowBadValues          Key = "settingswindow.bad_values"
	SettingsWindowNotSaved           Key = "settingswindow.not_saved"
	SettingsWindowNotWritable        Key = "settingswindow.not_writable"
	SettingsWindowByHand             Key = "settingswindow.by_hand"
	SettingsWindowLocked             Key = "settingswindow.locked"
	SettingsWindowLockedHub          Key = "settingswindow.locked.hub"
	SettingsWindowTooLong            Key = "settingswindow.too_long"
	SettingsWindowHotkeyOff          Key = "settingswindow.hotkey_off"
	SettingsWindowSeconds            Key = "settingswindow.seconds"
	SettingsWindowProblems           Key = "settingswindow.problems"
	SettingsWindowHubIntro           Key = "settingswindow.hub.intro"
	SettingsWindowHubAsk             Key = "settingswindow.hub.ask"
	SettingsWindowAdvancedIntro      Key = "settingswindow.advanced.intro"
	SettingsWindowAdvancedShow       Key = "settingswindow.advanced.show"
	SettingsWindowAdvancedHide       Key = "settingswindow.advanced.hide"
	SettingsWindowSecret             Key = "settingswindow.secret"
	SettingsWindowSecretHelp         Key = "settingswindow.secret.help"
	SettingsWindowSecretLooking      Key = "settingswindow.secret.looking"
	SettingsWindowSecretOn           Key = "settingswindow.secret.on"
	SettingsWindowSecretSet          Key = "settingswindow.secret.set"
	SettingsWindowSecretWaiting      Key = "settingswindow.secret.waiting"
	SettingsWindowSecretNone         Key = "settingswindow.secret.none"
	SettingsWindowSecretNew          Key = "settingswindow.secret.new"
	SettingsWindowSecretEnter        Key = "settingswindow.secret.enter"
	SettingsWindowSecretAgain        Key = "settingswindow.secret.again"
	SettingsWindowSecretNoStore      Key = "settingswindow.secret.no_store"
	SettingsWindowSecretNoAddress    Key = "settingswindow.secret.no_address"
	SettingsWindowSecretMissing      Key = "settingswindow.secret.missing"
	SettingsWindowTest               Key = "settingswindow.test"
	SettingsWindowTestHelp           Key = "settingswindow.test.help"
	SettingsWindowTestNumber         Key = "settingswindow.test.number"
	SettingsWindowTestStart          Key = "settingswindow.test.start"
	SettingsWindowTestStop           Key = "settingswindow.test.stop"
	SettingsWindowTestRunning        Key = "settingswindow.test.running"
	SettingsWindowTestPassed         Key = "settingswindow.test.passed"
	SettingsWindowTestPassedSave     Key = "settingswindow.test.passed.save"
	SettingsWindowTestPassedNoNumber Key = "settingswindow.test.passed.nonumber"
	SettingsWindowTestFailed         Key = "settingswindow.test.failed"
	SettingsWindowTestOld            Key = "settingswindow.test.old"
	SettingsWindowTestBad            Key = "settingswindow.test.bad"
	SettingsWindowTestMissing        Key = "settingswindow.test.missing"
	SettingsWindowHubSays            Key = "settingswindow.hub_says"
	SettingsWindowAsk                Key = "settingswindow.ask"
	SettingsWindowBetter             Key = "settingswindow.better"
	SettingsWindowBetterTake         Key = "settingswindow.better.take"
	SettingsWindowBetterEmpty        Key = "settingswindow.better.empty"
	SettingsWindowStepNoNumber       Key = "settingswindow.step.nonumber"
	SettingsWindowStepTestHub        Key = "settingswindow.step.testhub"
	SettingsWindowStepBadNumber      Key = "settingswindow.step.badnumber"
	SettingsWindowStepFound          Key = "settingswindow.step.found"
	SettingsWindowLinesIntro         Key = "settingswindow.lines.intro"
	SettingsWindowLinesNone          Key = "settingswindow.lines.none"
	SettingsWindowLinesAdd           Key = "settingswindow.lines.add"
	SettingsWindowPhonesIntro        Key = "settingswindow.phones.intro"
	SettingsWindowPhonesNone         Key = "settingswindow.phones.none"
	SettingsWindowPhonesAdd          Key = "settingswindow.phones.add"
	SettingsWindowPhonesRecipes      Key = "settingswindow.phones.recipes"
	SettingsWindowRemove             Key = "settingswindow.remove"
	SettingsWindowUp                 Key = "settingswindow.up"
	SettingsWindowNeeded             Key = "settingswindow.needed"
	SettingsWindowNameTaken          Key = "settingswindow.name_taken"
	SettingsWindowUsual              Key = "settingswindow.usual"
	SettingsWindowFileOpen           Key = "settingswindow.file.open"
	SettingsWindowFileTitle          Key = "settingswindow.file.title"
	SettingsWindowFileIntro          Key = "settingswindow.file.intro"
	SettingsWindowFilePick           Key = "settingswindow.file.pick"
	SettingsWindowFilePath           Key = "settingswindow.file.path"
	SettingsWindowFileWhole          Key = "settingswindow.file.whole"
	SettingsWindowFilePhrase         Key = "settingswindow.file.phrase"
	SettingsWindowFileShow           Key = "settingswindow.file.show"
	SettingsWindowFileOpening        Key = "settingswindow.file.opening"
	SettingsWindowFileCheck          Key = "settingswindow.file.check"
	SettingsWindowFileNumber         Key = "settingswindow.file.number"
	SettingsWindowFileTake           Key = "settingswindow.file.take"
	SettingsWindowFileCancel         Key = "settingswindow.file.cancel"
	SettingsWindowFileClose          Key = "settingswindow.file.close"
	SettingsWindowFileTaken          Key = "settingswindow.file.taken"
	SettingsWindowFileGone           Key = "settingswindow.file.gone"
	SettingsWindowFileAgain          Key = "settingswindow.file.again"
	SettingsWindowFileTesting        Key = "settingswindow.file.testing"
	SettingsWindowWantNumber         Key = "settingswindow.want_number"
	SettingsWindowWantSeconds        Key = "settingswindow.want_seconds"
	SettingsWindowWantDate           Key = "settingswindow.want_date"
	SettingsWindowWantOther          Key = "settingswindow.want_other"
	SettingsWindowDateHint           Key = "settingswindow.date_hint"
	SettingsWindowListHint           Key = "settingswindow.list_hint"
)
