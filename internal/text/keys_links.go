package text

// LinkWhy says why a link to a softphone is down, for a link.Cause.
func LinkWhy(cause string) Key { return Key("link.why." + cause) }

// LinkDo says what to do about it.
func LinkDo(cause string) Key { return Key("link.do." + cause) }

// LinkTrouble says both; "" for a cause without texts.
func LinkTrouble(l Language, cause string) string {
	why := l.T(LinkWhy(cause))
	if cause == "" || why == string(LinkWhy(cause)) {
		return ""
	}
	return why + " " + l.T(LinkDo(cause))
}
