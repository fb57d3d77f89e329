package text

// SettingAllowedIn describes the allowed values of a setting; "text" is for those
// that may be any text.
func SettingAllowedIn(key string) Key { return Key("setting.allowed." + key) }

// SettingFromTo is a range.
const SettingFromTo Key = "setting.from_to"
