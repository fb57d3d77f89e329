package settings

import "slices"

// What a link can need beside its kind and name.
const (
	NeedsAddress   = "address"
	NeedsExtension = "extension"
	NeedsUser      = "user"
	NeedsSecret    = "secret" // kept in the secret store, under the link's name and address
)

// SoftphoneKinds lists the kinds of links.
func SoftphoneKinds() []string { return slices.Clone(softphoneKinds) }

// SoftphoneNeeds tells what a link of a kind cannot do without. A phone on this
// computer needs nothing and can have another address; an exchange needs all.
func SoftphoneNeeds(kind string) []string {
	switch kind {
	case "ari", "wazo", "3cx":
		return []string{NeedsAddress, NeedsExtension, NeedsUser, NeedsSecret}
	}
	return nil
}

// Missing is the first thing that a link needs and lacks, its secret apart; "" if
// it is complete.
func (l Softphone) Missing() string {
	have := map[string]string{NeedsAddress: l.Address, NeedsExtension: l.Extension, NeedsUser: l.User, NeedsSecret: "elsewhere"}
	for _, n := range SoftphoneNeeds(l.Kind) {
		if have[n] == "" {
			return n
		}
	}
	return ""
}
