//go:build linux

package windows

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tc-hib/winres"
	"github.com/tc-hib/winres/version"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/packaging/release"
	"wiebelt/internal/testutil/must"
)

// program is a small Windows program with properties.
var program = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "wiebelt-packaging-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, "program.exe")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", exe, "wiebelt/app/wiebelt-console")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=windows", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(exe)
})

// made returns a release whose programs are all that one.
func made(t *testing.T, number string) release.Release {
	t.Helper()
	r := release.Release{Version: number, Commit: "c", Time: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Bin: t.TempDir(), Out: t.TempDir()}
	must.Do(t, os.MkdirAll(r.Program("windows"), 0o700))
	b := must.Get(program())(t)
	for _, name := range []string{"wiebelt.exe", "wiebeltw.exe", "wiebelt-ringw.exe", "wiebelt-relay.exe"} {
		must.Do(t, os.WriteFile(r.Program("windows/"+name), b, 0o600))
	}
	return r
}

func build(t *testing.T, r release.Release) {
	t.Helper()
	for _, p := range []*Product{Wiebelt(r.Version), Relay(r.Version)} {
		must.Do(t, p.write(t.Context(), r))
	}
}

func say(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

const wiebeltFile, relayFile = "wiebelt-1.2.3-x64.msi", "wiebelt-relay-1.2.3-x64.msi"

// TestPackages builds the packages once for all subtests.
func TestPackages(t *testing.T) {
	r := made(t, "1.2.3")
	build(t, r)
	t.Run("SameBytes", func(t *testing.T) { testSameBytes(t, r) })
	t.Run("Tables", func(t *testing.T) { testTables(t, r) })
	t.Run("Manifests", func(t *testing.T) { testManifests(t, r) })
}

// testSameBytes checks that another folder, other file times and
// another build time give the same packages.
func testSameBytes(t *testing.T, one release.Release) {
	two := made(t, "1.2.3")
	build(t, two)
	files, err := filepath.Glob(one.Package("*.*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, f := range files {
		a := must.Get(os.ReadFile(f))(t)
		b, err := os.ReadFile(two.Package(filepath.Base(f)))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is another one the second time: %v", filepath.Base(f), err)
		}
	}
}

// TestProperties checks that a program gets the package's version and keeps its icon and manifest.
func TestProperties(t *testing.T) {
	b := must.Get(program())(t)
	before, err := winres.LoadFromEXE(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = withVersion(b, "10.20.30"); err != nil {
		t.Fatal(err)
	}
	after, err := winres.LoadFromEXE(bytes.NewReader(b))
	if err != nil || after.Count() != before.Count() {
		t.Fatalf("%v, %+v", err, after)
	}
	after.WalkType(winres.RT_VERSION, func(_ winres.Identifier, _ uint16, b []byte) bool {
		got, err := version.FromBytes(b)
		if want := [4]uint16{10, 20, 30}; err != nil || got.FileVersion != want || got.ProductVersion != want || strings.Count(strings.ReplaceAll(string(b), "\x00", ""), "10.20.30") != 2 {
			t.Errorf("%+v, %v", got, err)
		}
		return true
	})
}

func testTables(t *testing.T, r release.Release) {
	msi := r.Package(wiebeltFile)
	table := func(msi, name string) []string {
		t.Helper()
		lines := strings.Split(strings.TrimSpace(say(t, "msiinfo", "export", msi, name)), "\r\n")
		return lines[3:]
	}
	has := func(msi, name string, rows ...string) {
		t.Helper()
		all := table(msi, name)
		for _, row := range rows {
			if !slices.Contains(all, strings.ReplaceAll(row, "|", "\t")) {
				t.Errorf("%s has no %q, but\n%s", name, row, strings.Join(all, "\n"))
			}
		}
	}
	has(msi, "Property", "UpgradeCode|{"+wiebeltUpgrades+"}", "ProductVersion|1.2.3", "ALLUSERS|1", "MSIRESTARTMANAGERCONTROL|Disable", "REBOOT|ReallySuppress")
	has(msi, "Upgrade", "{"+wiebeltUpgrades+"}|0.0.0|1.2.3||256||OLDERFOUND", "{"+wiebeltUpgrades+"}|1.2.3|||2||NEWERFOUND")
	has(msi, "InstallExecuteSequence", "RemoveExistingProducts||6550", "InstallExecute||6500", "InstallFinalize||6600", "RemoveFiles|"+notUpgraded+"|3500")
	has(msi, "InstallExecuteSequence", "InstallFiles||4000", "Place|NOT REMOVE|4005")
	has(msi, "CustomAction", "Place|3090|wiebeltw.exe|sweep --place|")
	has(msi, "LaunchCondition", "NOT NEWERFOUND|Op deze computer staat al een nieuwere versie van Wiebelt. Verwijder die eerst. / A newer version of Wiebelt is on this computer. Remove it first.")
	has(msi, "MsiLockPermissionsEx", "Programs|INSTALLDIR|CreateFolder|"+secret.FolderRights+"|")
	for _, msi := range []string{msi, r.Package(relayFile)} {
		has(msi, "Property", "SecureCustomProperties|OLDERFOUND;NEWERFOUND") // all that non-administrators may set
		if got := table(msi, "InstallUISequence"); len(got) != 1 || got[0] != "ExecuteAction\t\t1300" {
			t.Errorf("the user's part of the installer does %q", got)
		}
		if tables := say(t, "msiinfo", "tables", msi); !strings.Contains(tables, "Component") {
			t.Error(tables)
		}
		info := say(t, "msiinfo", "suminfo", msi)
		for _, want := range []string{"x64;1043", "Mon May  4 03:02:01 2026"} {
			if !strings.Contains(info, want) {
				t.Errorf("%q is missing: %s", want, info)
			}
		}
	}
	has(msi, "Directory", "VERSIONDIR|INSTALLDIR|1.2.3", "INSTALLDIR|ProgramFiles64Folder|Wiebelt")
	has(r.Package(relayFile), "ServiceControl", "Stops|WiebeltRelay|162||1|Relay")
	// Parts shared by all versions keep their identifiers; those of one version have their own.
	a, b := Wiebelt("1.2.3"), Wiebelt("1.2.4")
	if a.ProductCode == b.ProductCode || a.Guid("Programs") != b.Guid("Programs") || a.VersionGuid("ProgramW") == b.VersionGuid("ProgramW") || a.Guid("Programs") == a.Guid("Events") {
		t.Error("the identifiers of two versions")
	}
	for _, k := range keptProperties {
		if strings.Contains(strings.TrimSuffix(k.Property, "SECRET_STORE"), "SECRET") {
			t.Errorf("%s would stand in a log", k.Property)
		}
	}
	// A policy with the hub's address also decides where the secret is kept.
	if !slices.Contains(keptProperties, answer{"HUB_SECRET_STORE", settings.PolicyRegistryKey + `\hub`, "secret_store"}) {
		t.Error("nothing says where the secret is kept")
	}
}

func testManifests(t *testing.T, r release.Release) {
	product := strings.TrimSpace(strings.TrimPrefix(say(t, "sh", "-c", "msiinfo export "+r.Package(wiebeltFile)+" Property | grep ^ProductCode"), "ProductCode\t"))
	b := must.Get(os.ReadFile(r.Package("wiebelt-1.2.3-x64.intune.json")))(t)
	var told struct {
		Sum string `json:"sha256"`
		MSI struct {
			ProductCode, ProductVersion, UpgradeCode string
			RequiresReboot                           bool
		} `json:"msiInformation"`
	}
	sum := sha256.Sum256(must.Get(os.ReadFile(r.Package(wiebeltFile)))(t))
	if err := json.Unmarshal(b, &told); err != nil || told.MSI.ProductCode != product || told.MSI.ProductVersion != r.Version ||
		told.MSI.UpgradeCode != "{"+wiebeltUpgrades+"}" || told.MSI.RequiresReboot || told.Sum != fmt.Sprintf("%X", sum) || bytes.Contains(b, []byte("$")) {
		t.Errorf("%s, %v, want %s", b, err, product)
	}
	for name, want := range map[string]string{"Wiebelt.Wiebelt/Wiebelt.Wiebelt.yaml": "DefaultLocale: nl-NL", "Wiebelt.Wiebelt/Wiebelt.Wiebelt.installer.yaml": "ProductCode: '" + product + "'",
		"Wiebelt.WiebeltRelay/Wiebelt.WiebeltRelay.installer.yaml": "/" + relayFile, "Wiebelt.Wiebelt/Wiebelt.Wiebelt.locale.nl-NL.yaml": "ManifestType: defaultLocale", "Wiebelt.Wiebelt/Wiebelt.Wiebelt.locale.en-US.yaml": "ManifestVersion: 1.12.0"} {
		if b, err := os.ReadFile(r.Package("winget/" + name)); err != nil || !strings.Contains(string(b), want) || strings.Contains(string(b), "$p") {
			t.Errorf("%s: %v: %s", name, err, b)
		}
	}
}

// TestSigned checks that a modified program does not count as signed.
func TestSigned(t *testing.T) {
	dir := t.TempDir()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Office"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}, KeyUsage: x509.KeyUsageDigitalSignature}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	pkcs8 := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	s := &Signer{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for path, block := range map[string]*pem.Block{s.Certificate: {Type: "CERTIFICATE", Bytes: der}, s.Key: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		must.Do(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	r := made(t, "1.2.3")
	msi, err := Wiebelt(r.Version).Pack(t.Context(), r, s)
	if err != nil {
		t.Fatal(err)
	}
	verify := func(path string) (string, error) {
		out, err := exec.Command("osslsigncode", "verify", "-CAfile", s.Certificate, "-in", path).CombinedOutput()
		return string(out), err
	}
	say(t, "msiextract", "-C", dir, msi)
	exe := ""
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		if filepath.Base(path) == "wiebelt.exe" {
			exe = path
		}
		return nil
	})
	for _, path := range []string{msi, exe} {
		if out, err := verify(path); err != nil {
			t.Errorf("%s: %v: %s", path, err, out)
		}
	}
	b := must.Get(os.ReadFile(exe))(t)
	b[len(b)/2] ^= 1
	must.Do(t, os.WriteFile(exe, b, 0o600))
	if out, err := verify(exe); err == nil {
		t.Errorf("a changed program: %s", out)
	}
}
