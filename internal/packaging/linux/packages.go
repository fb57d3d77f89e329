//go:build linux

package linux

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"

	"wiebelt/assets"
	"wiebelt/internal/cli"
	"wiebelt/internal/commandline"
	"wiebelt/internal/config/templates"
	"wiebelt/internal/native/register"
	"wiebelt/internal/packaging/manual"
	"wiebelt/internal/packaging/release"
	"wiebelt/internal/relay/command"
	"wiebelt/internal/text"
)

//go:embed files
var packageFiles embed.FS

func desktopPackage(r release.Release) (*pkg, error) {
	p := &pkg{name: "wiebelt", section: "comm", programs: []string{"wiebelt", "wiebelt-ring"}, recommends: []string{"xdg-utils"},
		summary: "caller-ID companion for softphones",
		description: `Shows who is calling before anyone answers: a card with every customer
who has that number at the office's hub, one click away from the file.
Receives calls from a phone on the same computer or from the office's
relay, and delivers messages to the hub's message box.`}
	if err := p.addCommon(r, cli.Commands()); err != nil {
		return nil, err
	}
	desktop, err := register.Files(register.Options{Exe: "/usr/bin/wiebelt", LinkExe: "/usr/bin/wiebelt-ring"}, "/usr/share", "/etc/xdg")
	if err != nil {
		return nil, err
	}
	for path, body := range desktop {
		p.files[path] = []byte(body)
	}
	for _, f := range templates.Files() {
		if strings.HasPrefix(f.Path, "policy-sample.") {
			p.files["/usr/share/doc/wiebelt/examples/"+f.Path] = f.Body
		}
	}
	p.files["/usr/share/man/man1/wiebelt-ring.1.gz"] = gzipBytes([]byte(".so man1/wiebelt.1\n"))
	p.files["/usr/share/metainfo/nl.wiebelt.companion.metainfo.xml"] = p.fillTemplate(r, "metainfo.xml")
	p.files["/usr/lib/systemd/user/wiebelt-deliver@.service"] = p.fillTemplate(r, "wiebelt-deliver@.service")
	return p, nil
}

func relayPackage(r release.Release) (*pkg, error) {
	p := &pkg{name: "wiebelt-relay", section: "net", programs: []string{"wiebelt-relay"},
		depends: map[string][]string{"deb": {"passwd"}, "rpm": {"/usr/sbin/useradd"}},
		summary: "caller-ID relay for whole offices",
		description: `Listens to the telephone exchange for everybody in an office and gives
each user of Wiebelt their own calls, so that the hub's secret is on one
server only.`}
	if err := p.addCommon(r, command.Commands()); err != nil {
		return nil, err
	}
	unit, err := assets.Service.ReadFile("guide/service/wiebelt-relay.service")
	if err != nil {
		return nil, err
	}
	_, body, _ := strings.Cut(string(unit), "\n[Unit]\n") // without the steps that the package takes
	p.files["/usr/lib/systemd/system/wiebelt-relay.service"] = []byte("[Unit]\n" + strings.ReplaceAll(body, "/usr/local/bin/", "/usr/bin/"))
	for _, script := range []string{"postinst", "prerm"} {
		p.scripts[script] = p.fillTemplate(r, p.name+"."+script)
	}
	return p, nil
}

// addCommon adds what both packages have.
func (p *pkg) addCommon(r release.Release, commands any) error {
	program, err := commandline.Model(commands, p.name)
	if err != nil {
		return err
	}
	p.addHelp(r, program)
	p.files["/usr/share/doc/"+p.name+"/copyright"] = p.fillTemplate(r, "copyright")
	p.files["/usr/share/doc/"+p.name+"/changelog.gz"] = gzipBytes(p.fillTemplate(r, "changelog"))
	p.kindFiles["deb"]["/usr/share/lintian/overrides/"+p.name] = p.fillTemplate(r, p.name+".overrides")
	p.scripts = map[string][]byte{"preinst": p.fillTemplate(r, "preinst"), "postrm": p.fillTemplate(r, p.name+".postrm")}
	return nil
}

func (p *pkg) addHelp(r release.Release, program *kong.Node) {
	c := manual.Complete(program)
	p.files = map[string][]byte{
		"/usr/share/man/man1/" + p.name + ".1.gz":                  gzipBytes(manual.Page(text.English, program, r.Version, r.Time)),
		"/usr/share/man/nl/man1/" + p.name + ".1.gz":               gzipBytes(manual.Page(text.Dutch, program, r.Version, r.Time)),
		"/usr/share/bash-completion/completions/" + p.name:         c.Bash,
		"/usr/share/fish/vendor_completions.d/" + p.name + ".fish": c.Fish,
	}
	p.kindFiles = map[string]map[string][]byte{
		"deb": {"/usr/share/zsh/vendor-completions/_" + p.name: c.Zsh},
		"rpm": {"/usr/share/zsh/site-functions/_" + p.name: c.Zsh},
	}
}

// fillTemplate returns one of our own files with its template filled in.
func (p *pkg) fillTemplate(r release.Release, name string) []byte {
	t := template.Must(template.ParseFS(packageFiles, "files/"+name))
	var b bytes.Buffer
	if err := t.Execute(&b, map[string]string{"Name": p.name, "Version": r.Version, "Day": r.Time.Format("2006-01-02"), "Year": r.Time.Format("2006"),
		"Date": r.Time.Format("Mon, 02 Jan 2006 15:04:05 +0000")}); err != nil {
		panic(err) // a wrong template
	}
	return b.Bytes()
}

// gzipBytes compresses a file like gzip -9n.
func gzipBytes(b []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(b)
	}
	if err != nil || w.Close() != nil {
		panic(fmt.Sprint("gzip: ", err)) // writes to memory
	}
	return out.Bytes()
}
