// Package messagetest makes messages for tests: ZIP files, and the requests in
// which they are handed over.
package messagetest

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// ZIP is a ZIP file of files: a name, what is in it, the next name.
func ZIP(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = io.WriteString(w, files[i+1])
		}
		must.Do(t, err)
	}
	must.Do(t, z.Close())
	return b.Bytes()
}

// Request is the body of a request that hands messages over.
func Request(messages ...[]byte) string {
	var items []string
	for _, m := range messages {
		items = append(items, `{"message":"`+base64.StdEncoding.EncodeToString(m)+`"}`)
	}
	return `{"data":{"items":[` + strings.Join(items, ",") + `]}}`
}
