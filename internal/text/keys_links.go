package text

// LinkWhy says why a link with a softphone does not stand, for a link.Cause.
func LinkWhy(cause string) Key { return Key("link.why." + cause) }

// LinkDo is what to do about it.
func LinkDo(cause string) Key { return Key("link.do." + cause) }

// LinkTrouble says both, "" for a cause that there are no words for.
func LinkTrouble(l Language, cause string) string {
	why := l.T(LinkWhy(cause))
	if cause == "" || why == string(LinkWhy(cause)) {
		return ""
	}
	return why + " " + l.T(LinkDo(cause))
}
