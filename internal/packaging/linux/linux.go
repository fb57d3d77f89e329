//go:build linux

// Package linux builds the Debian and Red Hat packages: their content, and what
// neither the programs nor their texts contain. It has no state; Build's goroutines
// end before it returns.
package linux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
	"golang.org/x/sync/errgroup"

	"wiebelt/internal/packaging/bom"
	"wiebelt/internal/packaging/release"
)

type pkg struct {
	name, summary, description, section string

	programs   []string
	files      map[string][]byte            // files other than programs, by path
	kindFiles  map[string]map[string][]byte // files of one kind only
	depends    map[string][]string          // by kind
	recommends []string
	scripts    map[string][]byte // by Debian's names
}

var kinds = map[string]nfpm.Packager{"deb": deb.Default, "rpm": rpm.DefaultRPM}

// Build writes the deb and rpm of the program and of the relay, and beside them what they
// contain. It builds all of them at once, since compression is slow.
func Build(ctx context.Context, r release.Release) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, describe := range []func(release.Release) (*pkg, error){desktopPackage, relayPackage} {
		p, err := describe(r)
		if err != nil {
			return err
		}
		var programs []string
		for _, name := range p.programs {
			programs = append(programs, r.Program(name))
		}
		parts, err := bom.Write(ctx, r, p.name+"_"+r.Version+"_linux_amd64", programs...)
		if err != nil {
			return err
		}
		p.files["/usr/share/doc/"+p.name+"/licences.txt.gz"] = gzipBytes(bom.Texts(parts))
		for kind := range kinds {
			g.Go(func() error {
				if err := p.write(ctx, r, kind); err != nil {
					return fmt.Errorf("%s, %s: %w", p.name, kind, err)
				}
				return nil
			})
		}
	}
	return g.Wait()
}

// write writes a package. Its writer reads files, so generated ones are kept in a
// temporary folder meanwhile.
func (p *pkg) write(ctx context.Context, r release.Release, kind string) (err error) {
	stage, err := os.MkdirTemp("", "wiebelt-package-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	info, err := p.info(r, kind, stage)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := kinds[kind].Package(info, &b); err != nil {
		return err
	}
	f, err := os.Create(r.Package(kinds[kind].ConventionalFileName(info)))
	if err != nil {
		return err
	}
	if kind == "deb" {
		err = compress(ctx, &b, f)
	} else {
		_, err = b.WriteTo(f)
	}
	return errors.Join(err, f.Close())
}

func (p *pkg) info(r release.Release, kind, stage string) (*nfpm.Info, error) {
	info := nfpm.WithDefaults(&nfpm.Info{Name: p.name, Version: r.Version, Arch: "amd64", Section: p.section, Priority: "optional",
		Maintainer: "Wiebelt <packages@wiebelt.example>", Vendor: "Wiebelt", Homepage: "https://wiebelt.example", License: "LicenseRef-proprietary",
		Description: p.summary + "\n" + p.description, MTime: r.Time})
	info.Depends, info.Recommends = p.depends[kind], p.recommends
	info.Deb.Compression = "none" // see compress
	info.RPM = nfpm.RPM{Compression: "zstd", BuildHost: "localhost", Summary: p.summary, Group: "Applications/Productivity"}
	add := func(path, source, what string, mode os.FileMode) {
		info.Contents = append(info.Contents, &files.Content{Source: source, Destination: path, Type: what,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.Time}})
	}
	for _, name := range p.programs {
		add("/usr/bin/"+name, r.Program(name), "", 0o755)
	}
	own := maps.Clone(p.files)
	maps.Copy(own, p.kindFiles[kind])
	folders := map[string]bool{}
	for i, path := range slices.Sorted(maps.Keys(own)) {
		source, what := filepath.Join(stage, fmt.Sprint(i)), ""
		if err := os.WriteFile(source, own[path], 0o644); err != nil {
			return nil, err
		}
		if strings.HasPrefix(path, "/etc/") {
			what = files.TypeConfigNoReplace
		}
		add(path, source, what, 0o644)
		if folder := filepath.Dir(path); strings.HasPrefix(path, "/usr/share/doc/") && !folders[folder] {
			folders[folder] = true // ours alone: rpm only removes folders that are listed
			add(folder, "", files.TypeDir, 0o755)
		}
	}
	for script, to := range map[string]*string{"preinst": &info.Scripts.PreInstall, "postinst": &info.Scripts.PostInstall,
		"prerm": &info.Scripts.PreRemove, "postrm": &info.Scripts.PostRemove} {
		if body := p.scripts[script]; body != nil {
			*to = filepath.Join(stage, script)
			if err := os.WriteFile(*to, body, 0o755); err != nil {
				return nil, err
			}
		}
	}
	return info, nil
}
