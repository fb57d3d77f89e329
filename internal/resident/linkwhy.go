package resident

import (
	"wiebelt/internal/config/settings"
	"wiebelt/internal/health"
	"wiebelt/internal/softphone/link"
)

// phaseOf is how a link is doing. One that has no secret to show was refused by
// nobody.
func phaseOf(st link.State) health.Phase {
	switch st.Cause {
	case link.CauseNoSecret:
		return health.Incomplete
	case link.CauseStore:
		return health.Down
	}
	return phases[st.Phase]
}

// lacks is why a link could not even be tried.
func lacks(p settings.Softphone) link.Cause {
	if m := p.Missing(); m != "" {
		return link.CauseNeeds(m)
	}
	return link.CauseSettings
}

// because notes why a link does not stand, and reports whether that is news.
func (f *facts) because(name string, cause link.Cause) (news bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.causes == nil {
		f.causes = map[string]link.Cause{}
	}
	news = f.causes[name] != cause
	f.causes[name] = cause
	return news
}

// why is the cause that was noted last.
func (f *facts) why(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.causes[name])
}

// again has every link that does not stand try at once: what kept it from
// standing may have been mended, such as a secret that was entered.
func (w *sources) again() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, l := range w.links {
		if phase, _ := w.r.facts.linkPhase(linkName(p)); phase != health.Up {
			l.nudge()
		}
	}
}

// nudge has a link try at once, or connect anew.
func (l *source) nudge() {
	select {
	case l.wake <- struct{}{}:
	default: // it has not looked at the last one yet
	}
}
