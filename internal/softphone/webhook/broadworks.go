package webhook

import (
	"strings"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/broadworks"
)

// readBroadWorks parses an event that BroadWorks posts to the address of a subscription
// (httpContact). It names users by ID, which is treated as an e-mail address, and the part
// before its @ as an extension. The end of a call is for one user.
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
		if t.User != "" && t.State != call.Ended { // the end reaches whoever a report named before
			name, _, isMail := strings.Cut(t.User, "@")
			if r.Extensions = []string{name}; isMail {
				r.Emails = []string{t.User}
			}
		}
		all = append(all, r)
	}
	return cleanReports(all...)
}
