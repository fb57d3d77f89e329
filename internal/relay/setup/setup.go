// Package setup reads and writes a relay's data folder: what "init" creates, what the relay
// reads when it starts, and the secrets in the addresses to which exchanges report. Whoever
// can read the folder can do everything within the site, so it is for the relay's own user
// only.
//
// The package has no state and no goroutines.
package setup

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/gofrs/flock"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/lazyregexp"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/text"
)

// Files in the folder.
const (
	settingsFile       = "relay.toml"
	keysFile           = "keys.json"
	authorityFile      = "authority.pem"
	webhookSecretsFile = "reports.json"
	lockFile           = "lock"
	maxFile            = 1 << 20
)

// MaxSite limits the input of ParseSite, in bytes.
const MaxSite = 4 * maxFile

// Settings are the contents of relay.toml.
type Settings struct {
	Name        string   `toml:"name"`      // unique within the site
	Host        string   `toml:"host"`      // "" listens on every address
	NATSPort    int      `toml:"nats_port"` // 0 means any free port, here and below
	WebPort     int      `toml:"web_port"`
	Admin       string   `toml:"admin"`   // health, metrics and status, on loopback only; "" for none
	PublicHosts []string `toml:"reached"` // names or addresses at which others reach it
	// Cluster lists the relays of a site with three, by name: the name or address at which
	// users and the other relays reach each of them. Their ports are the same.
	ClusterPort int               `toml:"cluster_port"`
	Cluster     map[string]string `toml:"cluster,omitempty"`
	Lookup      Lookup            `toml:"lookup"`
	Journal     Journal           `toml:"journal"`
	TLS         TLS               `toml:"tls"`
	NATS        NATS              `toml:"nats"`
}

// NATS are somebody else's servers, used instead of the relay's own.
type NATS struct {
	URLs []string `toml:"urls"`
	// CA is a PEM file with the authority of their certificates; "" for the system's.
	CA string `toml:"ca"`
	// Replicas is the number of servers that hold each bucket; 0 means one.
	Replicas int `toml:"replicas"`
}

// External reports whether the relay uses somebody else's servers.
func (n NATS) External() bool { return len(n.URLs) > 0 }

func (n NATS) valid() bool {
	return n.Replicas >= 0 && n.Replicas <= 5 && !slices.ContainsFunc(n.URLs, func(address string) bool {
		u, err := url.Parse(address)
		return err != nil || u.Scheme != "tls" || u.Port() == "" || u.User != nil || !reachable(u.Hostname())
	})
}

// TLS are the files of a certificate that computers and exchanges already trust, used for
// HTTPS; "" for one from the site's own authority.
type TLS struct {
	Cert string `toml:"cert"`
	Key  string `toml:"key"`
}

// HasCertificate reports whether the office provided a certificate.
func (t TLS) HasCertificate() bool { return t.Cert != "" }

// Lookup defines what users may look up.
type Lookup struct {
	Manual bool `toml:"manual"` // also numbers that never rang for them
}

// Journal defines how long calls are kept that rang while their user was away.
type Journal struct {
	Days int `toml:"days"` // 0 keeps none
}

// maxDays limits Journal.Days.
const maxDays = 30

// Replicas returns in how many places the site keeps what it must not lose.
func (s Settings) Replicas() int { return max(1, len(s.Cluster), s.NATS.Replicas) }

// Single reports whether no other server serves the site.
func (s Settings) Single() bool { return len(s.Cluster) == 0 && !s.NATS.External() }

// Hosts returns where users reach the site's relays, this one first.
func (s Settings) Hosts() []string {
	all := slices.Clone(s.PublicHosts)
	for _, name := range slices.Sorted(maps.Keys(s.Cluster)) {
		if name != s.Name {
			all = append(all, s.Cluster[name])
		}
	}
	return all
}

// CertifiedHosts returns the names and addresses in this relay's certificate: those at which
// users, other relays and programs on this computer reach it.
func (s Settings) CertifiedHosts() []string {
	here, _, _ := net.SplitHostPort(s.Local(0))
	all := append([]string{here}, s.PublicHosts...)
	if own := s.Cluster[s.Name]; own != "" {
		all = append(all, own)
	}
	return all
}

// Defaults returns the default settings.
func Defaults() Settings {
	return Settings{Name: "r1", NATSPort: 4222, WebPort: 8443, ClusterPort: 6222, Admin: "127.0.0.1:8222", Lookup: Lookup{Manual: true}, Journal: Journal{Days: 2}}
}

// Check returns what is wrong with the settings.
func (s Settings) Check() error {
	ports := []int{s.NATSPort, s.WebPort, s.ClusterPort}
	admin, _ := netip.ParseAddrPort(s.Admin)
	switch {
	case !wire.Site(s.Name).Valid():
		return text.Errorf(text.RelaySettingName)
	case slices.Min(ports) < 0, slices.Max(ports) > 65535:
		return text.Errorf(text.RelaySettingPort)
	case s.Journal.Days < 0, s.Journal.Days > maxDays:
		return text.Errorf(text.RelaySettingDays)
	case (s.TLS.Cert == "") != (s.TLS.Key == ""):
		return text.Errorf(text.RelaySettingTLS)
	case s.Host != "" && net.ParseIP(s.Host) == nil:
		return text.Errorf(text.RelaySettingHost)
	case s.Admin != "" && !admin.Addr().IsLoopback():
		return text.Errorf(text.RelaySettingAdmin)
	case len(s.PublicHosts) == 0, slices.ContainsFunc(s.PublicHosts, func(host string) bool { return !reachable(host) }):
		return text.Errorf(text.RelaySettingReached)
	case s.NATS.External() && len(s.Cluster) > 0, !s.NATS.valid():
		return text.Errorf(text.RelaySettingNATS)
	case len(s.Cluster) > 0 && !s.validCluster():
		return text.Errorf(text.RelaySettingCluster)
	}
	return nil
}

// validCluster requires three relays: two could not tell which one is cut off.
func (s Settings) validCluster() bool {
	hosts := map[string]bool{}
	for name, host := range s.Cluster {
		if !wire.Site(name).Valid() || !reachable(host) {
			return false
		}
		hosts[host] = true
	}
	return len(hosts) == 3 && len(s.Cluster) == 3 && s.Cluster[s.Name] != "" && s.ClusterPort*s.NATSPort*s.WebPort != 0
}

func reachable(host string) bool {
	return len(host) <= 253 && hostName().MatchString(host) || net.ParseIP(host) != nil
}

const hostLabel = `[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?`

var hostName = lazyregexp.New(`^` + hostLabel + `(\.` + hostLabel + `)*$`)

// Local returns the address at which programs on this computer reach a port.
func (s Settings) Local(port int) string {
	host := "127.0.0.1"
	if ip := net.ParseIP(s.Host); ip != nil && !ip.IsUnspecified() {
		host = s.Host
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// Folder is the contents of a relay's data folder.
type Folder struct {
	Dir       string
	Settings  Settings
	Keys      *credentials.Authority
	Authority *certificates.Authority
}

// ResolvePath returns the path of a file named in the settings, by default within the folder.
func (f *Folder) ResolvePath(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(f.Dir, file)
}

// Authorities returns the roots that certify the NATS servers, also as PEM;
// nil for the system's.
func (f *Folder) Authorities() (*x509.CertPool, []byte, error) {
	public := f.Authority.Public()
	if f.Settings.NATS.External() {
		if f.Settings.NATS.CA == "" {
			return nil, nil, nil
		}
		var err error
		if public, err = os.ReadFile(f.ResolvePath(f.Settings.NATS.CA)); err != nil {
			return nil, nil, err
		}
	}
	roots, err := certificates.Pool(public)
	return roots, public, err
}

// URLs returns the NATS servers as this computer reaches them.
func (f *Folder) URLs() []string {
	if f.Settings.NATS.External() {
		return f.Settings.NATS.URLs
	}
	return []string{"tls://" + f.Settings.Local(f.Settings.NATSPort)}
}

// Fingerprint identifies the relay to computers that join; "" if the office provided a
// certificate, which they already trust.
func (f *Folder) Fingerprint() string {
	if f.Settings.TLS.HasCertificate() {
		return ""
	}
	return f.Authority.Fingerprint()
}

// Create creates the folder of a site with these keys. If there already is a relay, it
// changes nothing and returns fs.ErrExist.
func Create(dir string, keys *credentials.Authority, s Settings) error {
	authority, err := certificates.New(string(keys.Site), time.Now())
	if err != nil {
		return err
	}
	all := Site{Settings: s}
	if all.Keys, err = keys.Encode(); err != nil {
		return err
	}
	if all.PEM, err = authority.Encode(); err != nil {
		return err
	}
	if all.Reports, err = json.Marshal(WebhookSecrets{}.renewed()); err != nil {
		return err
	}
	return all.Create(dir, s)
}

// Site is what a site's relays have in common: its secrets, and where each relay is.
// Whoever has it can do everything within the site.
type Site struct {
	Settings Settings        `json:"settings"`
	Keys     json.RawMessage `json:"keys"`
	PEM      []byte          `json:"authority"`
	Reports  json.RawMessage `json:"reports"`
}

// ExportSite returns what the site's other relays are created from, with these settings.
func (f *Folder) ExportSite(s Settings) ([]byte, error) {
	all := Site{Settings: s}
	for file, to := range map[string]*[]byte{keysFile: (*[]byte)(&all.Keys), authorityFile: &all.PEM, webhookSecretsFile: (*[]byte)(&all.Reports)} {
		var err error
		if *to, err = filetrust.ReadFile(filepath.Join(f.Dir, file), maxFile, filetrust.Private); err != nil {
			return nil, err
		}
	}
	return json.MarshalIndent(all, "", "  ")
}

// WriteSettings writes new settings, which apply from the next start.
func (f *Folder) WriteSettings(s Settings) error {
	b, err := toml.Marshal(s)
	if err != nil {
		return err
	}
	return profile.WriteFile(filepath.Join(f.Dir, settingsFile), b, 0o600)
}

// ParseSite reads the output of Folder.ExportSite.
func ParseSite(b []byte) (all Site, err error) {
	err = json.Unmarshal(b, &all)
	_, keys := credentials.Parse(all.Keys)
	_, authority := certificates.Parse(all.PEM)
	return all, damaged(cmp.Or(err, keys, authority, all.Settings.Check()))
}

// Create creates the folder of one of the site's relays, like the function Create.
func (all Site) Create(dir string, s Settings) error {
	if err := s.Check(); err != nil {
		return err
	}
	if err := filetrust.Make(dir, filetrust.Private); err != nil {
		return err
	}
	// The keys decide which of two concurrent runs is first; what is missing after a crash
	// is completed by the next run.
	if err := profile.CreateFile(filepath.Join(dir, keysFile), all.Keys, 0o600); err != nil {
		if _, settled := os.Lstat(filepath.Join(dir, settingsFile)); settled == nil || !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return errors.Join(profile.WriteFile(filepath.Join(dir, authorityFile), all.PEM, 0o600),
		profile.WriteFile(WebhookSecretsFile(dir), all.Reports, 0o600), (&Folder{Dir: dir}).WriteSettings(s))
}

// Load reads the folder. It returns fs.ErrNotExist if there is none.
func Load(dir string) (*Folder, error) {
	f := &Folder{Dir: dir, Settings: Settings{Lookup: Defaults().Lookup, Journal: Defaults().Journal}}
	for _, part := range []struct {
		file string
		read func([]byte) error
	}{
		{settingsFile, func(b []byte) error {
			known, err := toml.Decode(string(b), &f.Settings)
			if err == nil && len(known.Undecoded()) > 0 {
				return text.Errorf(text.RelaySettingUnknown, known.Undecoded()[0].String())
			} else if err != nil {
				return text.Errorf(text.RelaySettingTOML)
			}
			return f.Settings.Check()
		}},
		{keysFile, func(b []byte) (err error) { f.Keys, err = credentials.Parse(b); return damaged(err) }},
		{authorityFile, func(b []byte) (err error) { f.Authority, err = certificates.Parse(b); return damaged(err) }},
	} {
		path := filepath.Join(dir, part.file)
		b, err := filetrust.ReadFile(path, maxFile, filetrust.Private)
		if err != nil {
			return nil, err
		}
		if err := part.read(b); err != nil {
			return nil, text.Errorf(text.RelayFile, path, err)
		}
	}
	return f, nil
}

func damaged(err error) error {
	if err != nil {
		return text.Errorf(text.RelayFileDamaged)
	}
	return nil
}

// Lock locks the folder for the running relay until release.
func (f *Folder) Lock() (release func(), err error) {
	l := flock.New(filepath.Join(f.Dir, lockFile), flock.SetPermissions(0o600))
	switch got, err := l.TryLock(); {
	case err != nil:
		return nil, err
	case !got:
		return nil, text.Errorf(text.RelayRuns)
	}
	return func() { _ = l.Unlock() }, nil
}

// overlap is how long the previous webhook secret remains valid.
const overlap = 24 * time.Hour

// WebhookSecrets are the secrets in the addresses to which exchanges report.
type WebhookSecrets struct {
	Current       string    `json:"now"`
	Previous      string    `json:"before,omitempty"`
	PreviousUntil time.Time `json:"until,omitzero"` // of Previous
}

// Valid reports whether an address with this secret is valid.
func (s WebhookSecrets) Valid(secret string, at time.Time) bool {
	valid := subtle.ConstantTimeCompare([]byte(secret), []byte(s.Current))
	if at.Before(s.PreviousUntil) {
		valid |= subtle.ConstantTimeCompare([]byte(secret), []byte(s.Previous))
	}
	return valid == 1 && secret != ""
}

// renewed returns the secrets with a new one.
func (s WebhookSecrets) renewed() WebhookSecrets {
	random := make([]byte, 32)
	_, _ = rand.Read(random)
	return WebhookSecrets{Current: hex.EncodeToString(random), Previous: s.Current, PreviousUntil: time.Now().Add(overlap)}
}

// RenewWebhookSecret replaces the webhook secret; the previous one stays valid for a day.
func RenewWebhookSecret(dir string) error {
	s, err := LoadWebhookSecrets(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b, err := json.Marshal(s.renewed())
	if err != nil {
		return err
	}
	return profile.WriteFile(WebhookSecretsFile(dir), b, 0o600)
}

// WebhookSecretsFile returns the path of the webhook secrets, which all relays of a site share.
func WebhookSecretsFile(dir string) string { return filepath.Join(dir, webhookSecretsFile) }

// WebhookSecretsWritten returns when the webhook secrets were last written.
func WebhookSecretsWritten(dir string) (at time.Time) {
	if info, err := os.Stat(WebhookSecretsFile(dir)); err == nil {
		at = info.ModTime()
	}
	return at
}

// LoadWebhookSecrets reads the webhook secrets.
func LoadWebhookSecrets(dir string) (s WebhookSecrets, err error) {
	path := WebhookSecretsFile(dir)
	b, err := filetrust.ReadFile(path, maxFile, filetrust.Private)
	if err != nil {
		return WebhookSecrets{}, err
	}
	if json.Unmarshal(b, &s) != nil || len(s.Current) != 64 {
		return WebhookSecrets{}, text.Errorf(text.RelayFile, path, text.RelayFileDamaged)
	}
	return s, nil
}
