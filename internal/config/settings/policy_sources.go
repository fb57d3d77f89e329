package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
)

// PolicyFile is the name of the administrator's settings file. A policy may set every key
// in keys.go and tables.go.
const PolicyFile = "policy.toml"

// PolicyRegistryKey is where group policy and device management write on Windows, below
// HKEY_LOCAL_MACHINE; only administrators can. It has a subkey for each group, and
// line\1, softphone\1 and so on for the lists.
const PolicyRegistryKey = `Software\Policies\Wiebelt`

// The policy's path and how to read it; replaced in tests.
var (
	policyPath  = func() string { return profile.Machine(PolicyFile) }
	readMachine = readAdminFile
)

// readAdminFile reads a file that belongs to the computer's administrators.
func readAdminFile(path string) ([]byte, error) {
	// Without a file, the owner of its folder does not matter.
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return filetrust.ReadFile(path, maxFile, filetrust.AdminOwned)
}

// policies reads the administrator's settings, weakest first: the file, and on Windows what
// device management has written.
func policies() []layer {
	return []layer{policyFile(policyPath()), managedLayer(managedSettings())}
}

// PolicySources reports which of the two exist.
func PolicySources() (file, byManagement bool) {
	_, err := os.Lstat(policyPath())
	return err == nil, managedSettings() != nil
}

// policyFile reads the file. One that somebody else could have written is ignored entirely.
func policyFile(path string) layer {
	l := layer{source: Policy, place: path}
	b, err := readMachine(path)
	switch {
	case errors.Is(err, filetrust.ErrUntrusted):
		l.setFileProblem(Untrusted, err)
	case errors.Is(err, filetrust.ErrTooLarge):
		l.load(nil, errTooLarge)
	default:
		l.load(b, filetrust.WithoutPath(err))
	}
	return l
}

// policyGone reports whether there is no policy file, or an empty one, any more.
func (s *Settings) policyGone() bool {
	path := policyPath()
	if !slices.Contains(slices.Collect(maps.Values(s.places)), path) {
		return false
	}
	b, err := readMachine(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(b) == 0
}

// ManagedPlace is where device management writes settings, as administrators write it.
const ManagedPlace = `HKLM\` + PolicyRegistryKey

// managedLayer converts the settings of device management into a layer. Groups contain
// names, [[line]] and [[softphone]] contain "1", "2", …; values are texts, integers or
// lists of texts, converted to the type of their key.
func managedLayer(found map[string]any) layer {
	l := layer{source: Policy, place: ManagedPlace, tree: map[string]any{}}
	for name, v := range found {
		group, isGroupOf := v.(map[string]any)
		switch {
		case find(name) != nil && find(name).Type == Tables:
			l.tree[name] = v
			if isGroupOf {
				l.tree[name] = listFromNumbered(group)
			}
		case isGroupOf:
			typed := map[string]any{}
			for k, v := range group {
				typed[k] = typedAs(name+"."+k, v)
			}
			l.tree[name] = typed
		default:
			l.tree[name] = typedAs(name, v)
		}
	}
	return l
}

// listFromNumbered turns elements "1", "2", … into a list in that order.
func listFromNumbered(group map[string]any) any {
	at := func(name string) int { n, _ := strconv.Atoi(name); return n }
	names := slices.SortedFunc(maps.Keys(group), func(a, b string) int { return at(a) - at(b) })
	list := []any{}
	for _, n := range names {
		list = append(list, group[n])
	}
	return list
}

// typedAs converts a managed value to its key's type if possible; otherwise it stays and is
// reported as the wrong type.
func typedAs(key string, v any) any {
	e := find(key)
	if e == nil {
		return v
	}
	switch x := v.(type) {
	case string:
		return e.typed(x)
	case int64:
		switch e.Type {
		case Flag:
			if x == 0 || x == 1 {
				return x == 1
			}
		case Text, Choice, Duration, Date:
			return fmt.Sprint(x)
		}
	}
	return v
}

// hubKey is the key by which a policy decides everything about the hub: the secret, the
// proxy and the trusted certificates belong to the address.
const hubKey = "hub.base_url"

// Locked reports whether only the administrator may change a key: the policy sets
// it, or it belongs to the hub and the policy sets the hub. The user's file has no
// effect on a locked key.
func (s *Settings) Locked(key string) bool {
	return s.sources[key] == Policy || strings.HasPrefix(key, "hub.") && s.sources[hubKey] == Policy
}

// LockedBy returns where the policy that locks a key is: a file, or the place used by
// device management. "" if the key is not locked.
func (s *Settings) LockedBy(key string) string {
	if !s.Locked(key) {
		return ""
	}
	return cmp.Or(s.places[key], s.places[hubKey], PolicyFile)
}

// RemoveLocked removes locked keys from changes, and returns those that would have changed.
func (s *Settings) RemoveLocked(changes map[string]any) (left []string) {
	for key, v := range changes {
		if !s.Locked(key) {
			continue
		}
		delete(changes, key)
		if one, err := normaliseValues(s.edited(map[string]any{key: v})); err == nil {
			v = one[key]
		}
		if e := find(key); e != nil && v == nil {
			v = e.def
		}
		if !reflect.DeepEqual(s.Get(key), v) {
			left = append(left, key)
		}
	}
	slices.Sort(left)
	return left
}

// lockHub removes the user's settings for a hub set by the policy.
func (s *Settings) lockHub() {
	if s.sources[hubKey] != Policy {
		return
	}
	for i := range table {
		if e := &table[i]; e.Group() == "hub" && s.sources[e.Key] == User {
			e.set(s, e.def)
			delete(s.sources, e.Key)
		}
	}
}

// applyStrictest applies the strictest value to each privacy key that a policy sets, or may have
// meant to set, but that cannot be read; of a user's file only if nothing of it can be. Every
// such key is unsure.
func (s *Settings) applyStrictest(l *layer) {
	for i, p := range l.problems {
		if p.Kind == Untrusted || p.Kind == Unreadable && l.tree != nil { // an earlier text holds
			continue
		}
		for j := range table {
			e := &table[j]
			if p.Key != e.Key && (s.sources[e.Key] == l.source || !l.mayConcern(p, e)) {
				continue
			}
			s.unsure[e.Key] = true
			if e.strict == nil || l.source == User && p.Kind != Unreadable {
				continue
			}
			e.set(s, e.strict)
			s.recordSource(e.Key, *l)
			l.problems[i].StrictestApplies = true
		}
	}
}

// mayConcern reports whether a problem that names another key, or none, may be about e: all
// of its group cannot be read, or the text is no TOML. What a user wrote below the header of
// another table is not about e.
func (l *layer) mayConcern(p Problem, e *Entry) bool {
	switch {
	case p.Kind == Unreadable:
		return true
	case p.Kind == BadSyntax && entryOf(table, p.Key) == nil:
		at := l.tableAt(p.Line)
		return l.source != User || at == "" || at == e.Group()
	}
	return p.Key == e.Group()
}

// tableAt returns the table that a line stands in, "" before the first header.
func (l *layer) tableAt(line int) (path string) {
	for _, st := range l.statements {
		if st.header && st.line <= line {
			path = st.path
		}
	}
	return path
}
