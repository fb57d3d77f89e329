package text

// Help and errors of the command line.
const (
	CommandUsage      Key = "command.usage"     // the command with its flags and arguments
	CommandFlags      Key = "command.flags"     // placeholder for flags in a usage line
	CommandArguments  Key = "command.arguments" // a heading, like the next one
	CommandFlagsTitle Key = "command.flags_title"
	CommandMore       Key = "command.more" // the name of the program or command

	UsageArgument      Key = "usage.argument" // the argument, and a sentence with what was meant or ""
	UsageFlag          Key = "usage.flag"     // the same
	UsageMeant         Key = "usage.meant"
	UsageMissing       Key = "usage.missing"
	UsageExpected      Key = "usage.expected"
	UsageOneOf         Key = "usage.one_of" // flag, allowed values, given value
	UsageTogether      Key = "usage.together"
	UsageDuration      Key = "usage.duration" // flag, given value
	UsageNumber        Key = "usage.number"   // the same
	UsageNoValue       Key = "usage.no_value"
	UsageNothingBehind Key = "usage.nothing_behind"
	UsageOr            Key = "usage.or"
	UsageWrong         Key = "usage.wrong"
)

// CommandHelp is the help for a part of the command line: "deliver.list" is a
// command, "deliver.list --all" and "deliver.receipt <id>" are a flag and an argument
// of it, and "deliver.list about" is its long help. A flag with the same meaning
// everywhere has no command.
func CommandHelp(part string) Key { return Key("command.help." + part) }

// CommandPlace names a placeholder; one without a text is shown unchanged.
func CommandPlace(name string) Key { return Key("command.place." + name) }

// CommandGroup is the heading of a group of commands: "", day, admin or try.
func CommandGroup(group string) Key { return Key("command.group." + group) }
