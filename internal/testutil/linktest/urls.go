package linktest

import "strings"

// GoodURL reports a ringing call.
const GoodURL = "wiebelt:call?number=%2B31698760011"

// URLs returns what a page or program might put after our scheme: a few valid URLs, and more
// than two hundred that try to be something else.
func URLs() []string {
	all := []string{GoodURL, "wiebelt://call?number=0698760011", "WIEBELT:call?number=0698760011&state=answered", "wiebelt:call/?number=0698760011", GoodURL + "&x=1"}
	for _, tail := range []string{`"`, `""`, `" --profile C:\x`, `" --profile "\\evil\share`, `" "wiebelt:call?number=112`, `" & calc`, `" | calc`, `\"`, `\`, `\\`, "%22", "%22%20--profile%20x",
		" ", "  --help", " --profile /tmp/x", "\t", "\n", "\r\n", "\x00", "%00", "%0a", "%0d%0a", "'", "';id;'", "`id`", "$(id)", "${IFS}id", ";id", "&&id", "||id", "|id", ">x", "<x", "&", "&&", "#", "#x",
		"%", "%%", "%u", "%1", "%PATH%", "%zz", "&state=ended", "&state=Ringing", "&state=", "&id=1", "&name=Anna", "&line=1", "&via=x", "&token=x", "&number=112", "&number=", "&numBer=112",
		"/", "//", "/x", "?", "?x", "+", "++", "-", "*", "~", "^", "{}", "{phone}", "[]", "\u202e", "\u200b", "\ufeff", "é", "€", "😀", "\xff", "\x7f", "\x1b[31m",
		"@evil.example", ":80", "%252B", "%2525", "+31", "123456789012345678901"} {
		all = append(all, GoodURL+tail, "wiebelt:call?number="+tail)
	}
	return append(all, []string{"", "wiebelt", "wiebelt:", "wiebelt:call", "wiebelt:call?", "wiebelt:open?number=0698760011", "wiebelt:ring?number=0698760011", "wiebelt:--profile", "wiebelt:-- x", "wiebelt:/call?number=0698760011",
		"wiebelt:///call?number=0698760011", "wiebelt://evil.example/call?number=0698760011", "wiebelt://user@call?number=0698760011", `wiebelt:\\evil\share`, "wiebelt:call?number=12", "wiebelt:call?number=anonymous",
		"wiebelt:call?number=sip%3A0698760011%40x", "wiebelt:call?number=javascript:alert(1)", "wiebelt:call?number=file:///etc/passwd", "wiebelt:call?number=../../x", "wiebelt:call?number=..%2F..%2Fx",
		"wiebelt:call?number=<script>", "wiebelt:call?number=" + strings.Repeat("9", 3000), GoodURL + strings.Repeat("&a=b", 400), "wiebelt:call?number=" + strings.Repeat("%30", 600),
		"wiebelt:wiebelt:call?number=0698760011", " wiebelt:call?number=0698760011", "wiebelt :call?number=0698760011", "wiebelt:call?number =0698760011", "wiebelt:Call?number=0698760011",
		"wiebelt:call?number=0698760011&state=answered&state=ringing", "tel:0698760011", "callto:0698760011", "http://127.0.0.1:27471/v1/call", "wiebelt:call?number=%D9%A0%D9%A6%D9%A9%D9%A8"}...)
}
