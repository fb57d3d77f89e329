package message

// Code identifies a finding. Each has a text in assets/text/message.json.
type Code string

// About the ZIP as a whole.
const (
	EmptyFile       Code = "empty_file"
	NotZIP          Code = "not_zip"
	Truncated       Code = "cut_off"
	TrailingData    Code = "trailing_data"
	TwoEnds         Code = "two_ends"
	SeveralDisks    Code = "several_disks"
	Zip64Lie        Code = "zip64_lie"
	DirectoryBroken Code = "directory_broken"
	DirectoryLong   Code = "directory_long"
	TooManyEntries  Code = "too_many_entries"
	EmptyZIP        Code = "empty_zip"
	UnpacksTooLarge Code = "unpacks_too_large"
	UnpacksTooFar   Code = "unpacks_too_far"
	HiddenEntry     Code = "hidden_entry"
	UnusedBytes     Code = "unused_bytes"
	NoDocument      Code = "no_document"
)

// About one entry of the ZIP.
const (
	Encrypted      Code = "encrypted"
	Method         Code = "method"
	HeaderMismatch Code = "header_mismatch"
	Overlap        Code = "overlap"
	Symlink        Code = "symlink"
	SpecialFile    Code = "special_file"
	SizeLie        Code = "size_lie"
	Damaged        Code = "damaged"
	NameUp         Code = "name_up"
	NameAbsolute   Code = "name_absolute"
	NameDevice     Code = "name_device"
	NameColon      Code = "name_colon"
	NameImpossible Code = "name_impossible"
	NameTwofold    Code = "name_twofold"
	NameTwice      Code = "name_twice"
	NameCase       Code = "name_case"
	NameBackslash  Code = "name_backslash"
	NameOdd        Code = "name_odd"
	NameHidden     Code = "name_hidden"
	NameUnmarked   Code = "name_unmarked"
	NameOld        Code = "name_old"
)

// About an XML document.
const (
	XMLTooLarge        Code = "xml_too_large"
	XMLTokenTooLong    Code = "xml_token_too_long"
	XMLTooMany         Code = "xml_too_many"
	XMLTooDeep         Code = "xml_too_deep"
	XMLEntity          Code = "xml_entity"
	XMLDoctype         Code = "xml_doctype"
	XMLMalformed       Code = "xml_malformed"
	XMLEncodingUnknown Code = "xml_encoding_unknown"
	XMLEncodingOther   Code = "xml_encoding_other"
	XMLEncodingDamaged Code = "xml_encoding_damaged"
	XMLEncodingOld     Code = "xml_encoding_old"
	XMLNotRead         Code = "xml_not_read"
	OtherType          Code = "other_type"
	SeveralDocuments   Code = "several_documents"
)

// About the shape of a Contractdocument.
const (
	UnknownElement      Code = "unknown_element"
	RepeatedElement     Code = "repeated_element"
	NestedElement       Code = "nested_element"
	StrayText           Code = "stray_text"
	BadDate             Code = "bad_date"
	NoSuchDate          Code = "no_such_date"
	BadNumber           Code = "bad_number"
	BadExtension        Code = "bad_extension"
	BadFileName         Code = "bad_file_name"
	AttachmentMissing   Code = "attachment_missing"
	AttachmentExtension Code = "attachment_extension"
	AttachmentCase      Code = "attachment_case"
	AttachmentFolder    Code = "attachment_folder"
	AttachmentUnnamed   Code = "attachment_unnamed"
	RepeatedGroup       Code = "repeated_group"
	MissingElement      Code = "missing_element"
	MissingGroup        Code = "missing_group"
	OtherOrder          Code = "other_order"
	UnknownAttribute    Code = "unknown_attribute"
	Namespace           Code = "namespace"
)

// severities is the severity of each code. Refused is for what no reader can be
// trusted with: an unreadable ZIP, a safety limit, a name or record that two
// readers interpret differently. Anything undocumented may pass: with a warning
// if it departs from the standard's example, with a note if the choice is open.
var severities = map[Code]Severity{
	EmptyFile: Refused, NotZIP: Refused, Truncated: Refused, TrailingData: Refused, TwoEnds: Refused, SeveralDisks: Refused,
	Zip64Lie: Refused, DirectoryBroken: Refused, DirectoryLong: Refused, TooManyEntries: Refused, EmptyZIP: Refused,
	UnpacksTooLarge: Refused, UnpacksTooFar: Refused, HiddenEntry: Refused, UnusedBytes: Warning, NoDocument: Warning,

	Encrypted: Refused, Method: Refused, HeaderMismatch: Refused, Overlap: Refused, Symlink: Refused, SpecialFile: Refused,
	SizeLie: Refused, Damaged: Refused, NameUp: Refused, NameAbsolute: Refused, NameDevice: Refused, NameColon: Refused,
	NameImpossible: Refused, NameTwofold: Refused, NameTwice: Refused, NameCase: Refused,
	NameBackslash: Warning, NameOdd: Warning, NameHidden: Warning, NameUnmarked: Note, NameOld: Note,

	XMLTooLarge: Refused, XMLTokenTooLong: Refused, XMLTooMany: Refused, XMLTooDeep: Refused, XMLEntity: Refused,
	XMLDoctype: Warning, XMLMalformed: Warning, XMLEncodingUnknown: Warning, XMLEncodingOther: Warning,
	XMLEncodingDamaged: Warning, XMLEncodingOld: Note, XMLNotRead: Note, OtherType: Warning, SeveralDocuments: Note,

	UnknownElement: Warning, RepeatedElement: Warning, NestedElement: Warning, StrayText: Warning, BadDate: Warning,
	NoSuchDate: Warning, BadNumber: Warning, BadExtension: Warning, BadFileName: Warning, AttachmentMissing: Warning,
	AttachmentExtension: Warning, AttachmentCase: Warning, AttachmentFolder: Note, AttachmentUnnamed: Note,
	RepeatedGroup: Note, MissingElement: Note, MissingGroup: Note, OtherOrder: Note, UnknownAttribute: Note, Namespace: Note,
}

// Severity returns the severity of findings with this code; 0 for none.
func (c Code) Severity() Severity { return severities[c] }
