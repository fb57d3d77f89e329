//go:build linux

package windows

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"wiebelt/internal/packaging/bom"
	"wiebelt/internal/packaging/release"
)

// Build writes both packages of a release, their bills of materials, their details for
// Intune and the winget manifests.
func Build(ctx context.Context, r release.Release) error {
	for _, p := range []*Product{Wiebelt(r.Version), Relay(r.Version)} {
		var programs []string
		for _, name := range slices.Sorted(maps.Values(p.programs)) {
			programs = append(programs, r.Program("windows/"+name))
		}
		parts, err := bom.Write(ctx, r, strings.TrimSuffix(p.File, ".msi"), programs...)
		if err != nil {
			return err
		}
		p.content["licences"] = bom.Texts(parts)
		if err := p.write(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (p *Product) write(ctx context.Context, r release.Release) error {
	msi, err := p.Pack(ctx, r, fromEnvironment())
	if err != nil {
		return err
	}
	address := cmp.Or(os.Getenv("WIEBELT_PACKAGES_URL"), "https://wiebelt.example/packages") + "/" + p.File
	return p.describe(msi, address)
}

// Pack writes the package and returns its path. The same programs and time produce the same
// bytes, except for signatures, which contain their own time.
func (p *Product) Pack(ctx context.Context, r release.Release, signer *Signer) (path string, err error) {
	stage, err := os.MkdirTemp("", "wiebelt-msi-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	if err := p.stage(ctx, r, signer, stage); err != nil {
		return "", err
	}
	made := filepath.Join(stage, "made.msi")
	if err := runTool(ctx, stage, "wixl", "--arch", "x64", "--output", made, "package.wxs"); err != nil {
		return "", err
	}
	queries := []string{made}
	for _, q := range append(p.rows, p.versionStatements()...) {
		queries = append(queries, "-q", q)
	}
	if err := runTool(ctx, stage, "msibuild", queries...); err != nil {
		return "", err
	}
	b, err := os.ReadFile(made)
	if err != nil {
		return "", err
	}
	if err := stampSummary(b, r.Time); err != nil {
		return "", err
	}
	path = r.Package(p.File)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		return "", err
	}
	return path, signer.Sign(ctx, path, p.Name)
}

// stage writes the source and the files of a package, all with the same time.
func (p *Product) stage(ctx context.Context, r release.Release, signer *Signer, stage string) error {
	files := map[string][]byte{}
	for name, program := range p.programs {
		b, err := os.ReadFile(r.Program("windows/" + program))
		if err != nil {
			return err
		}
		if files[name], err = withVersion(b, p.Version); err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
	}
	maps.Copy(files, p.content)
	source, err := p.renderSource()
	if err != nil {
		return err
	}
	files["package.wxs"] = source
	for name, b := range files {
		at := filepath.Join(stage, name)
		if err := os.WriteFile(at, b, 0o600); err != nil {
			return err
		}
		if p.programs[name] != "" {
			if err := signer.Sign(ctx, at, p.Name); err != nil {
				return err
			}
		}
		if err := os.Chtimes(at, r.Time, r.Time); err != nil {
			return err
		}
	}
	return nil
}

// renderSource returns the source filled in for this version.
func (p *Product) renderSource() ([]byte, error) {
	t, err := template.New(p.source).Funcs(template.FuncMap{"quoted": html.EscapeString}).ParseFS(sources, "common.wxs", p.source)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}

// versionStatements returns the statements that make Windows Installer compare programs by version
// with installed ones; such files have no hash.
func (p *Product) versionStatements() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(p.programs)) {
		all = append(all, updateCell("File", "File", name, "Version", p.Version+".0"), "DELETE FROM `MsiFileHash` WHERE `File_` = '"+name+"'")
	}
	return all
}

// runTool runs a program that builds or signs packages; a warning counts as a failure.
func runTool(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TZ=UTC", "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("WARNING")) || bytes.Contains(out, []byte("CRITICAL")) {
		return fmt.Errorf("%s: %w: %s", name, cmp.Or(err, errors.New("it warns")), out)
	}
	return nil
}
