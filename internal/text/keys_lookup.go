package text

// Texts of the lookup window.
const (
	LookupTitle        Key = "lookup.title"
	LookupOpen         Key = "lookup.open"
	LookupBox          Key = "lookup.box"
	LookupButton       Key = "lookup.button"
	LookupStart        Key = "lookup.start"
	LookupStartHint    Key = "lookup.start.hint"
	LookupSearching    Key = "lookup.searching"
	LookupNone         Key = "lookup.none"
	LookupWithheld     Key = "lookup.withheld"
	LookupWithheldHint Key = "lookup.withheld.hint"
	LookupNoNumberHint Key = "lookup.no_number.hint"
	LookupNumbers      Key = "lookup.numbers"
	LookupWhich        Key = "lookup.which"
	LookupInternal     Key = "lookup.internal"
	LookupOff          Key = "lookup.off"
	LookupOffHint      Key = "lookup.off.hint"
	LookupSilent       Key = "lookup.silent"
	LookupMore         Key = "lookup.more"
	LookupCopyRelation Key = "lookup.copy.relation"
)
