package message

import "fmt"

// Contractdocument is the message document of hub-api.md 2.2. Its groups and
// elements stand in the document's order. Whether a group may repeat is not
// documented, so every group is a list; an element that is empty is not
// written. Extra holds, at each level, the elements that the document does not
// name and those that stand there more than once.
type Contractdocument struct {
	UN    []UN
	AL    []AL
	PP    []PP
	Extra []Element
}

// UN is a group of a Contractdocument.
type UN struct {
	Zender string // UN_ZENDER
	Ontvan string // UN_ONTVAN
	Extra  []Element
}

// AL is a group of a Contractdocument.
type AL struct {
	Vrwrkcd string // AL_VRWRKCD
	Functie string // AL_FUNCTIE
	Datacat string // AL_DATACAT
	BY      []BY
	Extra   []Element
}

// BY, inside AL, names an attachment.
type BY struct {
	Vrwrkcd string // BY_VRWRKCD
	Volgnum string // BY_VOLGNUM: an integer
	Bylsrt  string // BY_BYLSRT
	Ext     string // BY_EXT: a file extension
	Urlby   string // BY_URLBY: a file name
	Procesc string // BY_PROCESC
	Endbstm string // BY_ENDBSTM
	Reactie string // BY_REACTIE
	Extra   []Element
}

// PP is a group of a Contractdocument.
type PP struct {
	Vrwrkcd string // PP_VRWRKCD
	Nummer  string // PP_NUMMER
	Myaand  string // PP_MYAAND
	VP      []VP
	Extra   []Element
}

// VP, inside PP, is a person.
type VP struct {
	Vrwrkcd string // VP_VRWRKCD
	Anaam   string // VP_ANAAM
	Voorl   string // VP_VOORL
	Gebdat  string // VP_GEBDAT: eight digits, year, month, day
	Extra   []Element
}

// Element is an element of any kind. Where it has both Text and Children, the
// text stands in front.
type Element struct {
	Name     string // as written, with its prefix
	Attrs    []Attr
	Text     string
	Children []Element
}

// Attr is an attribute of an Element.
type Attr struct{ Name, Value string }

// String counts the groups and holds none of the values.
func (d Contractdocument) String() string {
	return fmt.Sprintf("Contractdocument (%d UN, %d AL, %d PP, %d more)", len(d.UN), len(d.AL), len(d.PP), len(d.Extra))
}

func (UN) String() string      { return "UN" }
func (AL) String() string      { return "AL" }
func (BY) String() string      { return "BY" }
func (PP) String() string      { return "PP" }
func (VP) String() string      { return "VP" }
func (Element) String() string { return "element" }

// parts is how reader and writer see a group: its elements, then the groups in
// it, in the document's order.
type parts struct {
	name   string
	fields []field
	groups []groups
	extra  *[]Element
}

type field struct {
	name  string
	value *string
}

// groups is a list of groups of one name.
type groups struct {
	name string
	add  func() parts // appends an empty one
	all  func() []parts
}

type group[T any] interface {
	*T
	parts() parts
}

func list[T any, P group[T]](name string, in *[]T) groups {
	return groups{
		name: name,
		add: func() parts {
			*in = append(*in, *new(T))
			return P(&(*in)[len(*in)-1]).parts()
		},
		all: func() []parts {
			var all []parts
			for i := range *in {
				all = append(all, P(&(*in)[i]).parts())
			}
			return all
		},
	}
}

const rootName = "Contractdocument"

func (d *Contractdocument) parts() parts {
	return parts{rootName, nil, []groups{list("UN", &d.UN), list("AL", &d.AL), list("PP", &d.PP)}, &d.Extra}
}

func (g *UN) parts() parts {
	return parts{"UN", []field{{"UN_ZENDER", &g.Zender}, {"UN_ONTVAN", &g.Ontvan}}, nil, &g.Extra}
}

func (g *AL) parts() parts {
	return parts{"AL", []field{
		{"AL_VRWRKCD", &g.Vrwrkcd}, {"AL_FUNCTIE", &g.Functie}, {"AL_DATACAT", &g.Datacat},
	}, []groups{list("BY", &g.BY)}, &g.Extra}
}

func (g *BY) parts() parts {
	return parts{"BY", []field{
		{"BY_VRWRKCD", &g.Vrwrkcd}, {"BY_VOLGNUM", &g.Volgnum}, {"BY_BYLSRT", &g.Bylsrt}, {"BY_EXT", &g.Ext},
		{"BY_URLBY", &g.Urlby}, {"BY_PROCESC", &g.Procesc}, {"BY_ENDBSTM", &g.Endbstm}, {"BY_REACTIE", &g.Reactie},
	}, nil, &g.Extra}
}

func (g *PP) parts() parts {
	return parts{"PP", []field{
		{"PP_VRWRKCD", &g.Vrwrkcd}, {"PP_NUMMER", &g.Nummer}, {"PP_MYAAND", &g.Myaand},
	}, []groups{list("VP", &g.VP)}, &g.Extra}
}

func (g *VP) parts() parts {
	return parts{"VP", []field{
		{"VP_VRWRKCD", &g.Vrwrkcd}, {"VP_ANAAM", &g.Anaam}, {"VP_VOORL", &g.Voorl}, {"VP_GEBDAT", &g.Gebdat},
	}, nil, &g.Extra}
}
