package text

// SettingAllowedIn says what a setting may be; "text" stands for those that are
// any text.
func SettingAllowedIn(key string) Key { return Key("setting.allowed." + key) }

// SettingFromTo is a range.
const SettingFromTo Key = "setting.allowed_from_to"
