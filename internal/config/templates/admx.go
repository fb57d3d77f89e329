package templates

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/text"
)

const namespace = "http://schemas.microsoft.com/GroupPolicy/2006/07/PolicyDefinitions"

// The parts of an ADMX file, in schema order.
type (
	definitions struct {
		XMLName  xml.Name  `xml:"policyDefinitions"`
		NS       string    `xml:"xmlns,attr"`
		Revision string    `xml:"revision,attr"`
		Schema   string    `xml:"schemaVersion,attr"`
		Target   target    `xml:"policyNamespaces>target"`
		Minimum  resources `xml:"resources"`
		// SupportedOn is what the policies apply to; Windows ignores it.
		SupportedOn []named    `xml:"supportedOn>definitions>definition"`
		Categories  []category `xml:"categories>category"`
		Policies    []policy   `xml:"policies>policy"`
	}
	target struct {
		Prefix    string `xml:"prefix,attr"`
		Namespace string `xml:"namespace,attr"`
	}
	resources struct {
		Revision string `xml:"minRequiredRevision,attr"`
	}
	named struct {
		Name    string `xml:"name,attr"`
		Display string `xml:"displayName,attr"`
	}
	ref struct {
		Ref string `xml:"ref,attr"`
	}
	category struct {
		named
		Parent *ref `xml:"parentCategory"`
	}
	policy struct {
		Name         string    `xml:"name,attr"`
		Class        string    `xml:"class,attr"`
		Display      string    `xml:"displayName,attr"`
		Explain      string    `xml:"explainText,attr"`
		Presentation string    `xml:"presentation,attr,omitempty"`
		Key          string    `xml:"key,attr"`
		Value        string    `xml:"valueName,attr,omitempty"`
		Parent       ref       `xml:"parentCategory"`
		SupportedOn  ref       `xml:"supportedOn"`
		Enabled      *value    `xml:"enabledValue"`
		Disabled     *value    `xml:"disabledValue"`
		Elements     *elements `xml:"elements"`
	}
	value struct {
		Decimal *decimalValue `xml:"decimal"`
		String  string        `xml:"string,omitempty"`
	}
	decimalValue struct {
		Value int `xml:"value,attr"`
	}
	elements struct {
		All []element
	}
	element struct {
		XMLName   xml.Name
		ID        string     `xml:"id,attr"`
		Value     string     `xml:"valueName,attr"`
		Required  bool       `xml:"required,attr,omitempty"`
		MaxLength int        `xml:"maxLength,attr,omitempty"`
		MinValue  string     `xml:"minValue,attr,omitempty"`
		MaxValue  string     `xml:"maxValue,attr,omitempty"`
		Items     []enumItem `xml:"item"`
	}
	enumItem struct {
		Display string `xml:"displayName,attr"`
		Value   value  `xml:"value"`
	}
)

// id converts a key to a name allowed by the schema.
func id(parts ...string) string {
	return strings.NewReplacer(".", "_", "-", "_").Replace(strings.Join(parts, "_"))
}

func str(name string) string { return "$(string." + name + ")" }

func categoryOf(group string) string {
	group = cmp.Or(group, "general")
	return id("wiebelt", group)
}

// elementOf returns the input element for a key's value; flags need none.
func elementOf(e settings.Entry, name string) element {
	el := element{ID: name, Value: e.Name()}
	switch e.Type {
	case settings.Choice:
		el.XMLName.Local = "enum"
		for _, c := range e.Choices {
			el.Items = append(el.Items, enumItem{str(id("choice", c)), value{String: c}})
		}
	case settings.Number:
		el.XMLName.Local = "decimal"
		el.MinValue, el.MaxValue = strconv.Itoa(e.Min), strconv.Itoa(e.Max)
	case settings.List:
		el.XMLName.Local = "multiText"
	default:
		el.XMLName.Local, el.MaxLength = "text", 1000
	}
	el.Required = e.Key == "line.number" || e.Key == "softphone.kind"
	return el
}

func admx() []byte {
	d := definitions{NS: namespace, Revision: "1.0", Schema: "1.0", Target: target{"wiebelt", "Wiebelt.Policies.Wiebelt"}, Minimum: resources{"1.0"},
		SupportedOn: []named{{"supported", str("supported")}},
		Categories:  []category{{named: named{"wiebelt", str("wiebelt")}}}}
	for _, s := range sections() {
		d.Categories = append(d.Categories, category{named{categoryOf(s.name), str(id("group", s.name))}, &ref{"wiebelt"}})
		for _, r := range s.rules() {
			d.Policies = append(d.Policies, policyOf(r))
		}
	}
	return encode(d)
}

func policyOf(r rule) policy {
	explained := r.name
	if r.elementNumber != "" {
		explained = r.section.name // the same for all elements
	}
	p := policy{Name: r.name, Class: "Machine", Display: str(r.name), Explain: str(id(explained, "help")), Key: settings.PolicyRegistryKey,
		Parent: ref{categoryOf(r.section.name)}, SupportedOn: ref{"supported"}}
	for _, part := range []string{r.section.name, r.elementNumber} {
		if part != "" {
			p.Key += `\` + part
		}
	}
	if r.isFlag() {
		p.Value, p.Enabled, p.Disabled = r.keys[0].Name(), &value{Decimal: &decimalValue{1}}, &value{Decimal: &decimalValue{0}}
		return p
	}
	p.Presentation, p.Elements = "$(presentation."+r.name+")", &elements{}
	for _, e := range r.keys {
		p.Elements.All = append(p.Elements.All, elementOf(e, r.controlName(e)))
	}
	return p
}

// The parts of an ADML file.
type (
	translations struct {
		XMLName       xml.Name       `xml:"policyDefinitionResources"`
		NS            string         `xml:"xmlns,attr"`
		Revision      string         `xml:"revision,attr"`
		Schema        string         `xml:"schemaVersion,attr"`
		Name          string         `xml:"displayName"`
		Description   string         `xml:"description"`
		Strings       []translation  `xml:"resources>stringTable>string"`
		Presentations []presentation `xml:"resources>presentationTable>presentation"`
	}
	translation struct {
		ID   string `xml:"id,attr"`
		Text string `xml:",chardata"`
	}
	presentation struct {
		ID    string `xml:"id,attr"`
		Boxes []box
	}
	box struct {
		XMLName     xml.Name
		Ref         string `xml:"refId,attr"`
		Default     string `xml:"defaultValue,attr,omitempty"`
		NoSort      bool   `xml:"noSort,attr,omitempty"`
		Item        string `xml:"defaultItem,attr,omitempty"`
		Text        string `xml:",chardata"`
		Label       string `xml:"label,omitempty"`
		DefaultText string `xml:"defaultValue,omitempty"`
	}
)

// boxOf returns the editor's control for an element.
func boxOf(l text.Language, e settings.Entry, name string) box {
	label := l.T(text.SettingTitle(e.Key))
	switch e.Type {
	case settings.Choice:
		return box{XMLName: xml.Name{Local: "dropdownList"}, Ref: name, NoSort: true, Item: "0", Text: label}
	case settings.Number:
		return box{XMLName: xml.Name{Local: "decimalTextBox"}, Ref: name, Default: e.Default(), Text: label}
	case settings.List:
		return box{XMLName: xml.Name{Local: "multiTextBox"}, Ref: name, Text: label}
	}
	return box{XMLName: xml.Name{Local: "textBox"}, Ref: name, Label: label, DefaultText: e.Default()}
}

func adml(l text.Language) []byte {
	t := translations{NS: namespace, Revision: "1.0", Schema: "1.0", Name: "Wiebelt", Description: l.T(text.SetupSetting) + " Wiebelt",
		Strings: []translation{{"wiebelt", "Wiebelt"}, {"supported", "Wiebelt 1"}}}
	add := func(id, s string) {
		if !slices.ContainsFunc(t.Strings, func(have translation) bool { return have.ID == id }) {
			t.Strings = append(t.Strings, translation{id, s})
		}
	}
	for _, s := range sections() {
		title := l.T(text.SettingGroup(s.name))
		add(id("group", s.name), title)
		var help []string
		for _, e := range s.keys {
			help = append(help, l.T(text.SettingTitle(e.Key))+": "+explain(l, e))
			for _, c := range e.Choices {
				if e.Type == settings.Choice {
					add(id("choice", c), c)
				}
			}
		}
		if s.isArray() {
			add(id(s.name, "help"), strings.Join(help, "\n\n"))
		}
		for _, r := range s.rules() {
			if r.elementNumber == "" {
				add(r.name, l.T(text.SettingTitle(r.keys[0].Key)))
				add(id(r.name, "help"), explain(l, r.keys[0]))
			} else {
				add(r.name, title+" "+r.elementNumber)
			}
			if r.isFlag() {
				continue
			}
			p := presentation{ID: r.name}
			for _, e := range r.keys {
				p.Boxes = append(p.Boxes, boxOf(l, e, r.controlName(e)))
			}
			t.Presentations = append(t.Presentations, p)
		}
	}
	return encode(t)
}

func encode(v any) []byte {
	b, _ := xml.MarshalIndent(v, "", "  ") // cannot fail: texts and numbers
	return append(append([]byte(xml.Header), b...), '\n')
}

// intune returns the text for custom profiles: how to import the template, and for every
// key its address with an initial value.
func intune() []byte {
	var b strings.Builder
	b.WriteString(`Microsoft Intune: custom profile for Windows, OMA-URI settings

1. The template itself, once. Data type: String. Value: the contents of wiebelt.admx.
   ./Device/Vendor/MSFT/Policy/ConfigOperations/ADMXInstall/Wiebelt/Policy/wiebelt

2. One row per setting. Data type: String. Leave out what you do not want to set.
   Secrets never go here; pass them to "wiebelt provision --secret-stdin" in a script.

`)
	data := func(e settings.Entry, name string) string {
		v := html.EscapeString(valueOf(e))
		if e.Type == settings.List {
			v = strings.ReplaceAll(v, ", ", "&#xF000;") // between the lines of a list
		}
		return fmt.Sprintf(`<data id="%s" value="%s"/>`, name, v)
	}
	for _, s := range sections() {
		for _, r := range s.rules() {
			v := "<enabled/>"
			if r.keys[0].Default() == "false" {
				v = "<disabled/>"
			}
			var keys []string
			for _, e := range r.keys {
				keys = append(keys, e.Key)
				if !r.isFlag() {
					v += data(e, r.controlName(e))
				}
			}
			fmt.Fprintf(&b, "%s\n   ./Device/Vendor/MSFT/Policy/Config/Wiebelt~Policy~wiebelt~%s/%s\n   %s\n\n", strings.Join(keys, " "), categoryOf(s.name), r.name, v)
		}
	}
	return []byte(b.String())
}
