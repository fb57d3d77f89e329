package wire

import "encoding/json"

// MaxRequest bounds what a user asks, in bytes.
const MaxRequest = 4 << 10

// Tunnel is the path at which a relay takes NATS connections over HTTPS, as WebSockets.
const Tunnel = "/nats"

// JoinRequest is what a computer sends over HTTPS to join a site.
type JoinRequest struct {
	Code string `json:"code"`
	Key  string `json:"key"` // the public half; the other one stays where it was made
}

// Joined is what it gets: all that it needs from then on.
type Joined struct {
	V     int      `json:"v"`
	Site  Site     `json:"site"`
	User  User     `json:"user"`
	Token string   `json:"token"`
	URLs  []string `json:"urls"`
	CA    string   `json:"ca,omitempty"` // PEM; "" where the relays have certificates that everybody knows
}

// RenewRequest asks for a token that lasts longer, for a key with which the user has
// joined.
type RenewRequest struct {
	Key string `json:"key"`
}

// Renewed is the answer; no token is a refusal.
type Renewed struct {
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
