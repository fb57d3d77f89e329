package health

import (
	"wiebelt/internal/text"
)

// Delivery is what is known about the outbox.
type Delivery struct {
	HoldReason string // reason (of package outbox) why nothing is sent until somebody acts
	Trouble    string // kind of disk trouble
	Uncertain  int    // messages that somebody has to decide about
	Lost       int    // files lost when somebody removed the outbox folder
}

// addDeliveries adds to the report what somebody has to do about deliveries.
func (r *Report) addDeliveries(d Delivery, l text.Language, support string) {
	s := Ready
	say := func(state State, sentence string) {
		s = max(s, state)
		r.Sentence += " " + sentence
	}
	held := HubGone
	if d.HoldReason == "credentials" || d.HoldReason == "forbidden" {
		held = CredentialsRefused
	}
	switch {
	case d.Trouble != "":
		say(Doubt, l.DeliveryTrouble(d.Trouble))
	case d.HoldReason != "":
		say(held, l.T(text.DeliveryWindowHeld, l.T(text.DeliveryReason(d.HoldReason)), l.Support(support)))
	}
	if d.Lost > 0 {
		say(Doubt, l.N(text.DeliveryLost, d.Lost))
	}
	if d.Uncertain > 0 {
		say(Doubt, l.N(text.DeliveryWindowUncertain, d.Uncertain))
	}
	r.State = max(r.State, s)
}
