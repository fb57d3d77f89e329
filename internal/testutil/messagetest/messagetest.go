// Package messagetest creates messages for tests: ZIP files, and the requests
// that contain them.
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

// ZIP returns a ZIP file. The elements of files are alternately names and contents.
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

// Request returns the body of a request that contains the messages.
func Request(messages ...[]byte) string {
	var items []string
	for _, m := range messages {
		items = append(items, `{"message":"`+base64.StdEncoding.EncodeToString(m)+`"}`)
	}
	return `{"data":{"items":[` + strings.Join(items, ",") + `]}}`
}
