package e2e

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// BenchmarkHub measures the local hub with an office's number of contacts, and with ten
// times as many, and writes bin/bench-hub.json.
func BenchmarkHub(b *testing.B) {
	for range b.N {
		t := newTable(b)
		asked := func(contacts int, most limit) *hubProcess {
			dir, file := b.TempDir(), filepath.Join(b.TempDir(), "contacts.csv")
			writeContacts(b, file, contacts)
			value := strings.TrimSpace(succeeds(b, "", "hub", "client", "add", "--data", dir, "--organisation-code", "90210", "bench"))
			began := time.Now()
			succeeds(b, "", "hub", "import", "--data", dir, file)
			took := time.Since(began)
			h := startHubProcess(b, "--data", dir)
			what := fmt.Sprintf("local hub, %d contacts: ", contacts)
			t.times(what+"lookup, at 2,000 a second", h.ask(b, value, contacts, 20_000), most)
			if contacts >= 1_000_000 {
				t.figure(what+"import", took.Seconds(), 60, "s")
			}
			return h
		}
		h := asked(100_000, limit{p99: 2})
		t.figure("local hub, 100000 contacts: memory", float64(memory(b, h.cmd.Process.Pid))/1024, 50, "MB")
		must.Do(b, h.stop())
		must.Do(b, asked(1_000_000, limit{p99: 4}).stop())
		largeMessage(b, t)
		t.print(b, "bench-hub.json")
	}
}

func writeContacts(b *testing.B, file string, n int) {
	b.Helper()
	f := must.Get(os.Create(file))(b)
	defer f.Close()
	w := bufio.NewWriter(f)
	_, _ = w.WriteString("id;backofficerelatienummer;voorletters;voorvoegsel;achternaam;straat;huisnummer;postcode;plaats;telefoon;telefoon2;email\r\n")
	for i := range n {
		fmt.Fprintf(w, "p-%d;%d;J.M.;van der;Naam-%c;Lindelaan;%d;1234AB;Ons Dorp;06-%08d;020 %07d;p%d@example.org\r\n", i, 100000+i, 'A'+i%26, i%200+1, i, i, i)
	}
	must.Do(b, w.Flush())
}

// ask looks up n numbers, 2,000 per second, over 16 connections. Each lookup
// is timed from when it was due, so that waiting for another one counts too.
func (h *hubProcess) ask(b *testing.B, secret string, contacts, n int) (all []time.Duration) {
	b.Helper()
	const connections = 16
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	defer c.CloseIdleConnections()
	token := tokenOf(b, c, h.baseURL, "bench", secret)
	all = make([]time.Duration, n)
	began := time.Now().Add(50 * time.Millisecond)
	var work sync.WaitGroup
	for first := range connections {
		work.Go(func() {
			for i := first; i < n; i += connections {
				due := began.Add(time.Duration(i) * time.Second / 2000)
				time.Sleep(time.Until(due))
				r, _ := http.NewRequestWithContext(b.Context(), "GET", fmt.Sprintf("%s/contact/contacts/telephony?q=06%08d", h.baseURL, i*7919%contacts), nil)
				r.Header.Set("Authorization", "Bearer "+token)
				resp, err := c.Do(r)
				if err != nil {
					b.Error(err)
					return
				}
				answer, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK || !strings.Contains(string(answer), "Naam-") {
					b.Errorf("answer %d", resp.StatusCode)
					return
				}
				all[i] = time.Since(due)
			}
		})
	}
	work.Wait()
	return all
}

// largeMessage measures delivering a ZIP of 500 MB into the message box.
func largeMessage(b *testing.B, t *table) {
	b.Helper()
	dir := b.TempDir()
	value := strings.TrimSpace(succeeds(b, "", "hub", "client", "add", "--data", dir, "--organisation-code", "90210", "bench"))
	h := startHubProcess(b, "--data", dir)
	c := &http.Client{Timeout: 5 * time.Minute}
	defer c.CloseIdleConnections()
	token := tokenOf(b, c, h.baseURL, "bench", value)
	const size = 500 << 20
	f := must.Get(os.Create(filepath.Join(b.TempDir(), "large.zip")))(b)
	defer f.Close()
	z := zip.NewWriter(f)
	w := must.Get(z.CreateHeader(&zip.FileHeader{Name: "scan.tif", Method: zip.Store}))(b)
	block := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for range size / len(block) {
		_, _ = w.Write(block)
	}
	must.Do(b, z.Close())
	idle := statusOf(h.cmd.Process.Pid, "VmHWM")
	must.Get(f.Seek(0, io.SeekStart))(b)
	out, in := io.Pipe()
	go func() {
		_, _ = io.WriteString(in, `{"data":{"items":[{"message":"`)
		e := base64.NewEncoder(base64.StdEncoding, in)
		_, _ = io.CopyBuffer(e, struct{ io.Reader }{f}, make([]byte, 48<<10))
		_ = e.Close()
		_, _ = io.WriteString(in, `"}]}}`)
		_ = in.Close()
	}()
	began := time.Now()
	r := must.Get(http.NewRequestWithContext(b.Context(), "POST", h.baseURL+"/transaction/intermediary", out))(b)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	resp := must.Get(c.Do(r))(b)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b.Errorf("a large message: %d", resp.StatusCode)
	}
	t.figure("local hub, a message of 500 MB", time.Since(began).Seconds(), 0, "s")
	t.figure("  memory above idle", float64(statusOf(h.cmd.Process.Pid, "VmHWM")-idle)/1024, 40, "MB")
}
