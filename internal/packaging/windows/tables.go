//go:build linux

package windows

import (
	"fmt"
	"strings"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/native/eventlog"
)

// answer is a command-line property that is kept for the next version; with a Key, it
// becomes a policy setting unless it is empty.
type answer struct{ Property, Key, Name string }

const policyFile = "POLICY_FILE"

// keptProperties lists these properties. None is a secret: the installer logs properties.
var keptProperties = func() []answer {
	all := []answer{{Property: "AUTOSTART"}, {Property: "POLICY_TEMPLATES"}}
	for _, key := range []string{"hub.base_url", "hub.hub_url", "hub.client_id", "hub.organisation_code", "hub.secret_store", "relay.url", "relay.fingerprint"} {
		e, _ := settings.EntryOf(key)
		all = append(all, answer{strings.ToUpper(strings.ReplaceAll(key, ".", "_")), settings.PolicyRegistryKey + `\` + e.Group(), e.Name()})
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

// insert adds a row to a table; numbers are not quoted.
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

func updateCell(table, key, of, column, value string) string {
	return fmt.Sprintf("UPDATE `%s` SET `%s` = '%s' WHERE `%s` = '%s'", table, column, value, key, of)
}

func action(name, when string, at int) string {
	return insert("InstallExecuteSequence", "Action Condition Sequence", name, when, at)
}

func customAction(name string, kind int, source, target, when string, at int) []string {
	return []string{insert("CustomAction", "Action Type Source Target", name, kind, source, target), action(name, when, at)}
}

// restoreAnswer uses an answer of the previous installation unless there is a new one. The
// search stores it in a property of its own, since it would overwrite the new one.
func restoreAnswer(i int, property string) []string {
	return customAction("Take_"+property, setsProperty, property, "[WAS_"+property+"]", "WAS_"+property+" AND NOT "+property, 51+i)
}

// upgradeRows install the new version beside the old one before removing that, all in one
// transaction: a failure anywhere leaves the old one as it was.
var upgradeRows = []string{
	action("InstallExecute", "", 6500),
	action("RemoveExistingProducts", "", 6550),
	// Only the elevated part of the installer searches: a folder already set by the user's
	// part would be taken for an answer.
	skipInUISequence("AppSearch"), skipInUISequence("LaunchConditions"), skipInUISequence("FindRelatedProducts"),
	skipInUISequence("ValidateProductID"),
	skipInUISequence("CostInitialize"), skipInUISequence("FileCost"), skipInUISequence("CostFinalize"),
	skipInUISequence("MigrateFeatureStates"),
}

// skipInUISequence removes an action from what the user's part does before the elevated one.
func skipInUISequence(action string) string {
	return "DELETE FROM `InstallUISequence` WHERE `Action` = '" + action + "'"
}

// notUpgraded is the condition that no newer version has taken over: when one does, Windows tells
// the version it removes, and the newer one has already stored its number in the registry.
const notUpgraded = "NOT UPGRADINGPRODUCTCODE AND (NOT WAS_VERSION OR WAS_VERSION=ProductVersion)"

func wiebeltRows(policies []policyTemplate) []string {
	all := []string{
		// The files of an older version stay while sessions are running them; the next
		// installation, repair or removal that finds them unused deletes them.
		updateCell("InstallExecuteSequence", "Action", "RemoveFiles", "Condition", notUpgraded),
		setCondition("Policy", policyFile),
		setCondition("Autostart", `NOT (AUTOSTART="0")`),
		// The search path, so that terminals find the command.
		"CREATE TABLE `Environment` (`Environment` CHAR(72) NOT NULL, `Name` CHAR(255) NOT NULL LOCALIZABLE, `Value` CHAR(255) LOCALIZABLE, `Component_` CHAR(72) NOT NULL PRIMARY KEY `Environment`)",
		insert("Environment", "Environment Name Value Component_", "Path", "=-*PATH", "[~];[INSTALLDIR]", "Programs"),
		action("RemoveEnvironmentStrings", "", 3300), action("WriteEnvironmentStrings", "", 5200),
		// Copy the policy from where the administrator keeps it into a folder that only
		// administrators can write.
		"CREATE TABLE `MoveFile` (`FileKey` CHAR(72) NOT NULL, `Component_` CHAR(72) NOT NULL, `SourceName` CHAR(255) LOCALIZABLE, `DestName` CHAR(255) LOCALIZABLE, `SourceFolder` CHAR(72), `DestFolder` CHAR(72) NOT NULL, `Options` INT NOT NULL PRIMARY KEY `FileKey`)",
		insert("MoveFile", "FileKey Component_ DestName SourceFolder DestFolder Options", "PolicyFile", "Policy", settings.PolicyFile, policyFile, "DATADIR", 0),
		action("MoveFiles", "", 3800),
		insert("RemoveFile", "FileKey Component_ FileName DirProperty InstallMode", "PolicyFile", "Policy", settings.PolicyFile, "DATADIR", 2),
		"CREATE TABLE `MsiLockPermissionsEx` (`MsiLockPermissionsEx` CHAR(72) NOT NULL, `LockObject` CHAR(72) NOT NULL, `Table` CHAR(32) NOT NULL, `SDDLText` CHAR(0) NOT NULL, `Condition` CHAR(255) PRIMARY KEY `MsiLockPermissionsEx`)",
		// Users run what is in both folders, wherever the administrator has put them.
		insert("MsiLockPermissionsEx", "MsiLockPermissionsEx LockObject Table SDDLText", "Policy", "DATADIR", "CreateFolder", secret.FolderRights),
		insert("MsiLockPermissionsEx", "MsiLockPermissionsEx LockObject Table SDDLText", "Programs", "INSTALLDIR", "CreateFolder", secret.FolderRights),
	}
	// The programs that "sweep --place" has installed, and its leftovers.
	for i, name := range []string{"wiebelt.exe", "wiebelt-ringw.exe", "wiebelt*.exe.new", ".wiebelt*.exe.*.tmp"} {
		all = append(all, insert("RemoveFile", "FileKey Component_ FileName DirProperty InstallMode", fmt.Sprint("Placed", i), "Programs", name, "INSTALLDIR", 2))
	}
	for _, k := range keptProperties {
		all = append(all, setCondition("Keep_"+k.Property, k.Property))
	}
	for _, t := range policies {
		all = append(all, setCondition(t.ID, `POLICY_TEMPLATES="1"`))
	}
	all = append(all, customAction("EndAll", runsFile|anyResult|asSystem, "wiebeltw.exe", "sweep --end",
		`REMOVE="ALL" AND `+notUpgraded, 3450)...)
	// The small programs are installed after the version, and removed if a first
	// installation fails: those of a newer version also start an older one.
	all = append(all, customAction("Unplace", runsInFolder|anyResult|asSystem|atRollback, "INSTALLDIR", "[System64Folder]cmd.exe /c del wiebelt.exe* wiebelt-ringw.exe*", "NOT Installed AND NOT OLDERFOUND", 4004)...)
	all = append(all, customAction("Place", runsFile|asSystem, "wiebeltw.exe", "sweep --place", "NOT REMOVE", 4005)...)
	return append(all, customAction("Sweep", runsFile|anyResult|asSystem|atCommit, "wiebeltw.exe", "sweep", "NOT REMOVE", 4010)...)
}

// setCondition sets the condition for installing a component.
func setCondition(component, condition string) string {
	return updateCell("Component", "Component", component, "Condition", condition)
}

// relayRows restart the service after a failure, and after an upgrade if it had been set
// up; if the relay lacks something then, it says so in the application log.
func relayRows() []string {
	all := customAction("Recovers", runsFile|anyResult|asSystem, "wiebelt_relay.exe", "service install", "NOT REMOVE", 5810)
	return append(all, customAction("Starts", runsInFolder|anyResult|asSystem, "INSTALLDIR", "[SystemFolder]sc.exe start "+eventlog.RelaySource, "OLDERFOUND", 5950)...)
}
