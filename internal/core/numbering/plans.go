package numbering

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"wiebelt/internal/core/lazyregexp"
)

// plans are the numbering plans, one paragraph each: region and code, then lines
// that begin with a letter, explained by read. Of regions that share a code,
// the first is the main one. They are libphonenumber's (Apache License 2.0);
// TestPlansAreThoseOfTheLibrary writes them.
//
//go:embed plans.txt
var plans string

// index maps regions and codes to plans; each plan is read on first use.
var index = sync.OnceValue(func() (in struct {
	regions map[string]func() *plan
	codes   map[int][]func() *plan
}) {
	in.regions, in.codes = map[string]func() *plan{}, map[int][]func() *plan{}
	for rest := plans; rest != ""; {
		var paragraph string
		paragraph, rest, _ = strings.Cut(rest, "\n\n")
		head, lines, _ := strings.Cut(paragraph, "\n")
		region, digits, _ := strings.Cut(head, " ")
		code, _ := strconv.Atoi(digits)
		p := sync.OnceValue(func() *plan { return read(code, lines) })
		in.codes[code] = append(in.codes[code], p)
		if region != world {
			in.regions[region] = p
		}
	}
	return in
})

// world replaces the region for codes that belong to none, such as 800.
const world = "001"

func planOf(region string) *plan {
	if p := index().regions[region]; p != nil {
		return p()
	}
	return nil
}

func mainPlan(code int) *plan {
	if all := index().codes[code]; len(all) > 0 {
		return all[0]()
	}
	return nil
}

func plansOf(code int) (all []*plan) {
	for _, p := range index().codes[code] {
		all = append(all, p())
	}
	return all
}

func read(code int, lines string) *plan {
	p := &plan{code: code, internationalPrefixes: lazyregexp.New("^$")}
	for line := range strings.Lines(lines) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch fields[0] {
		case "i":
			p.internationalPrefixes = lazyregexp.New("^(?:" + fields[1] + ")")
		case "d":
			p.internationalPrefix = fields[1]
		case "n":
			p.trunkPrefix, p.trunkReplacement = lazyregexp.New("^(?:"+fields[1]+")"), fields[2]
		case "g":
			p.general, p.local = readKind(fields[2:]), numbers(fields[1])
		case "k":
			p.kinds = append(p.kinds, readKind(fields[1:]))
		case "f":
			p.formats = append(p.formats, readFormat(fields[1:]))
		case "a":
			p.international = append(p.international, readFormat(fields[1:]))
		}
	}
	return p
}

func readKind(fields []string) kind {
	return kind{lengths: numbers(fields[0]), digits: lazyregexp.New("^(?:" + fields[1] + ")$")}
}

func readFormat(fields []string) format {
	f := format{pattern: lazyregexp.New("^(?:" + fields[1] + ")$"), template: fields[2], domestic: fields[3]}
	if fields[0] != "" {
		f.leading = lazyregexp.New("^(?:" + fields[0] + ")")
	}
	return f
}

func numbers(s string) (all []int) {
	for field := range strings.FieldsSeq(s) {
		n, _ := strconv.Atoi(field)
		all = append(all, n)
	}
	return all
}
