package message

// rootName is the type of document whose content is checked.
const rootName = "Contractdocument"

// group is a group of a Contractdocument: its text elements and inner groups, in the order
// of the standard's example.
type group struct {
	name     string
	elements []string
	groups   []group
}

var contractSchema = group{rootName, nil, []group{
	{"UN", []string{"UN_ZENDER", "UN_ONTVAN"}, nil},
	{"AL", []string{"AL_VRWRKCD", "AL_FUNCTIE", "AL_DATACAT"}, []group{
		{"BY", []string{"BY_VRWRKCD", "BY_VOLGNUM", "BY_BYLSRT", "BY_EXT", "BY_URLBY", "BY_PROCESC", "BY_ENDBSTM", "BY_REACTIE"}, nil},
	}},
	{"PP", []string{"PP_VRWRKCD", "PP_NUMMER", "PP_MYAAND"}, []group{
		{"VP", []string{"VP_VRWRKCD", "VP_ANAAM", "VP_VOORL", "VP_GEBDAT"}, nil},
	}},
}}

// find returns the position of a name in the group, from 1, and the
// inner group of that name if there is one; 0 if there is no such name.
func (g group) find(name string) (place int, inner *group) {
	for i := range g.elements {
		if g.elements[i] == name {
			return i + 1, nil
		}
	}
	for i := range g.groups {
		if g.groups[i].name == name {
			return len(g.elements) + i + 1, &g.groups[i]
		}
	}
	return 0, nil
}

type attachment struct {
	file, extension string
	at              string // the group: "AL[1]/BY[2]"
}
