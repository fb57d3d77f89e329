package e2e

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/phonetest"
	"wiebelt/internal/testutil/xtest"
)

// notifications measures notify-send with dunst in the same way.
func notifications(b *testing.B, t *table, n int) (median float64) {
	b.Helper()
	s := xtest.Start(b, "openbox", xtest.Options{Width: width, Height: height})
	s.Bus()
	config := filepath.Join(s.Dir, "dunstrc")
	const colours = "[global]\ngeometry = \"380x100-16+16\"\norigin = top-right\noffset = 16x16\nwidth = 380\nframe_width = 0\nfont = Sans 12\n" +
		"[urgency_normal]\nbackground = \"#0B6BCB\"\nforeground = \"#FFFFFF\"\ntimeout = 0\n"
	must.Do(b, os.WriteFile(config, []byte(colours), 0o600))
	dunst := s.Spawn("dunst", "-config", config)
	s.Until("dunst answers", func() bool { return s.Command("dunstctl", "is-paused").Run() == nil })
	box := image.Rect(width-16-200, 16, width-16, 16+60)
	blue := color.RGBA{0x0b, 0x6b, 0xcb, 255}
	shown := func() bool {
		img := s.Crop(box)
		return xtest.Near(img.RGBAAt(width-18, 20), blue, 3)
	}
	var all []time.Duration
	for i := range n {
		cmd := s.Command("notify-send", "Inkomende oproep", fmt.Sprintf("0698%06d", i))
		began := time.Now()
		must.Do(b, cmd.Start())
		for !shown() {
			if time.Since(began) > 10*time.Second {
				b.Fatal("dunst shows nothing")
			}
		}
		all = append(all, time.Since(began))
		_ = cmd.Wait()
		s.Run("dunstctl", "close-all")
		s.Until("the notification is gone", func() bool { return !shown() })
	}
	t.times("notify-send → painted by dunst", all, limit{})
	t.figure("dunst, resident memory", float64(memory(b, dunst.Process.Pid))/1024, 0, "MB")
	return t.value["notify-send → painted by dunst"][0]
}

// sipCalls measures the time from the INVITE at baresip to the contact on
// screen, and its parts.
func sipCalls(b *testing.B, t *table, n int) {
	b.Helper()
	sip, control := phonetest.StartBaresip(b)
	control, reported := listenIn(b, control, "CALL_INCOMING")
	s := openStage(b, 1, "[[softphone]]\nkind = \"baresip\"\nname = \"baresip\"\naddress = \""+control+"\"\n")
	s.Until("the link is up", func() bool { return strings.Contains(s.log.String(), "state=connected") })
	line := must.Get(net.Dial("udp", sip))(b)
	defer line.Close()
	s.hold.Store(true)
	defer s.hold.Store(false)
	var all, phone, engineTime, hub, card, drawing, screen []time.Duration
	for i := range n {
		p := s.person(pause)
		num := "+31" + p.Numbers[0][1:]
		began := time.Now()
		pic := s.picture(p, num, engine.OutcomeFound)
		drawing = append(drawing, time.Since(began))
		began = time.Now()
		s.Crop(pic.Rect)
		screen = append(screen, time.Since(began))
		e := s.eye(p, num, engine.OutcomeFound)
		c := invitation{line: line, sip: sip, number: num, id: fmt.Sprintf("bench-%d-%d", os.Getpid(), i)}
		s.release <- struct{}{}
		began = time.Now()
		c.invite(b)
		painted := e.wait(b, "the caller of an INVITE")
		heard, looked := <-reported, <-s.looked
		all, phone = append(all, painted.Sub(began)), append(phone, heard.Sub(began))
		engineTime, hub = append(engineTime, looked.asked.Sub(heard)), append(hub, looked.answered.Sub(looked.asked))
		card = append(card, painted.Sub(looked.answered))
		c.cancel(b)
		s.Until("the card is gone", s.empty)
	}
	t.times("SIP INVITE at baresip → contact painted", all, limit{p50: 6})
	t.times("  phone: INVITE → its report", phone, limit{})
	t.times("  hand-over and engine: report → the hub is asked", engineTime, limit{})
	t.times("  hub: its answer", hub, limit{})
	t.times("  engine, paint and X server: answer → contact painted", card, limit{})
	t.times("    drawing such a card anew", drawing, limit{})
	t.times("    X server: such a picture read back", screen, limit{})
}

// listenIn is a proxy between a client and the server at address, and reports when
// the server sends word.
func listenIn(b testing.TB, address, word string) (own string, said <-chan time.Time) {
	b.Helper()
	heard := make(chan time.Time, 1)
	r := newRelay(b, address, func() (sent, got func([]byte)) {
		return func([]byte) {}, func(p []byte) {
			if bytes.Contains(p, []byte(word)) {
				select {
				case heard <- time.Now():
				default: // no one is waiting, and the connection must go on
				}
			}
		}
	})
	return r.Addr().String(), heard
}

// invitation is a call as sent on the wire.
type invitation struct {
	line            net.Conn
	sip, number, id string
}

func (c invitation) send(b testing.TB, method, to, body string) {
	b.Helper()
	me := c.line.LocalAddr().String()
	m := method + " sip:101@" + c.sip + " SIP/2.0\r\nVia: SIP/2.0/UDP " + me + ";branch=z9hG4bK" + c.id + "\r\nMax-Forwards: 70\r\n" +
		"From: <sip:" + c.number + "@127.0.0.1>;tag=f" + c.id + "\r\nTo: <sip:101@" + c.sip + ">" + to + "\r\nCall-ID: " + c.id + "\r\nCSeq: 1 " + method +
		"\r\nContact: <sip:bench@" + me + ">\r\n"
	if body != "" {
		m += "Content-Type: application/sdp\r\n"
	}
	m += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	must.Get(c.line.Write([]byte(m)))(b)
}

func (c invitation) invite(b testing.TB) {
	c.send(b, "INVITE", "", "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40000 RTP/AVP 0 8\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\n")
}

// cancel cancels the call and acknowledges the phone's answer.
func (c invitation) cancel(b testing.TB) {
	b.Helper()
	c.send(b, "CANCEL", "", "")
	buf := make([]byte, 8192)
	for {
		_ = c.line.SetReadDeadline(time.Now().Add(5 * time.Second))
		n, err := c.line.Read(buf)
		if err != nil {
			b.Fatalf("the phone does not give the call up: %v", err)
		}
		m := string(buf[:n])
		if !strings.HasPrefix(m, "SIP/2.0 487") || !strings.Contains(m, c.id) {
			continue
		}
		tag := ""
		for l := range strings.SplitSeq(m, "\r\n") {
			if v, ok := strings.CutPrefix(l, "To: "); ok {
				if _, after, ok := strings.Cut(v, ";tag="); ok {
					tag = ";tag=" + after
				}
			}
		}
		c.send(b, "ACK", tag, "")
		return
	}
}

// browser measures opening a browser's window.
func browser(b *testing.B, t *table) {
	b.Helper()
	dir := b.TempDir()
	s := xtest.Start(b, "openbox", xtest.Options{Width: width, Height: height})
	s.Bus()
	page := filepath.Join(dir, "page.html")
	must.Do(b, os.WriteFile(page, []byte("<!doctype html><title>page</title><style>html{background:#1b7f4b}</style>"), 0o600))
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	var all []time.Duration
	var most int
	for i := range 4 {
		cmd := s.Command("chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
			"--disable-sync", "--password-store=basic", "--user-data-dir="+filepath.Join(dir, "chromium"), "--window-position=700,100", "--window-size=500,400", "--app=file://"+page)
		began := time.Now()
		must.Do(b, cmd.Start())
		for !xtest.Near(s.Pixel(900, 300), color.RGBA{0x1b, 0x7f, 0x4b, 255}, 3) {
			if ctx.Err() != nil {
				b.Fatal("the browser shows nothing")
			}
		}
		if i > 0 { // the first start creates its profile
			all = append(all, time.Since(began))
		}
		most = max(most, family(b, cmd.Process.Pid))
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		s.Until("the browser's window is gone", func() bool { return !xtest.Near(s.Pixel(900, 300), color.RGBA{0x1b, 0x7f, 0x4b, 255}, 3) })
	}
	t.times("Chromium --app window, start → painted", all, limit{})
	t.figure("Chromium --app window, memory of its processes", float64(most)/1024, 0, "MB")
}

// wineRings measures the start of wiebelt-ring under wine, compared with a
// program that does nothing.
func wineRings(b *testing.B, t *table, n int) {
	b.Helper()
	dir := windowsPrograms(b)
	p, o := wineOffice(b, dir)
	o.startsUnderWine(p, dir)
	nothing := buildNothing(b, forWindows...)
	var ours, empty []time.Duration
	for i := range n {
		ours = append(ours, ran(b, p.Command(filepath.Join(dir, "wiebelt-ring.exe"), "--profile", wineProfile, "--state", "ended", "--id", strconv.Itoa(i))))
		empty = append(empty, ran(b, p.Command(nothing)))
	}
	t.times("under wine: wiebelt-ring, start → exit", ours, limit{})
	t.times("  an empty Go program", empty, limit{})
	t.below("under wine: wiebelt-ring, median", "an empty Go program, median", t.value["under wine: wiebelt-ring, start → exit"][0], t.value["  an empty Go program"][0], 1.3)
}

// family returns the memory of a process and its descendants, with shared pages
// counted once (PSS), in kB.
func family(b testing.TB, root int) int {
	b.Helper()
	parent := map[int]int{}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range all {
		s, err := os.ReadFile(f)
		if err != nil {
			continue // exited meanwhile
		}
		_, rest, _ := strings.Cut(string(s), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
			parent[pid], _ = strconv.Atoi(fields[1])
		}
	}
	sum := 0
	for pid := range parent {
		for p := pid; p > 1; p = parent[p] {
			if p != root {
				continue
			}
			sum += rollup(pid, "Pss:")
			break
		}
	}
	return sum
}

// rollup returns the sum of a process's memory figures whose names begin with name, in kB.
func rollup(pid int, name string) (sum int) {
	s, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for l := range strings.Lines(string(s)) {
		if strings.HasPrefix(l, name) {
			n, _ := strconv.Atoi(strings.Fields(l)[1])
			sum += n
		}
	}
	return sum
}
