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

	"wiebelt/internal/filetrust"
)

// PolicyFile is the name of the file with the administrator's settings. A policy may
// set every key in keys.go and tables.go.
const PolicyFile = "policy.toml"

// PolicyKey is where group policy and device management write on Windows, below
// HKEY_LOCAL_MACHINE; only administrators can. It has a subkey for each group, and
// line\1, softphone\1 and so on for the lists.
const PolicyKey = `Software\Policies\Wiebelt`

// Where the policy lies and how it is read; tests have a place of their own.
var (
	policyPath  = platformPolicy
	readMachine = readAdmins
)

// readAdmins reads a file of the computer's administrators.
func readAdmins(path string) ([]byte, error) {
	// Where there is none, whose folder it would lie in does not matter.
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return filetrust.ReadFile(path, maxFile, filetrust.Admins)
}

// policies reads what the machine's administrator decided, weakest first: the
// file, and on Windows what the management of the machine wrote.
func policies() []layer {
	return []layer{policyFile(policyPath()), managedLayer(managed())}
}

// PolicySources reports which of the two are there.
func PolicySources() (file, byManagement bool) {
	_, err := os.Lstat(policyPath())
	return err == nil, managed() != nil
}

// policyFile reads the file. One that somebody else could have written is
// ignored whole.
func policyFile(path string) layer {
	l := layer{source: Policy, place: path}
	b, err := readMachine(path)
	switch {
	case errors.Is(err, filetrust.Err):
		l.problem(Untrusted, err)
	case errors.Is(err, filetrust.ErrTooLarge):
		l.take(nil, errTooLarge)
	default:
		l.take(b, filetrust.Reason(err))
	}
	return l
}

// managedLayer turns what the management of a machine holds into a layer. Groups
// hold names, [[line]] and [[softphone]] hold "1", "2", …;
// values are texts, whole numbers or lists of texts, and become what their key
// asks for.
func managedLayer(found map[string]any) layer {
	l := layer{source: Policy, place: managedPlace, tree: map[string]any{}}
	for name, v := range found {
		group, isGroupOf := v.(map[string]any)
		switch {
		case find(name) != nil && find(name).Type == Tables:
			l.tree[name] = v
			if isGroupOf {
				l.tree[name] = numbered(group)
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

// numbered turns elements "1", "2", … into a list in that order.
func numbered(group map[string]any) any {
	at := func(name string) int { n, _ := strconv.Atoi(name); return n }
	names := slices.SortedFunc(maps.Keys(group), func(a, b string) int { return at(a) - at(b) })
	list := []any{}
	for _, n := range names {
		list = append(list, group[n])
	}
	return list
}

// typedAs gives a managed value the type of its key where it can have it; what
// it cannot is left as it is, and reported as the wrong type.
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

// hubKey is the key by which a policy decides everything about the hub: the
// secret, the proxy and the certificates trusted go with the address.
const hubKey = "hub.base_url"

// Locked reports whether nobody but the administrator may change a key here: the
// policy sets it, or it is of the hub and the policy says which hub. What the
// user's file says of a locked key does not count.
func (s *Settings) Locked(key string) bool {
	return s.sources[key] == Policy || strings.HasPrefix(key, "hub.") && s.sources[hubKey] == Policy
}

// LockedBy tells where the policy stands that locks a key: a file, or where the
// management of a machine writes. "" if the key is not locked.
func (s *Settings) LockedBy(key string) string {
	if !s.Locked(key) {
		return ""
	}
	return cmp.Or(s.places[key], s.places[hubKey], PolicyFile)
}

// Unlocked takes the keys out of changes that are locked, and gives those of them
// that would have another value.
func (s *Settings) Unlocked(changes map[string]any) (left []string) {
	for key, v := range changes {
		if !s.Locked(key) {
			continue
		}
		delete(changes, key)
		if one, err := checked(map[string]any{key: v}); err == nil {
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

// lockHub takes back what the user's file says of a hub that the policy decides.
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

// shut puts the strictest value in force for each key of privacy that a policy
// means to set, or may have meant to, and that cannot be read.
func (s *Settings) shut(l *layer) {
	for i, p := range l.problems {
		if l.source != Policy || p.Kind == Untrusted {
			continue
		}
		unknown := p.Kind == Unreadable || p.Kind == BadSyntax && !known(p.Key)
		for j := range table {
			e := &table[j]
			meant := p.Key == e.Key || (unknown || p.Key == e.Group()) && s.sources[e.Key] != Policy
			if e.strict == nil || !meant {
				continue
			}
			e.set(s, e.strict)
			s.from(e.Key, *l)
			l.problems[i].Closed = true
		}
	}
}

// known tells whether a key stands in the table.
func known(key string) bool {
	return slices.ContainsFunc(table, func(e Entry) bool { return e.Key == key })
}
