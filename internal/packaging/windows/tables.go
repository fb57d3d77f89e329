//go:build linux

package windows

import (
	"fmt"
	"strings"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/native/eventlog"
)

// answer is a property of the command line that is kept for the next version; with a
// Key it becomes a setting of the policy, unless it is empty.
type answer struct{ Property, Key, Name string }

const policyFile = "POLICY_FILE"

// kept are these properties. None is a secret: properties stand in the installer's log.
var kept = func() []answer {
	all := []answer{{Property: "AUTOSTART"}, {Property: "POLICY_TEMPLATES"}}
	for _, key := range []string{"hub.base_url", "hub.hub_url", "hub.client_id", "hub.organisation_code", "hub.secret_store", "relay.url", "relay.fingerprint"} {
		e, _ := settings.Of(key)
		all = append(all, answer{strings.ToUpper(strings.ReplaceAll(key, ".", "_")), settings.PolicyKey + `\` + e.Group(), e.Name()})
	}
	return all
}()

// Types of custom actions (learn.microsoft.com, "Custom Action Return Processing
// Options" and "Custom Action In-Script Execution Options").
const (
	setsProperty = 51
	runsFile     = 18
	runsInFolder = 34
	anyResult    = 0x40
	asSystem     = 0x400 | 0x800 // when the script runs, and not as the user
	atCommit     = 0x200         // once nothing can fail any more
	atRollback   = 0x100         // when something has failed
)

// insert is a row of a table; numbers stand as they are.
func insert(table string, columns string, values ...any) string {
	var all []string
	for _, v := range values {
		if s, is := v.(string); is {
			v = "'" + s + "'"
		}
		all = append(all, fmt.Sprint(v))
	}
	return fmt.Sprintf("INSERT INTO `%s` (`%s`) VALUES (%s)", table, strings.ReplaceAll(columns, " ", "`, `"), strings.Join(all, ", "))
}

// set changes a column of one row.
func set(table, key, of, column, value string) string {
	return fmt.Sprintf("UPDATE `%s` SET `%s` = '%s' WHERE `%s` = '%s'", table, column, value, key, of)
}

// action puts an action at its place among those of an installation.
func action(name, when string, at int) string {
	if when == "" {
		return insert("InstallExecuteSequence", "Action Sequence", name, at)
	}
	return insert("InstallExecuteSequence", "Action Condition Sequence", name, when, at)
}

// custom is an action of our own.
func custom(name string, kind int, source, target, when string, at int) []string {
	return []string{insert("CustomAction", "Action Type Source Target", name, kind, source, target), action(name, when, at)}
}

// remember has an answer of the last installation count unless there is a new one: the
// search would put the old one over it, and so has a property of its own.
func remember(i int, property string) []string {
	return custom("Take_"+property, setsProperty, property, "[WAS_"+property+"]", "WAS_"+property+" AND NOT "+property, 51+i)
}

// upgradeRows put the new version beside the old one before that goes, all of it in
// one transaction: a failure anywhere leaves the old one as it was.
var upgradeRows = []string{
	action("InstallExecute", "", 6500),
	action("RemoveExistingProducts", "", 6550),
	// All is looked for by the elevated part of the installer: a folder that the user's part
	// has filled in already would be taken for an answer.
	before("AppSearch"), before("LaunchConditions"), before("FindRelatedProducts"), before("ValidateProductID"),
	before("CostInitialize"), before("FileCost"), before("CostFinalize"), before("MigrateFeatureStates"),
}

// before takes an action out of what the user's part does before the elevated one.
func before(action string) string {
	return "DELETE FROM `InstallUISequence` WHERE `Action` = '" + action + "'"
}

// stays is the condition under which no newer version has taken over: Windows says so to
// the version that it removes for one, and the newer one has left its number in the
// registry by then.
const stays = "NOT UPGRADINGPRODUCTCODE AND (NOT WAS_VERSION OR WAS_VERSION=ProductVersion)"

func wiebeltRows(policies []policyTemplate) []string {
	all := []string{
		// The files of an older version stay while sessions run them; they go when the
		// next installation, repair or removal finds nobody in them.
		set("InstallExecuteSequence", "Action", "RemoveFiles", "Condition", stays),
		when("Policy", policyFile),
		when("Autostart", `NOT (AUTOSTART="0")`),
		// The search path, so that a terminal knows the command.
		"CREATE TABLE `Environment` (`Environment` CHAR(72) NOT NULL, `Name` CHAR(255) NOT NULL LOCALIZABLE, `Value` CHAR(255) LOCALIZABLE, `Component_` CHAR(72) NOT NULL PRIMARY KEY `Environment`)",
		insert("Environment", "Environment Name Value Component_", "Path", "=-*PATH", "[~];[INSTALLDIR]", "Programs"),
		action("RemoveEnvironmentStrings", "", 3300), action("WriteEnvironmentStrings", "", 5200),
		// The policy is copied from where the administrator keeps it, into a folder that
		// only administrators may write to.
		"CREATE TABLE `MoveFile` (`FileKey` CHAR(72) NOT NULL, `Component_` CHAR(72) NOT NULL, `SourceName` CHAR(255) LOCALIZABLE, `DestName` CHAR(255) LOCALIZABLE, `SourceFolder` CHAR(72), `DestFolder` CHAR(72) NOT NULL, `Options` INT NOT NULL PRIMARY KEY `FileKey`)",
		insert("MoveFile", "FileKey Component_ DestName SourceFolder DestFolder Options", "PolicyFile", "Policy", settings.PolicyFile, policyFile, "DATADIR", 0),
		action("MoveFiles", "", 3800),
		insert("RemoveFile", "FileKey Component_ FileName DirProperty InstallMode", "PolicyFile", "Policy", settings.PolicyFile, "DATADIR", 2),
		"CREATE TABLE `MsiLockPermissionsEx` (`MsiLockPermissionsEx` CHAR(72) NOT NULL, `LockObject` CHAR(72) NOT NULL, `Table` CHAR(32) NOT NULL, `SDDLText` CHAR(0) NOT NULL, `Condition` CHAR(255) PRIMARY KEY `MsiLockPermissionsEx`)",
		// Users run what lies in both folders, wherever the administrator has put them.
		insert("MsiLockPermissionsEx", "MsiLockPermissionsEx LockObject Table SDDLText", "Policy", "DATADIR", "CreateFolder", secret.FolderRights),
		insert("MsiLockPermissionsEx", "MsiLockPermissionsEx LockObject Table SDDLText", "Programs", "INSTALLDIR", "CreateFolder", secret.FolderRights),
	}
	// The programs that "sweep --place" has put there, and what it left there.
	for i, name := range []string{"wiebelt.exe", "wiebelt-ringw.exe", "wiebelt*.exe.new", ".wiebelt*.exe.*.tmp"} {
		all = append(all, insert("RemoveFile", "FileKey Component_ FileName DirProperty InstallMode", fmt.Sprint("Placed", i), "Programs", name, "INSTALLDIR", 2))
	}
	for _, k := range kept {
		all = append(all, when("Keep_"+k.Property, k.Property))
	}
	for _, t := range policies {
		all = append(all, when(t.ID, `POLICY_TEMPLATES="1"`))
	}
	all = append(all, custom("EndAll", runsFile|anyResult|asSystem, "wiebeltw.exe", "sweep --end", `REMOVE="ALL" AND `+stays, 3450)...)
	// The small programs come after the version, and go again if the first one fails: those
	// of a newer version start an older one as well.
	all = append(all, custom("Unplace", runsInFolder|anyResult|asSystem|atRollback, "INSTALLDIR", "[System64Folder]cmd.exe /c del wiebelt.exe* wiebelt-ringw.exe*", "NOT Installed AND NOT OLDERFOUND", 4004)...)
	all = append(all, custom("Place", runsFile|asSystem, "wiebeltw.exe", "sweep --place", "NOT REMOVE", 4005)...)
	return append(all, custom("Sweep", runsFile|anyResult|asSystem|atCommit, "wiebeltw.exe", "sweep", "NOT REMOVE", 4010)...)
}

// when says on what condition a component is installed.
func when(component, condition string) string {
	return set("Component", "Component", component, "Condition", condition)
}

// relayRows: the service is started again after a failure, and after an upgrade where
// it was made ready before; what it lacks then is said in the application log.
func relayRows() []string {
	all := custom("Recovers", runsFile|anyResult|asSystem, "wiebelt_relay.exe", "service install", "NOT REMOVE", 5810)
	return append(all, custom("Starts", runsInFolder|anyResult|asSystem, "INSTALLDIR", "[SystemFolder]sc.exe start "+eventlog.RelaySource, "OLDERFOUND", 5950)...)
}
