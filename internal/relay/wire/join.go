package wire

import "encoding/json"

// MaxRequest limits a user's request, in bytes.
const MaxRequest = 4 << 10

// Tunnel is the path at which a relay accepts NATS connections over HTTPS, as WebSockets.
const Tunnel = "/nats"

// JoinRequest is what a computer sends over HTTPS to join a site.
type JoinRequest struct {
	Code string `json:"code"`
	Key  string `json:"key"` // the private half never leaves the computer
}

// Joined is the answer: everything the computer needs from then on.
type Joined struct {
	V     int      `json:"v"`
	Site  Site     `json:"site"`
	User  User     `json:"user"`
	Token string   `json:"token"`
	URLs  []string `json:"urls"`
	CA    string   `json:"ca,omitempty"` // PEM; "" if the relays' certificates are publicly trusted
}

// RenewRequest asks for a new token for a key with which the user has joined.
type RenewRequest struct {
	Key string `json:"key"`
}

// RenewAnswer is the answer; without a token it is a refusal.
type RenewAnswer struct {
	Token string   `json:"token,omitempty"`
	URLs  []string `json:"urls,omitempty"`
}

// ParseJoined reads the answer to a JoinRequest.
func ParseJoined(b []byte) (Joined, error) {
	var j Joined
	if json.Unmarshal(b, &j) != nil || j.V < 1 || j.Token == "" || len(j.URLs) == 0 || !j.Site.Valid() || !j.User.Valid() {
		return Joined{}, errMessage
	}
	return j, nil
}
