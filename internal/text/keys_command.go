package text

// Help and errors of the command line.
const (
	CommandUsage      Key = "command.usage"     // the command with its flags and arguments
	CommandFlags      Key = "command.flags"     // stands for flags in a usage line
	CommandArguments  Key = "command.arguments" // a heading, as is the next
	CommandFlagsTitle Key = "command.flags_title"
	CommandMore       Key = "command.more" // the program's or command's name

	UsageArgument      Key = "usage.argument" // the argument, and a sentence with what was meant or ""
	UsageFlag          Key = "usage.flag"     // alike
	UsageMeant         Key = "usage.meant"
	UsageMissing       Key = "usage.missing"
	UsageExpected      Key = "usage.expected"
	UsageOneOf         Key = "usage.one_of" // flag, what it may be, what it was
	UsageTogether      Key = "usage.together"
	UsageDuration      Key = "usage.duration" // flag, what it was
	UsageNumber        Key = "usage.number"   // alike
	UsageNoValue       Key = "usage.no_value"
	UsageNothingBehind Key = "usage.nothing_behind"
	UsageOr            Key = "usage.or"
	UsageWrong         Key = "usage.wrong"
)

// CommandHelp is the help for a part of the command line: "deliver.list" is a
// command, "deliver.list --all" and "deliver.receipt <id>" a flag and an argument
// of it, "deliver.list about" its help at length. A flag that means the same
// everywhere stands without its command.
func CommandHelp(part string) Key { return Key("command.help." + part) }

// CommandPlace names what has to be filled in; what has no text stays as it is.
func CommandPlace(name string) Key { return Key("command.place." + name) }

// CommandGroup is the heading of a group of commands: "", day, admin or try.
func CommandGroup(group string) Key { return Key("command.group." + group) }
