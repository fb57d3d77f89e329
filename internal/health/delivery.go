package health

import (
	"wiebelt/internal/text"
)

// Delivery is what is known of the outbox.
type Delivery struct {
	Held      string // reason of package outbox why nothing is sent until somebody acts
	Trouble   string // kind of trouble with the disk
	Uncertain int    // messages that a person has to decide about
	Lost      int    // files that went with the folder of the outbox, which somebody removed
}

// deliveries adds to the report what somebody has to do about deliveries.
func (r *Report) deliveries(d Delivery, l text.Language, support string) {
	s := Ready
	say := func(state State, sentence string) {
		s = max(s, state)
		r.Sentence += " " + sentence
	}
	held := HubGone
	if d.Held == "credentials" || d.Held == "forbidden" {
		held = CredentialsRefused
	}
	switch {
	case d.Trouble != "":
		say(Doubt, l.DeliveryTrouble(d.Trouble))
	case d.Held != "":
		say(held, l.T(text.DeliveryWindowHeld, l.T(text.DeliveryReason(d.Held)), l.Support(support)))
	}
	if d.Lost > 0 {
		say(Doubt, l.N(text.DeliveryLost, d.Lost))
	}
	if d.Uncertain > 0 {
		say(Doubt, l.N(text.DeliveryWindowUncertain, d.Uncertain))
	}
	r.State = max(r.State, s)
}
