//go:build linux

// Package bom determines what programs are made of: the modules and other works
// inside, and their licences. It reads that from the programs themselves, has no state
// and starts no goroutines.
package bom

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"

	"wiebelt/internal/packaging/release"
)

// Part is a third-party work inside a program.
type Part struct {
	Name, Version string // of a module or other work
	Licence       string // an SPDX expression
	Text          string // the licence text and its notices
}

// numberingPlans is part of every program: numbering plans, which are data.
var numberingPlans = Part{"libphonenumber", "metadata", "Apache-2.0", "The numbering plans. Copyright The Libphonenumber Authors, Apache License 2.0, whose text stands with other works.\n\n"}

// fonts is the folder of a module that has licences of its own.
const fonts = "theme/font"

// Parts returns the parts of some programs, each once. It reads their licence texts from
// the modules' folders; an unknown licence is an error.
func Parts(ctx context.Context, programs ...string) ([]Part, error) {
	folders, err := folders(ctx, programs)
	if err != nil {
		return nil, err
	}
	all := []Part{numberingPlans}
	for module, dirs := range folders {
		name, version, _ := strings.Cut(module, "@")
		p, err := read(name, version, dirs)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Part) int { return strings.Compare(a.Name+"@"+a.Version, b.Name+"@"+b.Version) })
	return all, nil
}

// folders returns the folders with the licences of the programs' parts, by name@version: of
// their modules, of Go itself and of our fonts.
func folders(ctx context.Context, programs []string) (map[string][]string, error) {
	found := map[string][]string{}
	ask := []string{"mod", "download", "-json"}
	for _, path := range programs {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found["std@"+strings.TrimPrefix(info.GoVersion, "go")] = nil
		if info.Path == "wiebelt/app/wiebelt" {
			found["noto@fonts"] = []string{"assets/fonts"}
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			if strings.HasPrefix(m.Path, "./") { // a folder of this project
				continue
			}
			if module := m.Path + "@" + m.Version; !slices.Contains(ask, module) {
				ask = append(ask, module)
			}
		}
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	for module := range found {
		if strings.HasPrefix(module, "std@") {
			found[module] = []string{strings.TrimSpace(string(root))}
		}
	}
	out, err := exec.CommandContext(ctx, "go", ask...).Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		found[m.Path+"@"+m.Version] = []string{m.Dir, filepath.Join(m.Dir, fonts)}
	}
}

var licenceFile = regexp.MustCompile(`(?i)licen[cs]e|copying|patents|notice|^ofl`)

// read reads a part's licence from its folders; one of them may be missing.
func read(name, version string, dirs []string) (Part, error) {
	p := Part{Name: name, Version: version}
	var ids []string
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return Part{}, err
			}
			p.Text += strings.TrimSpace(string(b)) + "\n\n"
			ids = append(ids, identify(string(b))...)
		}
	}
	slices.Sort(ids)
	if p.Licence = strings.Join(slices.Compact(ids), " AND "); p.Licence == "" {
		return Part{}, fmt.Errorf("%s %s: its licence is not known", name, version)
	}
	return p, nil
}

// licences has phrases that only occur in a given licence, ignoring white space and case.
var licences = []struct{ id, says, not string }{
	{"Apache-2.0", "apache license version 2.0", ""},
	{"MPL-2.0", "mozilla public license version 2.0", ""},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy", ""},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose", ""},
	{"BSD-3-Clause", "neither the name", "mozilla public license"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms", "neither the name"},
	{"OFL-1.1", "sil open font license version 1.1", ""},
	{"blessing", "may you share freely never taking more than you give", ""},
}

func identify(text string) (ids []string) {
	text = strings.Join(strings.Fields(strings.NewReplacer(",", " ", "*", " ", "#", " ").Replace(strings.ToLower(text))), " ")
	for _, l := range licences {
		if strings.Contains(text, strings.ReplaceAll(l.says, ",", "")) && (l.not == "" || !strings.Contains(text, l.not)) {
			ids = append(ids, l.id)
		}
	}
	return ids
}

// Texts returns the licences of all parts, concatenated.
func Texts(parts []Part) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		fmt.Fprintf(&b, "%s %s (%s)\n%s\n\n%s", p.Name, p.Version, p.Licence, strings.Repeat("=", 80), p.Text)
	}
	return b.Bytes()
}

// Write writes a package's bill of materials beside it, named after it; programs are the
// paths of the programs in the package.
func Write(ctx context.Context, r release.Release, name string, programs ...string) ([]Part, error) {
	parts, err := Parts(ctx, programs...)
	if err != nil {
		return nil, err
	}
	all := make([]cyclonedx.Component, 0, len(programs)+len(parts))
	for _, path := range programs {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		all = append(all, cyclonedx.Component{Type: cyclonedx.ComponentTypeApplication, BOMRef: filepath.Base(path), Name: filepath.Base(path), Version: r.Version,
			Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}})
	}
	for _, p := range parts {
		url := "pkg:golang/" + p.Name + "@" + p.Version
		all = append(all, cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, BOMRef: url, PackageURL: url, Name: p.Name, Version: p.Version,
			Licenses: &cyclonedx.Licenses{{Expression: p.Licence}}})
	}
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(name+" "+r.Version+" "+r.Commit)).URN()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.Time.Format("2006-01-02T15:04:05Z"),
		Component: &cyclonedx.Component{Type: cyclonedx.ComponentTypeApplication, BOMRef: name, Name: name, Version: r.Version}}
	bom.Components = &all
	var b bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return nil, err
	}
	return parts, os.WriteFile(r.Package(name+".cdx.json"), b.Bytes(), 0o644)
}
