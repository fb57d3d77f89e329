package localhub

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"wiebelt/internal/core/contact"
)

// Numbers that never change.
const (
	PersonNumber  = "+31" + firstNumber  // belongs to exactly one invented contact, the first
	SharedNumber  = "+31" + familyNumber // shared by three
	UnknownNumber = "+31" + unusedNumber // belongs to nobody

	firstNumber  = "612345678"
	familyNumber = "201234567"
	unusedNumber = "655550000"
)

// Synthetic invents n Dutch contacts in households, always the same ones for a seed;
// only their IDs are left to the hub, which makes them unguessable. The first household
// is one person with 06 12 34 56 78, the second three people who share 020 123 45 67.
func Synthetic(seed uint64, n int) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		g := &inventor{Rand: rand.New(rand.NewPCG(seed, 0x77696562656c74)), seed: seed}
		for made, house := 0, 0; made < n; house++ {
			for _, r := range g.household(house) {
				if made++; made > n || !yield(r) {
					return
				}
			}
		}
	}
}

type inventor struct {
	*rand.Rand
	seed                          uint64
	mobiles, landlines, companies int // used so far
	relations                     int
}

// household returns the contacts who live or work at one address.
func (g *inventor) household(i int) []Record {
	switch {
	case i == 0:
		return []Record{g.fullContact()}
	case i == 1:
		return g.family(i, 3)
	case i%97 == 0:
		return g.company()
	}
	size, p := 1, g.IntN(100)
	for _, fewer := range []int{42, 74, 87, 96} { // cumulative percentages of households of one person, two, and so on
		if p >= fewer {
			size++
		}
	}
	return g.family(i, size)
}

func (g *inventor) fullContact() Record {
	r := g.person(name{"van der", "Berg"}, contact.Address{
		Street: "Lindelaan", Number: "12", Addition: "A", PostalCode: "1234AB", City: "Ons Dorp", Country: "NL",
	})
	r.Initials = "J.M."
	r.Numbers = []string{"06-" + firstNumber[1:]}
	r.Emails = []string{g.address(r)}
	return r
}

func (g *inventor) family(i, size int) []Record {
	home := g.home()
	first := pick(g, names)
	land := ""
	switch {
	case i == 1:
		land = "0" + familyNumber
	case g.IntN(100) < 60:
		land = g.land()
	}
	office := pick(g, producers)
	var all []Record
	for who := range size {
		n := first
		switch {
		case who == 1 && g.IntN(100) < 35: // a partner who kept a name
			n = pick(g, names)
		case who == 1 && g.IntN(100) < 40: // a partner with both names
			second := pick(g, names)
			n = name{first.prefix, first.family + "-" + strings.TrimSpace(second.prefix+" "+second.family)}
		case who > 1 && g.IntN(100) < 8:
			n = pick(g, names)
		}
		r := g.person(n, home)
		r.Producer = office
		if land != "" {
			r.Numbers = append(r.Numbers, g.formatNumber(land))
		}
		if g.IntN(100) < 70 || len(r.Numbers) == 0 {
			r.Numbers = append(r.Numbers, g.formatNumber(g.mobile()))
		}
		if g.IntN(100) < 55 {
			r.Emails = []string{g.address(r)}
		}
		all = append(all, r)
	}
	return all
}

// company returns people who are reached at work through one switchboard.
func (g *inventor) company() []Record {
	board := g.company088()
	var all []Record
	for range 4 + g.IntN(9) {
		r := g.person(pick(g, names), g.home())
		r.Numbers = []string{g.formatNumber(board)}
		if g.IntN(100) < 50 {
			r.Numbers = append(r.Numbers, g.formatNumber(g.mobile()))
		}
		all = append(all, r)
	}
	return all
}

func (g *inventor) person(n name, home contact.Address) Record {
	g.relations++
	var r Record
	r.RelationNumber = strconv.Itoa(100200 + g.relations*3)
	r.Prefix, r.FamilyName, r.Address = n.prefix, n.family, home
	r.Initials = g.initials()
	r.Producer = pick(g, producers)
	r.LastModifiedBy = pick(g, colleagues)
	return r
}

func (g *inventor) initials() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(pick(g, initials) + ".")
	}
	return b.String()
}

func (g *inventor) home() contact.Address {
	p := pick(g, places)
	a := contact.Address{
		Street: pick(g, streets), Number: strconv.Itoa(1 + g.IntN(240)), City: p.city, Country: p.country,
	}
	switch p.country {
	case "NL":
		a.PostalCode = fmt.Sprintf("%d%c%c", p.postal+g.IntN(40), 'A'+rune(g.IntN(18)), 'A'+rune(g.IntN(18)))
		if g.IntN(100) < 35 {
			a.Country = "" // null in the API
		}
	default:
		a.PostalCode = strconv.Itoa(p.postal + g.IntN(40))
	}
	if g.IntN(100) < 22 {
		a.Addition = pick(g, additions)
	}
	return a
}

// address returns an e-mail address in a domain reserved for examples.
func (g *inventor) address(r Record) string {
	var b strings.Builder
	for _, c := range strings.ToLower(r.Initials + r.FamilyName) {
		if c < unicode.MaxASCII && (unicode.IsLetter(c) || c == '.' || c == '-') {
			b.WriteRune(c)
		}
	}
	return fmt.Sprintf("%s.%d@example.org", strings.Trim(b.String(), ".-"), g.relations)
}

// permuted returns the i-th number of a block of ten thousand, in an order that depends
// on the seed. None occurs twice.
func (g *inventor) permuted(i int) int { return (i*7919 + int(g.seed%10_000)) % 10_000 }

// nextNumber returns the next number of a kind, of which count were used,
// skipping the fixed ones.
func (g *inventor) nextNumber(count *int, number func(i int) string) string {
	for {
		n := number(*count)
		*count++
		if !slices.Contains([]string{firstNumber, familyNumber, unusedNumber}, n[1:]) {
			return n
		}
	}
}

// mobile returns 06 1234 xxxx, then 06 5555 xxxx, then blocks above those.
func (g *inventor) mobile() string {
	return g.nextNumber(&g.mobiles, func(i int) string {
		prefix := 1234
		if block := i / 10_000; block > 0 {
			prefix = 5554 + block
		}
		return fmt.Sprintf("06%04d%04d", prefix, g.permuted(i%10_000))
	})
}

func (g *inventor) land() string {
	return g.nextNumber(&g.landlines, func(i int) string {
		area := areas[i%len(areas)]
		i /= len(areas)
		if len(area) == 3 {
			return fmt.Sprintf("%s%03d%04d", area, 123+i/10_000, g.permuted(i%10_000))
		}
		return fmt.Sprintf("%s%02d%04d", area, 12+i/10_000, g.permuted(i%10_000))
	})
}

func (g *inventor) company088() string {
	return g.nextNumber(&g.companies, func(i int) string { return fmt.Sprintf("088%03d%04d", 123+i/10_000, g.permuted(i%10_000)) })
}

// formatNumber writes a number in one of the notations found in real data.
func (g *inventor) formatNumber(n string) string {
	area := 3
	for _, a := range areas {
		if strings.HasPrefix(n, a) {
			area = len(a)
		}
	}
	if strings.HasPrefix(n, "06") {
		area = 2
	}
	head, tail := n[:area], n[area:]
	switch g.IntN(8) {
	case 0:
		return n
	case 1:
		return "+31" + n[1:]
	case 2:
		return "0031 " + n[1:]
	case 3:
		return "+31 (0)" + head[1:] + " " + tail
	case 4:
		return "(" + head + ") " + tail
	case 5:
		return head + "/" + tail[:len(tail)/2] + "." + tail[len(tail)/2:]
	case 6:
		return "+31 " + head[1:] + " " + tail[:len(tail)/2] + " " + tail[len(tail)/2:]
	}
	return head + "-" + tail
}

func pick[T any](g *inventor, from []T) T { return from[g.IntN(len(from))] }

type name struct{ prefix, family string }

// Components of invented people. Towns, offices and colleagues do not exist.

var names = []name{
	{"", "Jansen"}, {"de", "Vries"}, {"van den", "Berg"}, {"van", "Dijk"}, {"", "Bakker"}, {"", "Visser"},
	{"", "Smit"}, {"", "Meijer"}, {"de", "Boer"}, {"", "Mulder"}, {"de", "Groot"}, {"", "Bos"}, {"", "Vos"},
	{"", "Peters"}, {"", "Hendriks"}, {"van", "Leeuwen"}, {"", "Dekker"}, {"", "Brouwer"}, {"de", "Wit"},
	{"", "Dijkstra"}, {"", "Smits"}, {"de", "Graaf"}, {"van der", "Meer"}, {"van der", "Linden"}, {"", "Kok"},
	{"", "Jacobs"}, {"de", "Haan"}, {"", "Vermeulen"}, {"van den", "Heuvel"}, {"van der", "Veen"},
	{"van den", "Broek"}, {"de", "Bruijn"}, {"de", "Bruin"}, {"van der", "Heijden"}, {"", "Schouten"},
	{"van", "Beek"}, {"", "Willems"}, {"van", "Vliet"}, {"van de", "Ven"}, {"", "Hoekstra"}, {"", "Maas"},
	{"", "Verhoeven"}, {"", "Koster"}, {"van", "Dam"}, {"van der", "Wal"}, {"", "Prins"}, {"", "Blom"},
	{"", "Huisman"}, {"", "Peeters"}, {"de", "Jonge"}, {"", "Kuipers"}, {"van", "Veen"}, {"", "Post"},
	{"", "Kuiper"}, {"", "Veenstra"}, {"van den", "Brink"}, {"", "Postma"}, {"", "Scholten"}, {"", "Timmermans"},
	{"van 't", "Hof"}, {"van 't", "Veer"}, {"in 't", "Veld"}, {"op den", "Akker"}, {"ter", "Horst"},
	{"ten", "Brinke"}, {"'t", "Hart"}, {"van der", "Zee"}, {"uit den", "Boogaard"}, {"van de", "Water"},
	{"de", "la Rive"}, {"", "El Amrani"}, {"", "Yıldız"}, {"", "Özdemir"}, {"", "Çelik"}, {"", "Nguyễn"},
	{"", "Kowalczyk"}, {"", "Müller"}, {"", "Coenraadts"}, {"", "IJzerman"}, {"", "Bruinsma"}, {"d'", "Arnaud"},
	{"", "Appelboom-Kersten"}, {"", "Vonk-Noordegraaf"}, {"van", "Zwanenburg-de Lange"},
}

var initials = []string{
	"A", "B", "C", "D", "E", "F", "G", "H", "J", "J", "J", "K", "L", "M", "M", "N", "P", "R", "S", "T", "W",
	"Th", "Chr", "IJ", "Ph", "É",
}

var streets = []string{
	"Lindelaan", "Dorpsstraat", "Kerkpad", "Molenweg", "Havenkade", "Beukenhof", "Oude Dijk", "Wilgenstraat",
	"Brinkweg", "Stationsplein", "Veldzicht", "Kastanjelaan", "De Waterloop", "Zonnebloemstraat", "Tuindersweg",
	"Burgemeester Ooievaarstraat", "Laan van de Zeven Zwanen", "'t Zandpad", "Eerste Ringdijk", "Marktveld",
	"Ambachtshof", "Rietkraag", "Korte Steeg", "Hogeweg", "Polderlaan", "Vogelkersstraat", "Plein 1900",
}

var additions = []string{"A", "B", "C", "a", "bis", "II", "hs", "2 hoog", "rood", "K12", "-1"}

var places = []struct {
	city, country string
	postal        int
}{
	{"Ons Dorp", "NL", 1230}, {"Ons Dorp", "NL", 1230}, {"Zaanwijk", "NL", 1590}, {"Zaanwijk", "NL", 1590},
	{"Oud-Meeren", "NL", 2480}, {"Lage Brug", "NL", 3970}, {"'t Hoge Veer", "NL", 4170}, {"Sint Odulfswoude", "NL", 8720},
	{"Klein Zwaluwe", "NL", 4930}, {"Rietmeer", "NL", 3640}, {"Broekhaven aan de Vliet", "NL", 2270},
	{"Hazelvoort", "NL", 5260}, {"Esdoornbeek", "NL", 7430}, {"Duinhoek-Zuid", "NL", 1930},
	{"Lindegem", "BE", 9230}, {"Bad Moorwiese", "DE", 48530},
}

var producers = []contact.CodedValue{
	{Code: "P001", Description: "Kantoor Ons Dorp"}, {Code: "P002", Description: "Kantoor Zaanwijk"},
	{Code: "P014", Description: "Advies aan Huis Rietmeer"}, {Code: "P020", Description: "De Oude Polis"},
	{Code: "P033", Description: "Veldzicht Assurantiën"}, {Code: "P101", Description: "Eigen kantoor"},
}

var colleagues = []contact.CodedValue{
	{Code: "MJO", Description: "M. de Jong"}, {Code: "KBA", Description: "K. Bakhuis"}, {Code: "SYI", Description: "S. Yilmaz"},
	{Code: "PVH", Description: "P. van 't Hek"}, {Code: "IMPORT", Description: "Automatische import"},
}

// Area codes of three and four digits; their numbers here start with 123 and 12.
var areas = []string{"020", "0475", "030", "010", "0299", "040", "050", "070", "0512", "013"}
