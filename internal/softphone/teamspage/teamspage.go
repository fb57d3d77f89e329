// Package teamspage generates the web page that Microsoft Teams opens for an incoming call
// and that passes the number to Wiebelt's URL scheme (Teams opens https addresses only). An
// administrator puts it on any web server; the number follows "#", so no server sees it.
//
// Teams opens it when the call is answered, so the page reports "answered". The package has
// no state and no goroutines.
package teamspage

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"text/template"

	"wiebelt/internal/text"
)

var (
	//go:embed page.html
	page string
	//go:embed page.js
	js string
	//go:embed page.css
	css string
)

// Render returns the page in a language. It is self-contained: it loads nothing, and its own
// policy prevents anything else from running in it.
func Render(lang text.Language) ([]byte, error) {
	t, err := template.New("page").Parse(page)
	if err != nil {
		return nil, fmt.Errorf("teams page: %w", err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]string{
		"Lang": string(lang), "JS": js, "CSS": css, "Script": source(js), "Style": source(css),
		"Wait": lang.T(text.TeamsWait), "Open": lang.T(text.TeamsOpen), "Close": lang.T(text.TeamsClose), "NoScript": lang.T(text.TeamsNoScript),
	})
	if err != nil {
		return nil, fmt.Errorf("teams page: %w", err)
	}
	return b.Bytes(), nil
}

// source returns the hash that identifies a text in a content security policy.
func source(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
