package text

// SettingsWindowSection is the title of a section of the settings window.
func SettingsWindowSection(id string) Key { return Key("settings_window.section." + id) }

// SettingsWindowStepOK describes the success of a step of the test.
func SettingsWindowStepOK(step string) Key { return Key("settings_window.step.ok." + step) }

// SettingsWindowPhase describes the state of a link, by the phases of package windowapi.
func SettingsWindowPhase(phase string) Key { return Key("settings_window.phase." + phase) }

// SettingsWindowChoice is the label of a setting's value.
func SettingsWindowChoice(key, value string) Key {
	return Key("settings_window.choice." + key + "." + value)
}

// SettingsWindowHelp explains a setting where the window's text differs
// from the command line's.
func SettingsWindowHelp(key string) Key { return Key("settings_window.help." + key) }

// SettingsWindowWant says what a setting may contain.
func SettingsWindowWant(key string) Key { return Key("settings_window.want." + key) }

// The settings window.
const (
	SettingsWindowTitle              Key = "settings_window.title"
	SettingsWindowGeneral            Key = "settings_window.general"
	SettingsWindowAdmins             Key = "settings_window.admins"
	SettingsWindowSave               Key = "settings_window.save"
	SettingsWindowDrop               Key = "settings_window.drop"
	SettingsWindowStay               Key = "settings_window.stay"
	SettingsWindowUndo               Key = "settings_window.undo"
	SettingsWindowUnsaved            Key = "settings_window.unsaved"
	SettingsWindowSaving             Key = "settings_window.saving"
	SettingsWindowSaved              Key = "settings_window.saved"
	SettingsWindowBadValues          Key = "settings_window.bad_values"
	SettingsWindowNotSaved           Key = "settings_window.not_saved"
	SettingsWindowNotWritable        Key = "settings_window.not_writable"
	SettingsWindowByHand             Key = "settings_window.by_hand"
	SettingsWindowLocked             Key = "settings_window.locked"
	SettingsWindowLockedHub          Key = "settings_window.locked.hub"
	SettingsWindowTooLong            Key = "settings_window.too_long"
	SettingsWindowHotkeyOff          Key = "settings_window.hotkey_off"
	SettingsWindowSeconds            Key = "settings_window.seconds"
	SettingsWindowProblems           Key = "settings_window.problems"
	SettingsWindowHubIntro           Key = "settings_window.hub.intro"
	SettingsWindowHubAsk             Key = "settings_window.hub.ask"
	SettingsWindowAdvancedIntro      Key = "settings_window.advanced.intro"
	SettingsWindowAdvancedShow       Key = "settings_window.advanced.show"
	SettingsWindowAdvancedHide       Key = "settings_window.advanced.hide"
	SettingsWindowSecret             Key = "settings_window.secret"
	SettingsWindowSecretHelp         Key = "settings_window.secret.help"
	SettingsWindowSecretLooking      Key = "settings_window.secret.looking"
	SettingsWindowSecretOn           Key = "settings_window.secret.on"
	SettingsWindowSecretSet          Key = "settings_window.secret.set"
	SettingsWindowSecretWaiting      Key = "settings_window.secret.waiting"
	SettingsWindowSecretNone         Key = "settings_window.secret.none"
	SettingsWindowSecretNew          Key = "settings_window.secret.new"
	SettingsWindowSecretEnter        Key = "settings_window.secret.enter"
	SettingsWindowSecretAgain        Key = "settings_window.secret.again"
	SettingsWindowSecretNoStore      Key = "settings_window.secret.no_store"
	SettingsWindowSecretNoAddress    Key = "settings_window.secret.no_address"
	SettingsWindowSecretMissing      Key = "settings_window.secret.missing"
	SettingsWindowTest               Key = "settings_window.test"
	SettingsWindowTestHelp           Key = "settings_window.test.help"
	SettingsWindowTestNumber         Key = "settings_window.test.number"
	SettingsWindowTestStart          Key = "settings_window.test.start"
	SettingsWindowTestStop           Key = "settings_window.test.stop"
	SettingsWindowTestRunning        Key = "settings_window.test.running"
	SettingsWindowTestPassed         Key = "settings_window.test.passed"
	SettingsWindowTestPassedSave     Key = "settings_window.test.passed.save"
	SettingsWindowTestPassedNoNumber Key = "settings_window.test.passed.no_number"
	SettingsWindowTestFailed         Key = "settings_window.test.failed"
	SettingsWindowTestOld            Key = "settings_window.test.old"
	SettingsWindowTestBad            Key = "settings_window.test.bad"
	SettingsWindowTestMissing        Key = "settings_window.test.missing"
	SettingsWindowHubSays            Key = "settings_window.hub_says"
	SettingsWindowAsk                Key = "settings_window.ask"
	SettingsWindowBetter             Key = "settings_window.better"
	SettingsWindowBetterTake         Key = "settings_window.better.take"
	SettingsWindowBetterEmpty        Key = "settings_window.better.empty"
	SettingsWindowStepNoNumber       Key = "settings_window.step.no_number"
	SettingsWindowStepTestHub        Key = "settings_window.step.test_hub"
	SettingsWindowStepBadNumber      Key = "settings_window.step.bad_number"
	SettingsWindowStepFound          Key = "settings_window.step.found"
	SettingsWindowLinesIntro         Key = "settings_window.lines.intro"
	SettingsWindowLinesNone          Key = "settings_window.lines.none"
	SettingsWindowLinesAdd           Key = "settings_window.lines.add"
	SettingsWindowPhonesIntro        Key = "settings_window.phones.intro"
	SettingsWindowPhonesNone         Key = "settings_window.phones.none"
	SettingsWindowPhonesAdd          Key = "settings_window.phones.add"
	SettingsWindowPhonesRecipes      Key = "settings_window.phones.recipes"
	SettingsWindowRemove             Key = "settings_window.remove"
	SettingsWindowUp                 Key = "settings_window.up"
	SettingsWindowNeeded             Key = "settings_window.needed"
	SettingsWindowNameTaken          Key = "settings_window.name_taken"
	SettingsWindowUsual              Key = "settings_window.usual"
	SettingsWindowFileOpen           Key = "settings_window.file.open"
	SettingsWindowFileTitle          Key = "settings_window.file.title"
	SettingsWindowFileIntro          Key = "settings_window.file.intro"
	SettingsWindowFilePick           Key = "settings_window.file.pick"
	SettingsWindowFilePath           Key = "settings_window.file.path"
	SettingsWindowFileWhole          Key = "settings_window.file.whole"
	SettingsWindowFilePhrase         Key = "settings_window.file.phrase"
	SettingsWindowFileShow           Key = "settings_window.file.show"
	SettingsWindowFileOpening        Key = "settings_window.file.opening"
	SettingsWindowFileCheck          Key = "settings_window.file.check"
	SettingsWindowFileNumber         Key = "settings_window.file.number"
	SettingsWindowFileTake           Key = "settings_window.file.take"
	SettingsWindowFileCancel         Key = "settings_window.file.cancel"
	SettingsWindowFileClose          Key = "settings_window.file.close"
	SettingsWindowFileTaken          Key = "settings_window.file.taken"
	SettingsWindowFileGone           Key = "settings_window.file.gone"
	SettingsWindowFileAgain          Key = "settings_window.file.again"
	SettingsWindowFileTesting        Key = "settings_window.file.testing"
	SettingsWindowWantNumber         Key = "settings_window.want_number"
	SettingsWindowWantSeconds        Key = "settings_window.want_seconds"
	SettingsWindowWantDate           Key = "settings_window.want_date"
	SettingsWindowWantOther          Key = "settings_window.want_other"
	SettingsWindowDateHint           Key = "settings_window.date_hint"
	SettingsWindowListHint           Key = "settings_window.list_hint"
)
