package text

import "cmp"

// SettingHelp explains a setting in whole sentences: a key of the table ("hub.base_url",
// "audit") or a field of a list ("line.number").
func SettingHelp(key string) Key { return Key("setting.help." + key) }

// SettingTitle is the short name of a setting.
func SettingTitle(key string) Key { return Key("setting.title." + key) }

// SettingGroup is the title of a group of settings; "" is for keys without a group.
func SettingGroup(group string) Key {
	return Key("setting.group." + cmp.Or(group, "general"))
}

// SettingWho says who sets a setting: "user" or "admin".
func SettingWho(who string) Key { return Key("setting.who." + who) }

// SecretState says how a secret is kept, by the codes of package secret.
func SecretState(code string) Key { return Key("secret.state." + code) }

// SetupStep is a step of the set-up test: name, tls, token, scopes, lookup.
func SetupStep(step string) Key { return Key("setup.step." + step) }

// SetupState is the result of a step: ok, failed, off.
func SetupState(state string) Key { return Key("setup.state." + state) }

// Labels around a setting.
const (
	SettingDefault Key = "setting.default"
	SettingAllowed Key = "setting.allowed"
	SettingValue   Key = "setting.value"
	SettingSource  Key = "setting.source"
	SettingSetBy   Key = "setting.set_by"
	SettingNone    Key = "setting.none"
)

// Problem describes a mistake in a settings file, by the codes of package settings.
func Problem(kind string) Key { return Key("setting.problem." + kind) }

// Around a problem.
const (
	SettingProblemLine   Key = "setting.problem_line" // file, line
	SettingProblemSecret Key = "setting.problem_secret"
	SettingProblemClosed Key = "setting.problem_closed" // in a policy
)

// SecretNoRightGroup is SecretState("no_right") if the group is known.
const SecretNoRightGroup Key = "secret.no_right_group"

// Prompts of commands at a terminal.
const (
	SecretAsk         Key = "secret.ask"
	SecretAskLink     Key = "secret.ask.link"
	SecretAskPassword Key = "secret.ask.password"
	SecretCancelled   Key = "secret.cancelled"
)

// The expiry of the hub's secret, for administrators.
const (
	SecretExpires Key = "secret.expires"
	SecretExpired Key = "secret.expired"
)

// The set-up file.
const (
	SetupPassphrase      Key = "setup.passphrase"
	SetupPassphraseWrong Key = "setup.passphrase.wrong"
	SetupDamaged         Key = "setup.damaged"
	SetupBadSetting      Key = "setup.bad_setting"
	SetupPolicy          Key = "setup.policy"
	SetupSetting         Key = "setup.setting"
	SetupNow             Key = "setup.now"
	SetupNew             Key = "setup.new"
	SetupNothing         Key = "setup.nothing"
	SetupMoved           Key = "setup.moved"
	SetupConfirm         Key = "setup.confirm"
	SetupCancelled       Key = "setup.cancelled"
	SetupTestFailed      Key = "setup.test.failed"
	SetupEncoding        Key = "setup.encoding"
	SetupNoSecret        Key = "setup.no_secret"
	SetupOldSecret       Key = "setup.old_secret"
	SetupTaken           Key = "setup.taken"
	SetupLinkSecret      Key = "setup.link_secret"
	SetupFileIsThere     Key = "setup.file_is_there"
)

// SettingFrom says where a setting's value comes from: "default", "user", "policy".
func SettingFrom(source string) Key { return Key("setting.source." + source) }
