//go:build linux

package windows

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/google/uuid"

	"wiebelt/internal/config/templates"
	"wiebelt/internal/instance/installed"
	"wiebelt/internal/native/eventlog"
	"wiebelt/internal/native/register"
	"wiebelt/internal/text"
)

//go:embed *.wxs
var sources embed.FS

// Publisher is who makes the packages.
const Publisher = "Wiebelt"

// The upgrade codes identify which packages are versions of one another: they never change.
const (
	wiebeltUpgrades = "5AD93082-FAD9-4DA3-A398-C23DAAF6B6C5"
	relayUpgrades   = "0E36DD32-2D8D-43C5-87B2-BEB3D24471E0"
)

// setupKey is where an installation stores its answers for the next one.
const setupKey = `Software\Wiebelt\Setup`

// Product is one version of one of the two packages.
type Product struct {
	Name        string // for users
	File        string // of the package
	Version     string // three numbers
	ProductCode string // of this version
	UpgradeCode string
	Publisher   string
	Comment     string

	descriptions map[text.Language]string
	source       string            // the name of its .wxs
	programs     map[string]string // program by file name in the package
	content      map[string][]byte // generated files
	rows         []string          // statements for what wixl cannot express
	Data         map[string]any    // for the source's template
}

// guidFor derives an identifier from a name, the same in every build.
func guidFor(name string) string {
	return strings.ToUpper(uuid.NewSHA1(uuid.MustParse(wiebeltUpgrades), []byte(name)).String())
}

func newProduct(name, file, upgrades, version string, says map[text.Language]string) *Product {
	return &Product{descriptions: says, Name: name, File: file + "-" + version + "-x64.msi", Version: version, Publisher: Publisher, UpgradeCode: upgrades,
		ProductCode: guidFor(name + " " + version), Comment: "Wie belt? / Who is calling?", source: file + ".wxs", content: map[string][]byte{"licences": nil}}
}

// Guid identifies a component shared by all versions: its content stays when an
// older version is removed.
func (p *Product) Guid(component string) string { return guidFor(p.Name + "/" + component) }

// VersionGuid identifies a component of this version only.
func (p *Product) VersionGuid(component string) string {
	return guidFor(p.Name + "/" + component + "/" + p.Version)
}

// Wiebelt returns the package with all programs of a workplace.
func Wiebelt(version string) *Product {
	p := newProduct("Wiebelt", "wiebelt", wiebeltUpgrades, version, map[text.Language]string{
		text.Dutch: "Toont wie er belt voordat u opneemt", text.English: "Shows who is calling before you answer"})
	p.programs = map[string]string{"wiebelt.exe": "wiebelt.exe", "wiebeltw.exe": "wiebeltw.exe", "wiebelt_ringw.exe": "wiebelt-ringw.exe"}
	p.content["complete"] = []byte(version + "\r\n")
	scheme, autostart := registrationValues()
	policies := p.addTemplates()
	components := []string{"Programs", "ProgramW", "Complete", "StartMenu", "Policy", "Scheme", "Autostart", "Events"}
	remembered := []string{"INSTALLDIR", policyFile}
	for _, k := range keptProperties {
		components, remembered = append(components, "Keep_"+k.Property), append(remembered, k.Property)
	}
	for _, t := range policies {
		components = append(components, t.ID)
	}
	p.Data = map[string]any{"SetupKey": setupKey, "Complete": installed.CompleteMarker, "Scheme": scheme, "Autostart": autostart, "Templates": policies,
		"EventKey": eventlog.SourceKey + eventlog.Source, "EventFile": "#%" + eventlog.MessageFile, "Kept": keptProperties, "Searched": append(remembered, "VERSION"), "Components": components}
	p.rows = append(wiebeltRows(policies), upgradeRows...)
	for i, property := range remembered {
		p.rows = append(p.rows, restoreAnswer(i, property)...)
	}
	return p
}

// Relay returns the package with the relay as a service.
func Relay(version string) *Product {
	p := newProduct("Wiebelt Relay", "wiebelt-relay", relayUpgrades, version, map[text.Language]string{
		text.Dutch: "Geeft elke gebruiker van een kantoor de eigen oproepen", text.English: "Gives each user of an office their own calls"})
	p.programs = map[string]string{"wiebelt_relay.exe": "wiebelt-relay.exe"}
	p.Data = map[string]any{"Service": eventlog.RelaySource, "EventKey": eventlog.SourceKey + eventlog.RelaySource, "EventFile": "#%" + eventlog.MessageFile,
		"Components": []string{"Relay", "Events"}}
	p.rows = append(relayRows(), upgradeRows...)
	return p
}

// registrationValues returns the registry values that "wiebelt register" writes, with
// the installer's paths: links go through the small program, which phones find
// there in every version.
func registrationValues() (scheme, autostart []register.Value) {
	for _, v := range register.Values(register.Options{Exe: "[#wiebeltw.exe]", LinkExe: "[INSTALLDIR]wiebelt-ringw.exe"}) {
		if strings.HasSuffix(v.Path, `\Run`) {
			autostart = append(autostart, v)
		} else {
			scheme = append(scheme, v)
		}
	}
	return scheme, autostart
}

// policyTemplate is a file for the group policy editor.
type policyTemplate struct{ ID, File, Folder, Name string }

func (p *Product) addTemplates() (all []policyTemplate) {
	for _, f := range templates.Files() {
		folder, name := path.Split(f.Path)
		if ext := path.Ext(name); ext != ".admx" && ext != ".adml" {
			continue
		}
		t := policyTemplate{ID: fmt.Sprintf("Template%d", len(all)+1), Folder: strings.TrimSuffix(folder, "/"), Name: name}
		t.File = t.ID + path.Ext(name)
		p.content[t.File] = f.Body
		all = append(all, t)
	}
	return all
}

// packageCode identifies the package's exact bytes.
func packageCode(content []byte) string {
	sum := sha256.Sum256(content)
	return "{" + guidFor(string(sum[:])) + "}"
}
