//go:build linux

package windows

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"wiebelt/internal/text"
)

// intune is what to enter in Intune for an MSI app: the names are those of win32LobApp
// in Microsoft Graph.
const intune = `{
  "displayName": "$name",
  "publisher": "$publisher",
  "setupFilePath": "$file",
  "installCommandLine": "msiexec /i $file /qn /norestart",
  "uninstallCommandLine": "msiexec /x $product /qn /norestart",
  "applicableArchitectures": "x64",
  "minimumSupportedWindowsRelease": "1809",
  "installExperience": {"runAsAccount": "system", "deviceRestartBehavior": "basedOnReturnCode"},
  "returnCodes": [
    {"returnCode": 0, "type": "success"},
    {"returnCode": 1707, "type": "success"},
    {"returnCode": 3010, "type": "softReboot"},
    {"returnCode": 1641, "type": "hardReboot"},
    {"returnCode": 1618, "type": "retry"}
  ],
  "msiInformation": {
    "productCode": "$product",
    "productVersion": "$version",
    "upgradeCode": "$upgrade",
    "requiresReboot": false,
    "packageType": "perMachine",
    "productName": "$name",
    "publisher": "$publisher"
  },
  "sha256": "$sum"
}
`

const wingetSchema = "1.12.0"

// manifests has the files for winget: the end of the name, the kind and the content.
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

// describe writes the details for Intune beside a package, and the winget manifests into a
// separate folder; address is where users download the package.
func (p *Product) describe(msi, address string) error {
	b, err := os.ReadFile(msi)
	if err != nil {
		return err
	}
	fill := strings.NewReplacer("$product", "{"+p.ProductCode+"}", "$upgrade", "{"+p.UpgradeCode+"}", "$version", p.Version, "$file", p.File,
		"$address", address, "$sum", fmt.Sprintf("%X", sha256.Sum256(b)), "$publisher", Publisher, "$name", p.Name,
		"$dutch", p.descriptions[text.Dutch], "$english", p.descriptions[text.English])
	if err := os.WriteFile(strings.TrimSuffix(msi, ".msi")+".intune.json", []byte(fill.Replace(intune)), 0o644); err != nil {
		return err
	}
	id := Publisher + "." + strings.ReplaceAll(p.Name, " ", "")
	dir := filepath.Join(filepath.Dir(msi), "winget", id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, m := range manifests {
		all := fmt.Sprintf("# yaml-language-server: $schema=https://aka.ms/winget-manifest.%[1]s.%[2]s.schema.json\nPackageIdentifier: %[3]s\nPackageVersion: %[4]s\n%[5]s\nManifestType: %[1]s\nManifestVersion: %[2]s\n",
			m.kind, wingetSchema, id, p.Version, fill.Replace(m.body))
		if err := os.WriteFile(filepath.Join(dir, id+m.end+".yaml"), []byte(all), 0o644); err != nil {
			return err
		}
	}
	return nil
}
