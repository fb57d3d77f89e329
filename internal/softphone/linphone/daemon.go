package linphone

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"wiebelt/internal/softphone/link"
)

const (
	// maxAnswer is the longest accepted answer in bytes; those about calls are below 1 KiB.
	maxAnswer = 16 << 10
	// maxRest limits how much is discarded after an answer about something else,
	// such as a text message.
	maxRest    = 8 << 20
	quietTime  = 30 * time.Millisecond
	startTime  = 30 * time.Second // the socket exists some seconds before the daemon answers
	answerTime = 10 * time.Second
)

var (
	// errNotServed means that the connection closed before the first answer: another
	// client is being served.
	errNotServed = errors.New("linphone-daemon serves another program")
	errAnswer    = errors.New("bytes are not an answer of linphone-daemon")
)

// daemon is a connection with one command at a time: the daemon treats everything it
// reads at once as one command.
type daemon struct {
	conn     net.Conn
	buf      [maxAnswer]byte
	answered bool
}

// ask sends a command and returns the answer, whose text is valid until the next call.
func (d *daemon) ask(command string) (answer, error) {
	limit := answerTime
	if !d.answered {
		limit = startTime
	}
	_ = d.conn.SetDeadline(time.Now().Add(limit))
	_, _ = io.WriteString(d.conn, command+"\n") // failures surface on reading
	for n := 0; ; {
		m, err := d.conn.Read(d.buf[n:])
		n += m
		text := bytes.TrimLeft(d.buf[:n], "\r\n") // of the previous answer
		if a, whole := parse(text); whole {
			d.answered = true
			if a.foreign {
				// It contains foreign text, which may look like an answer.
				return a, d.discardRest()
			}
			return a, nil
		}
		switch {
		case !plausible(text):
			return answer{}, errAnswer
		case err != nil:
			return answer{}, d.connError(err)
		case n == len(d.buf):
			return answer{}, errAnswer
		}
	}
}

// discardRest discards the remainder of an answer: the daemon writes it in one go, so it is
// complete when nothing more arrives.
func (d *daemon) discardRest() error {
	for n := 0; n < maxRest; {
		_ = d.conn.SetReadDeadline(time.Now().Add(quietTime))
		m, err := d.conn.Read(d.buf[:])
		n += m
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return d.connError(err)
		}
	}
	return errAnswer
}

// connError maps an error of the connection to its meaning.
func (d *daemon) connError(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		if !d.answered {
			return errNotServed
		}
		return link.ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("linphone-daemon does not answer")
	}
	return fmt.Errorf("speak with linphone-daemon: %w", err)
}

// answer holds the fields used of an answer. If a key occurs twice, the first counts.
type answer struct {
	ok        bool
	queued    bool   // more events are waiting
	foreign   bool   // an event that is not about a call's state
	event     string // of an event: the call's state, "LinphoneCallIncomingReceived"
	id        string // of an event
	state     string // of call-status: as event
	from      string // name-addr: of an event the caller, of call-status the other side
	direction string // of call-status, while they talk: "in" or "out"
}

// plausible reports whether text can become an answer.
func plausible(text []byte) bool {
	const status = "Status: "
	n := min(len(text), len(status))
	return string(text[:n]) == status[:n]
}

// parse reads an answer, which may be incomplete. Only blank lines end one:
//
//	Status: Error\nReason: …\n
//	Status: Ok\n\nSize: 0\n\n
//	Status: Ok\n\nSize: 2\nEvent-type: call-state-changed\n\nEvent: …\nFrom: …\nId: 1\n\n\n\n
//	Status: Ok\n\nState: …\nFrom: …\nDirection: in\nDuration: 6\n\n
func parse(text []byte) (a answer, whole bool) {
	part := func(prefix string) bool { return bytes.HasPrefix(text, []byte(prefix)) }
	switch {
	case part("Status: Error\n"):
		return answer{}, bytes.Count(text, []byte("\n")) > 1 && text[len(text)-1] == '\n'
	case !part("Status: Ok\n"):
		return answer{}, false
	}
	body := strings.TrimLeft(string(text[len("Status: Ok\n"):]), "\n")
	end := strings.HasSuffix(body, "\n\n")
	a.ok = true
	if size, rest, found := key(body, "Size"); found {
		a.queued = size != "0"
		kind, rest, found := key(rest, "Event-type")
		if !found {
			return a, end
		}
		body = strings.TrimLeft(rest, "\n")
		if kind != "call-state-changed" {
			a.foreign = true
			return a, true
		}
		end = end && body != ""
	}
	fields := map[string]*string{"Event": &a.event, "State": &a.state, "From": &a.from, "Id": &a.id, "Direction": &a.direction}
	for line := range strings.Lines(body) {
		name, value, _ := strings.Cut(line, ":")
		if field := fields[name]; field != nil && *field == "" {
			*field = strings.TrimSpace(value)
		}
	}
	return a, end
}

// key parses the first line if it is complete and has the given name.
func key(s, name string) (value, rest string, found bool) {
	line, rest, whole := strings.Cut(s, "\n")
	if n, v, _ := strings.Cut(line, ":"); whole && n == name {
		return strings.TrimSpace(v), rest, true
	}
	return "", s, false
}
