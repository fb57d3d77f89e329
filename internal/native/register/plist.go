package register

import (
	"encoding/xml"
	"strings"
)

// bundleID is the program's name among all programs of macOS (FyneApp.toml).
const bundleID = "nl.wiebelt.companion"

const (
	plistHead = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
`
	plistFoot = "</dict>\n</plist>\n"
)

// InfoPlist is what the Info.plist of the app bundle needs besides its own: that
// links of our scheme are the bundle's, and that it shows no icon in the Dock.
// macOS knows no other way to register either.
func InfoPlist() string {
	return plistHead + `	<key>CFBundleURLTypes</key>
	<array>
		<dict>
			<key>CFBundleTypeRole</key>
			<string>Viewer</string>
			<key>CFBundleURLName</key>
			<string>` + bundleID + `.call</string>
			<key>CFBundleURLSchemes</key>
			<array>
				<string>wiebelt</string>
			</array>
		</dict>
	</array>
	<key>LSUIElement</key>
	<true/>
` + plistFoot
}

// LaunchAgent is the property list that starts the program at log-on. Its place
// is AgentFile in ~/Library/LaunchAgents, or in /Library/LaunchAgents for
// everybody.
func LaunchAgent(o Options) (string, error) {
	if err := o.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(plistHead + "	<key>Label</key>\n	<string>" + bundleID + "</string>\n	<key>ProgramArguments</key>\n	<array>\n")
	for _, a := range append([]string{o.Exe}, o.arguments("run", "--background")...) {
		b.WriteString("		<string>")
		_ = xml.EscapeText(&b, []byte(a)) // a Builder takes everything
		b.WriteString("</string>\n")
	}
	b.WriteString("	</array>\n	<key>RunAtLoad</key>\n	<true/>\n	<key>LimitLoadToSessionType</key>\n	<string>Aqua</string>\n" +
		"	<key>ProcessType</key>\n	<string>Interactive</string>\n" + plistFoot)
	return b.String(), nil
}

// AgentFile is the name of the file with the LaunchAgent.
const AgentFile = bundleID + ".plist"
