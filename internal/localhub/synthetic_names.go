package localhub

import "wiebelt/internal/core/contact"

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

var producers = []contact.Coded{
	{Code: "P001", Description: "Kantoor Ons Dorp"}, {Code: "P002", Description: "Kantoor Zaanwijk"},
	{Code: "P014", Description: "Advies aan Huis Rietmeer"}, {Code: "P020", Description: "De Oude Polis"},
	{Code: "P033", Description: "Veldzicht Assurantiën"}, {Code: "P101", Description: "Eigen kantoor"},
}

var colleagues = []contact.Coded{
	{Code: "MJO", Description: "M. de Jong"}, {Code: "KBA", Description: "K. Bakhuis"}, {Code: "SYI", Description: "S. Yilmaz"},
	{Code: "PVH", Description: "P. van 't Hek"}, {Code: "IMPORT", Description: "Automatische import"},
}

// Area codes of three and four digits; their numbers here start with 123 and 12.
var areas = []string{"020", "0475", "030", "010", "0299", "040", "050", "070", "0512", "013"}
