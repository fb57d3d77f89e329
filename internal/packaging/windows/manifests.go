//go:build linux

package windows

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"wiebelt/internal/text"
)

// win32App is what Intune asks of an app that is an MSI: the names are those of
// win32LobApp in Microsoft Graph.
type win32App struct {
	DisplayName       string       `json:"displayName"`
	Publisher         string       `json:"publisher"`
	FileName          string       `json:"setupFilePath"`
	Install           string       `json:"installCommandLine"`
	Uninstall         string       `json:"uninstallCommandLine"`
	Architectures     string       `json:"applicableArchitectures"`
	MinimumWindows    string       `json:"minimumSupportedWindowsRelease"`
	InstallExperience experience   `json:"installExperience"`
	ReturnCodes       []returnCode `json:"returnCodes"`
	MSI               information  `json:"msiInformation"`
	SHA256            string       `json:"sha256"`
}

type experience struct {
	RunAs   string `json:"runAsAccount"`
	Restart string `json:"deviceRestartBehavior"`
}

type returnCode struct {
	Code int    `json:"returnCode"`
	Type string `json:"type"`
}

type information struct {
	ProductCode    string `json:"productCode"`
	ProductVersion string `json:"productVersion"`
	UpgradeCode    string `json:"upgradeCode"`
	RequiresReboot bool   `json:"requiresReboot"`
	PackageType    string `json:"packageType"`
	ProductName    string `json:"productName"`
	Publisher      string `json:"publisher"`
}

// intune writes what to enter in Intune for a package beside it.
func (p *Product) intune(msi string) error {
	sum, err := digest(msi)
	if err != nil {
		return err
	}
	product, upgrade := "{"+p.ProductCode+"}", "{"+p.UpgradeCode+"}"
	b, err := json.MarshalIndent(win32App{DisplayName: p.Name, Publisher: Publisher, FileName: p.File,
		Install: "msiexec /i " + p.File + " /qn /norestart", Uninstall: "msiexec /x " + product + " /qn /norestart",
		Architectures: "x64", MinimumWindows: "1809", InstallExperience: experience{"system", "basedOnReturnCode"},
		ReturnCodes: []returnCode{{0, "success"}, {1707, "success"}, {3010, "softReboot"}, {1641, "hardReboot"}, {1618, "retry"}},
		MSI:         information{product, p.Version, upgrade, false, "perMachine", p.Name, Publisher}, SHA256: sum}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(msi, ".msi")+".intune.json", append(b, '\n'), 0o644)
}

func digest(path string) (string, error) {
	b, err := os.ReadFile(path)
	return fmt.Sprintf("%X", sha256.Sum256(b)), err
}

// wingetSchema is the newest version of the manifests.
const wingetSchema = "1.12.0"

// manifests are the files for winget: what the name ends in, the kind and what is in it.
var manifests = []struct{ end, kind, body string }{
	{"", "version", "DefaultLocale: nl-NL"},
	{".installer", "installer", `InstallerType: msi
Scope: machine
MinimumOSVersion: 10.0.17763.0
InstallModes:
- silent
- silentWithProgress
InstallerSwitches:
  InstallLocation: INSTALLDIR="<INSTALLPATH>"
UpgradeBehavior: install
ElevationRequirement: elevatesSelf
ProductCode: '$product'
AppsAndFeaturesEntries:
- UpgradeCode: '$upgrade'
Installers:
- Architecture: x64
  InstallerUrl: $address
  InstallerSha256: $sum`},
	{".locale.nl-NL", "defaultLocale", `PackageLocale: nl-NL
Publisher: $publisher
PackageName: $name
License: Proprietary
ShortDescription: $dutch`},
	{".locale.en-US", "locale", `PackageLocale: en-US
ShortDescription: $english`},
}

// winget writes the manifests of a package that people get at an address, into a folder
// of their own.
func (p *Product) winget(msi, address string) error {
	id := Publisher + "." + strings.ReplaceAll(p.Name, " ", "")
	dir := filepath.Join(filepath.Dir(msi), "winget", id)
	sum, err := digest(msi)
	if err = errors.Join(err, os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	fill := strings.NewReplacer("$product", "{"+p.ProductCode+"}", "$upgrade", "{"+p.UpgradeCode+"}", "$address", address, "$sum", sum,
		"$publisher", Publisher, "$name", p.Name, "$dutch", p.says[text.Dutch], "$english", p.says[text.English])
	for _, m := range manifests {
		all := fmt.Sprintf("# yaml-language-server: $schema=https://aka.ms/winget-manifest.%[1]s.%[2]s.schema.json\nPackageIdentifier: %[3]s\nPackageVersion: %[4]s\n%[5]s\nManifestType: %[1]s\nManifestVersion: %[2]s\n",
			m.kind, wingetSchema, id, p.Version, fill.Replace(m.body))
		if err := os.WriteFile(filepath.Join(dir, id+m.end+".yaml"), []byte(all), 0o644); err != nil {
			return err
		}
	}
	return nil
}
