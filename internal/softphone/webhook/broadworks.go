package webhook

import (
	"strings"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/broadworks"
)

// readBroadWorks reads an event that BroadWorks posts to the address of a subscription
// (httpContact). It names users by their ids: such an id is taken for an e-mail address,
// and what stands before its @ for an extension. The end of a call is one user's.
func readBroadWorks(m Message) ([]Report, error) {
	if len(m.Body) > MaxBody {
		return nil, ErrMessage
	}
	told, ended, err := broadworks.Read(m.Body)
	switch {
	case err != nil:
		return nil, ErrMessage
	case ended:
		return nil, ErrEnded
	}
	var all []Report
	for _, t := range told {
		r := Report{Event: t.Event}
		if t.User != "" && t.State != call.Ended { // who named it before, hears of its end
			name, _, isMail := strings.Cut(t.User, "@")
			if r.Extensions = []string{name}; isMail {
				r.Emails = []string{t.User}
			}
		}
		all = append(all, r)
	}
	return checked(all...)
}
