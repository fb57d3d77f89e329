package desk

import (
	"testing"

	"wiebelt/internal/deskapi"
)

// The doctor's window on a real screen: it asks by itself, rows come while it is
// open, and a click makes a help file that is shown before it is written.
func TestDoctorOnScreen(t *testing.T) {
	s := newScreen(t)
	r := startDesk(t, s, welcome("nl", "light", deskapi.WindowDoctor, ""))
	var run deskapi.DoctorRun
	r.wait(deskapi.KindDoctorRun, &run)
	r.wait(deskapi.KindPainted, nil)
	w := s.window("Controle")
	const red = 0xB3261E
	if n := count(s.shot(w, "doctor-nl-begin"), red); n > 0 {
		t.Errorf("%d red pixels before anything is known", n)
	}
	r.send(deskapi.KindDoctorFound, deskapi.DoctorFound{Seq: run.Seq, ID: "setup", Lines: []deskapi.DoctorLine{{State: "fail", Message: "Nog niet ingevuld: hub.base_url.", Hint: "Vul het in.", Whom: "Beheerder"}}})
	until(t, "the cross and its word in red", func() bool { return count(s.shot(w, "doctor-nl-fail"), red) > 60 })
	r.send(deskapi.KindDoctorDone, deskapi.DoctorDone{Seq: run.Seq, Sentence: "1 controle wijst op een storing."})
	until(t, "the sentence in red", func() bool { return count(s.shot(w, "doctor-nl-done"), red) > 400 })
	s.click(w, 360, 657) // Hulpbestand maken…
	r.wait(deskapi.KindDoctorBundle, nil)
	r.send(deskapi.KindDoctorHolds, deskapi.DoctorHolds{Path: "/tmp/x.zip", Files: []deskapi.DoctorFile{{Name: "doctor.json", Size: 10}}})
	var peek deskapi.DoctorPeek
	r.wait(deskapi.KindDoctorPeek, &peek)
	r.send(deskapi.KindDoctorPiece, deskapi.DoctorPiece{Text: "{\"ok\": false}\n"})
	until(t, "the button that saves, in accent", func() bool { return count(s.shot(w, "doctor-nl-bundle"), accentLight) > 1000 })
	s.click(w, 124, 657)
	var write deskapi.DoctorWrite
	r.wait(deskapi.KindDoctorWrite, &write)
	if write.Path != "/tmp/x.zip" {
		t.Errorf("%q", write.Path)
	}
	r.send(deskapi.KindDoctorWritten, deskapi.DoctorWritten{Path: write.Path})
	r.wait(deskapi.KindDoctorDrop, nil)
	r.send(deskapi.KindQuit, nil)
	r.ended(0)
}
