package settings

import (
	"os/user"
	"slices"
	"strings"
	"sync"

	"wiebelt/internal/softphone/registry"
)

// ServerPart reduces an address to what others may see: scheme, host and port.
func ServerPart(address string) string {
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		scheme, rest = "", address
	}
	rest = rest[:strings.IndexAny(rest+"/", "/?#")]
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if found {
		return scheme + "://" + rest
	}
	return rest
}

// userMark stands for the user's log-on name in an extension.
const userMark = "${user}"

// ExtensionOf returns the extension that a link follows for a user, given the log-on
// name in the system's form (OFFICE\jan). The setting is one extension for everybody,
// one containing ${user}, or one per user: "jan=101, piet=102". "" means that there
// is none for this user.
func (l Softphone) ExtensionOf(user string) string {
	user = user[strings.LastIndexByte(user, '\\')+1:]
	if !strings.Contains(l.Extension, "=") {
		return strings.ReplaceAll(l.Extension, userMark, user)
	}
	for _, one := range strings.Split(l.Extension, ",") {
		if name, extension, _ := strings.Cut(one, "="); strings.EqualFold(strings.TrimSpace(name), user) {
			return strings.TrimSpace(extension)
		}
	}
	return ""
}

// validExtension accepts no mark but userMark, and no table entry that lacks either half.
func validExtension(s string) bool {
	if strings.Contains(strings.ReplaceAll(s, userMark, ""), "$") {
		return false
	}
	for _, one := range strings.Split(s, ",") {
		name, extension, table := strings.Cut(one, "=")
		if table != strings.Contains(s, "=") || table && (strings.TrimSpace(name) == "" || strings.TrimSpace(extension) == "") {
			return false
		}
	}
	return true
}

// Missing returns the first setting that a link needs and lacks for this program's user,
// except its secret; "" if it is complete.
func (l Softphone) Missing() string {
	have := map[string]string{registry.NeedsAddress: l.Address, registry.NeedsExtension: l.ExtensionOf(LogOnName()), registry.NeedsUser: l.User, registry.NeedsSecret: "elsewhere"}
	for _, n := range registry.Of(l.Kind).Needs {
		if have[n] == "" {
			return n
		}
	}
	return ""
}

// HasRelayLink reports whether there is a link to a relay, which does lookups if no hub is set.
func (s *Settings) HasRelayLink() bool {
	return slices.ContainsFunc(s.Softphones, func(l Softphone) bool { return l.Kind == registry.Relay })
}

// NeedsJoin reports whether there is a relay that this computer has not joined.
func (s *Settings) NeedsJoin() bool { return s.Relay.URL != "" && !s.HasRelayLink() }

// LogOnName returns the log-on name of this program's user, "" if the system
// does not provide it.
var LogOnName = sync.OnceValue(func() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
})
