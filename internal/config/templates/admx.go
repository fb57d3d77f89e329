package templates

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"html"
	"slices"
	"strings"
	"text/template"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/text"
)

// admxTemplate takes the sections; the schema fixes the order of its parts.
const admxTemplate = `<?xml version="1.0" encoding="UTF-8"?>
<policyDefinitions xmlns="http://schemas.microsoft.com/GroupPolicy/2006/07/PolicyDefinitions" revision="1.0" schemaVersion="1.0">
  <policyNamespaces>
    <target prefix="wiebelt" namespace="Wiebelt.Policies.Wiebelt"></target>
  </policyNamespaces>
  <resources minRequiredRevision="1.0"></resources>
  <supportedOn>
    <definitions>
      <definition name="supported" displayName="$(string.supported)"></definition>
    </definitions>
  </supportedOn>
  <categories>
    <category name="wiebelt" displayName="$(string.wiebelt)"></category>
{{- range .}}
    <category name="{{category .Name}}" displayName="$(string.{{id "group" .Name}})">
      <parentCategory ref="wiebelt"></parentCategory>
    </category>
{{- end}}
  </categories>
  <policies>
{{- range .}}{{range $rule := .Rules}}
    <policy name="{{.Name}}" class="Machine" displayName="$(string.{{.Name}})" explainText="$(string.{{.Help}})"
{{- if .IsFlag}} key="{{.RegistryKey}}" valueName="{{(index .Keys 0).Name}}"
{{- else}} presentation="$(presentation.{{.Name}})" key="{{.RegistryKey}}"{{end}}>
      <parentCategory ref="{{category .Section.Name}}"></parentCategory>
      <supportedOn ref="supported"></supportedOn>
{{- if .IsFlag}}
      <enabledValue>
        <decimal value="1"></decimal>
      </enabledValue>
      <disabledValue>
        <decimal value="0"></decimal>
      </disabledValue>
{{- else}}
      <elements>
{{- range .Keys}}
        <{{element .}} id="{{$rule.Control .}}" valueName="{{.Name}}"
{{- if required .}} required="true"{{end}}
{{- if eq (element .) "text"}} maxLength="1000"{{else if eq (element .) "decimal"}} minValue="{{.Min}}" maxValue="{{.Max}}"{{end}}>
{{- if eq (element .) "enum"}}
{{- range .Choices}}
          <item displayName="$(string.{{id "choice" .}})">
            <value>
              <string>{{.}}</string>
            </value>
          </item>
{{- end}}
        {{end}}</{{element .}}>
{{- end}}
      </elements>
{{- end}}
    </policy>
{{- end}}{{end}}
  </policies>
</policyDefinitions>
`

// admlTemplate takes translations.
const admlTemplate = `<?xml version="1.0" encoding="UTF-8"?>
<policyDefinitionResources xmlns="http://schemas.microsoft.com/GroupPolicy/2006/07/PolicyDefinitions" revision="1.0" schemaVersion="1.0">
  <displayName>Wiebelt</displayName>
  <description>{{xml .Description}}</description>
  <resources>
    <stringTable>
{{- range .Strings}}
      <string id="{{.ID}}">{{xml .Text}}</string>
{{- end}}
    </stringTable>
    <presentationTable>
{{- range $rule := .Rules}}
      <presentation id="{{.Name}}">
{{- range .Keys}}{{$ref := $rule.Control .}}
{{- if eq (element .) "enum"}}
        <dropdownList refId="{{$ref}}" noSort="true" defaultItem="0">{{xml (title .)}}</dropdownList>
{{- else if eq (element .) "decimal"}}
        <decimalTextBox refId="{{$ref}}" defaultValue="{{.Default}}">{{xml (title .)}}</decimalTextBox>
{{- else if eq (element .) "multiText"}}
        <multiTextBox refId="{{$ref}}">{{xml (title .)}}</multiTextBox>
{{- else}}
        <textBox refId="{{$ref}}">
          <label>{{xml (title .)}}</label>
{{- with .Default}}
          <defaultValue>{{xml .}}</defaultValue>
{{- end}}
        </textBox>
{{- end}}
{{- end}}
      </presentation>
{{- end}}
    </presentationTable>
  </resources>
</policyDefinitionResources>
`

// filled fills a template with words in a language.
func filled(l text.Language, source string, data any) []byte {
	t := template.New("").Funcs(template.FuncMap{"id": id, "category": categoryOf, "element": elementOf,
		"required": func(e settings.Entry) bool { return e.Key == "line.number" || e.Key == "softphone.kind" },
		"title":    func(e settings.Entry) string { return l.T(text.SettingTitle(e.Key)) },
		"xml": func(s string) string {
			var b strings.Builder
			_ = xml.EscapeText(&b, []byte(s)) // a Builder takes all
			return b.String()
		}})
	var b bytes.Buffer
	if err := template.Must(t.Parse(source)).Execute(&b, data); err != nil {
		panic(err) // a test fills both
	}
	return b.Bytes()
}

// id converts a key to a name allowed by the schema.
func id(parts ...string) string {
	return strings.NewReplacer(".", "_", "-", "_").Replace(strings.Join(parts, "_"))
}

func categoryOf(group string) string { return id("wiebelt", cmp.Or(group, "general")) }

// elementOf returns the kind of input element for a key's value; flags need none.
func elementOf(e settings.Entry) string {
	return cmp.Or(map[settings.Type]string{settings.Choice: "enum", settings.Number: "decimal", settings.List: "multiText"}[e.Type], "text")
}

func admx() []byte { return filled(text.English, admxTemplate, sections()) }

// translations is an ADML file: its texts, and the rules that the editor has controls for.
type translations struct {
	Description string
	Strings     []translation
	Rules       []rule
}

type translation struct{ ID, Text string }

func adml(l text.Language) []byte {
	t := translations{Description: l.T(text.SetupSetting) + " Wiebelt", Strings: []translation{{"wiebelt", "Wiebelt"}, {"supported", "Wiebelt 1"}}}
	add := func(id, s string) {
		if !slices.ContainsFunc(t.Strings, func(have translation) bool { return have.ID == id }) {
			t.Strings = append(t.Strings, translation{id, s})
		}
	}
	for _, s := range sections() {
		title := l.T(text.SettingGroup(s.Name))
		add(id("group", s.Name), title)
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
			add(id(s.Name, "help"), strings.Join(help, "\n\n"))
		}
		for _, r := range s.Rules() {
			if r.elementNumber == "" {
				add(r.Name, l.T(text.SettingTitle(r.Keys[0].Key)))
				add(r.Help(), explain(l, r.Keys[0]))
			} else {
				add(r.Name, title+" "+r.elementNumber)
			}
			if !r.IsFlag() {
				t.Rules = append(t.Rules, r)
			}
		}
	}
	return filled(l, admlTemplate, t)
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
		for _, r := range s.Rules() {
			v := "<enabled/>"
			if r.Keys[0].Default() == "false" {
				v = "<disabled/>"
			}
			var keys []string
			for _, e := range r.Keys {
				keys = append(keys, e.Key)
				if !r.IsFlag() {
					v += data(e, r.Control(e))
				}
			}
			fmt.Fprintf(&b, "%s\n   ./Device/Vendor/MSFT/Policy/Config/Wiebelt~Policy~wiebelt~%s/%s\n   %s\n\n", strings.Join(keys, " "), categoryOf(s.Name), r.Name, v)
		}
	}
	return []byte(b.String())
}
