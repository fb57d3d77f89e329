package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wiebelt/internal/contact"
	"wiebelt/internal/hub"
	"wiebelt/internal/outbox"
	"wiebelt/internal/profile"
	"wiebelt/internal/resident"
	"wiebelt/internal/settings"
	"wiebelt/internal/text"
)

// Exit codes of deliver (product.md "Commands").
const (
	exitRefused   = 5
	exitUncertain = 6
	exitHold      = 7
)

type deliverCmd struct {
	Send    deliverSendCmd    `cmd:"" default:"withargs" help:"Deliver files (this is what \"wiebelt deliver\" does)."`
	List    deliverListCmd    `cmd:"" help:"Show what is in the outbox."`
	Retry   deliverRetryCmd   `cmd:"" help:"Send what waits or was refused again, now; also lifts a hold."`
	Forget  deliverForgetCmd  `cmd:"" help:"Delete items with their copies and receipts, delivered or not."`
	Receipt deliverReceiptCmd `cmd:"" help:"Show what the hub said about an item."`
	Resolve deliverResolveCmd `cmd:"" help:"Decide an item that is maybe delivered."`
	Service deliverServiceCmd `cmd:"" help:"Print what a server needs to deliver a folder by itself: a systemd unit, or a task for the Windows Task Scheduler."`
}

// Help is what "wiebelt deliver --help" says below the commands.
func (*deliverCmd) Help() string {
	return `    wiebelt deliver FILE... [--no-wait] [--json] [--dry-run] [--strict] [--max-age 4h] [--intermediary NAME]
    wiebelt deliver --build MESSAGE.xml ATTACHMENT...
    wiebelt deliver --watch DIR
    wiebelt deliver service systemd|task

"wiebelt deliver send --help" lists every flag.

` + aboutDeliver
}

// deliverPlace is how every deliver command finds its outbox.
type deliverPlace struct {
	dirs profile.Dirs
	s    *settings.Settings
	lang text.Language
}

func (e *env) deliverPlace() (deliverPlace, error) {
	d, err := e.dirs()
	if err != nil {
		return deliverPlace{}, err
	}
	if err := d.Make(); err != nil {
		return deliverPlace{}, err
	}
	s := e.load(d)
	return deliverPlace{d, s, resident.Language(s)}, nil
}

func (p deliverPlace) dir() string { return filepath.Join(p.dirs.State, "outbox") }

// options are those that the settings give.
func (p deliverPlace) options() outbox.Options {
	d := p.s.Delivery
	return outbox.Options{Dir: p.dir(), Uncertain: d.Uncertain, Duplicate: d.Duplicate, ItemsPerRequest: d.ItemsPerRequest,
		KeepSent: d.KeepSent, KeepRefused: d.KeepRefused, Tick: 250 * time.Millisecond}
}

// open opens the outbox and says what became of a damaged one.
func (p deliverPlace) open(e *env, o outbox.Options) (*outbox.Outbox, error) {
	b, err := outbox.Open(e.ctx, o)
	if err != nil {
		return nil, p.troubled(err)
	}
	if b.SetAside() != "" {
		fmt.Fprintln(e.err, "wiebelt:", p.lang.T(text.DeliveryAside))
	}
	return b, nil
}

// troubled is trouble in the words of people, for all to see.
func (p deliverPlace) troubled(err error) error {
	var t *outbox.Trouble
	if errors.As(err, &t) {
		return &exitError{exitFailed, p.trouble(t)}
	}
	return err
}

func (p deliverPlace) trouble(t *outbox.Trouble) string {
	return p.lang.T(text.DeliveryTrouble, p.lang.T(text.DeliveryTroubleOf(t.Kind)), p.lang.T(text.DeliveryTroubleDo(t.Kind)))
}

func (p deliverPlace) admin() string { return cmp.Or(p.s.Support.Contact, p.lang.T(text.CardAdmin)) }

func (p deliverPlace) held(why outbox.Reason) string {
	return p.lang.T(text.DeliveryHold, p.lang.T(text.DeliveryReason(string(why))), p.admin())
}

// why says why an item stands where it stands, in a few words.
func (p deliverPlace) why(reason string, status int) string {
	s := ""
	if reason != "" {
		s = p.lang.T(text.DeliveryReason(reason))
	}
	if status != 0 {
		if s != "" {
			s += ", "
		}
		s += p.lang.T(text.DeliveryStatusCode, status)
		if status == http.StatusNotFound {
			s += p.lang.T(text.DeliveryNotFound)
		}
	}
	return s
}

// hubs makes a client for each intermediary, once. Safe for concurrent use.
type hubs struct {
	p   deliverPlace
	log *slog.Logger

	mu  sync.Mutex
	all map[string]*hub.Client
}

// to is the client for an intermediary. Its errors are those of a hub that is not
// set up.
func (h *hubs) to(intermediary string) (outbox.Deliverer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.all[intermediary]; c != nil {
		return c, nil
	}
	c, err := h.client(intermediary)
	if err != nil {
		return nil, &contact.LookupError{Failure: contact.NotSetUp, Detail: err.Error()}
	}
	if h.all == nil {
		h.all = map[string]*hub.Client{}
	}
	h.all[intermediary] = c
	return c, nil
}

func (h *hubs) client(intermediary string) (*hub.Client, error) {
	if intermediary == "" {
		return nil, errors.New("hub.intermediary is missing")
	}
	settings := h.p.s.Hub
	settings.Intermediary = intermediary
	cfg, _, err := resident.HubConfig(h.p.dirs, settings, h.log)
	if err != nil {
		return nil, err
	}
	return hub.New(cfg)
}

func (h *hubs) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.all {
		c.Close()
	}
}

type deliverSendCmd struct {
	Wait         bool          `default:"true" negatable:"" help:"Wait until every file is decided (default); --no-wait only puts the files into the outbox and prints their ids."`
	JSON         bool          `name:"json" help:"Print one JSON object at the end, see below."`
	Intermediary string        `help:"Message box to deliver to, instead of hub.intermediary." placeholder:"NAME"`
	Build        bool          `help:"Make one message of the first file (XML) and the others (attachments), and deliver that."`
	DryRun       bool          `name:"dry-run" help:"Only check the files; nothing is kept or sent."`
	Strict       bool          `help:"Refuse files with warnings, too."`
	Uncertain    string        `help:"What happens to a message that is maybe delivered: hold (a person resolves it) or retry (it may arrive twice)." enum:"hold,retry," default:""`
	Duplicate    string        `help:"What happens to a file that was delivered before: skip, send or refuse." enum:"skip,send,refuse," default:""`
	MaxAge       time.Duration `name:"max-age" help:"Give a file up that is not delivered after this long, instead of after three days." placeholder:"4h"`
	Report       string        `help:"Folder for the report; otherwise in the profile." placeholder:"DIR" type:"path"`
	Watch        string        `help:"Deliver what is put into DIR, until stopped. A file counts when it has stopped growing; it is moved to DIR/sent or DIR/refused." placeholder:"DIR" type:"path"`
	Files        []string      `arg:"" optional:"" sep:"none" help:"Files, folders (their .zip files), patterns such as out/*.zip, and @list.txt with one of these a line."`
}

// Help is what "wiebelt deliver --help" says below the flags.
func (*deliverSendCmd) Help() string {
	return aboutDeliver
}

const aboutDeliver = `Every file is copied into the outbox before it counts. The outbox outlives restarts, sleep and a network that is gone; what is in it goes out as long as one "wiebelt deliver" waits, or Wiebelt runs.

Exit codes: 0 every file was delivered, 5 some were refused, 6 some are maybe delivered or still waiting, 7 the queue is on hold until an administrator acts; 1 a file could not be put into the outbox, or there was none. The highest that applies counts, but 1 before all.

When the waiting ends, one line counts the files, and report-TIME.json and report-TIME.csv say what became of each.

--json prints what the report holds: started, ended, exit, hold (why the queue is on hold, "" if it is not), summary (delivered, refused, uncertain, waiting, not_taken), report (path), and files: file, id, sha256, size, outcome (delivered, refused, uncertain, waiting, not_taken), reason, status, attempts, duplicate, added, first_try, last_try, decided, findings (of the look into the file: code, severity, entry, element, line). Times are RFC 3339 or "".

With --watch it prints one such object a file, on a line of its own.`

// Run implements the command.
func (c *deliverSendCmd) Run(e *env) error {
	switch {
	case c.Watch != "" && (len(c.Files) > 0 || c.Build || c.DryRun || !c.Wait):
		return &exitError{exitUsage, "--watch goes without files, --build, --dry-run and --no-wait"}
	case c.Watch == "" && len(c.Files) == 0:
		return &exitError{exitUsage, "give the files to deliver, or --watch DIR; see wiebelt deliver --help"}
	case c.MaxAge < 0:
		return &exitError{exitUsage, "--max-age: a time such as 4h"}
	}
	p, err := e.deliverPlace()
	if err != nil {
		return err
	}
	sources, err := c.sources(p)
	if err != nil {
		return err
	}
	if c.DryRun {
		return c.dryRun(e, p, sources)
	}
	h := &hubs{p: p, log: slog.New(slog.DiscardHandler)}
	defer h.close()
	if _, err := h.to(c.intermediary(p)); err != nil {
		return &exitError{exitFailed, "not set up: " + strings.TrimPrefix(detailOf(err), "not set up: ")}
	}
	o := p.options()
	o.Hub, o.Check = h.to, outbox.Inspect(c.Strict)
	o.Uncertain, o.Duplicate = cmp.Or(c.Uncertain, o.Uncertain), cmp.Or(c.Duplicate, o.Duplicate)
	run := &delivery{e: e, p: p, cmd: c}
	o.Progress = run.progress
	if run.b, err = p.open(e, o); err != nil {
		return err
	}
	defer func() { _ = run.b.Close() }()
	if c.Watch != "" {
		return run.watch()
	}
	return run.send(sources)
}

func (c *deliverSendCmd) intermediary(p deliverPlace) string {
	return cmp.Or(c.Intermediary, p.s.Hub.Intermediary)
}

func detailOf(err error) string {
	var l *contact.LookupError
	if errors.As(err, &l) {
		return l.Detail
	}
	return err.Error()
}

// dryRun checks and tells, and keeps nothing.
func (c *deliverSendCmd) dryRun(e *env, p deliverPlace, sources []outbox.Source) error {
	check := checker(outbox.Inspect(c.Strict))
	var all []deliverFile
	refused := 0
	for _, s := range sources {
		f := deliverFile{File: s.Path, Outcome: "waiting"}
		if err := tryFile(e.ctx, s, p.dirs.Run, check, &f); err != nil {
			f.refuse(p, err)
			refused++
		}
		all = append(all, f)
		if !c.JSON {
			word := p.lang.T(text.DeliveryWouldSend)
			if f.Outcome != "waiting" {
				word = p.lang.T(text.DeliveryState(f.Outcome)) + ": " + f.Why
			} else if mind := f.mind(p.lang); mind != "" {
				word += "; " + mind
			}
			fmt.Fprintf(e.out, "%s: %s\n", oneLine(f.File), oneLine(word))
		}
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
	}
	if c.JSON {
		if err := json.NewEncoder(e.out).Encode(map[string]any{"files": all}); err != nil {
			return err
		}
	}
	if refused > 0 {
		return &exitError{exitRefused, ""}
	}
	return nil
}

// delivery is one run of the command.
type delivery struct {
	e   *env
	p   deliverPlace
	cmd *deliverSendCmd
	b   *outbox.Outbox
	bar atomic.Pointer[deliverBar] // set once the files are in the outbox

	files   []deliverFile
	started time.Time
}

// send puts the files into the outbox and, unless told otherwise, waits for them.
func (r *delivery) send(sources []outbox.Source) error {
	r.started = time.Now()
	ctx, cancel := context.WithCancel(r.e.ctx)
	defer cancel()
	stop := make(chan struct{})
	worked := make(chan error, 1)
	if r.cmd.Wait {
		// Who asks for a delivery may have mended what held the queue.
		if err := r.b.Release(ctx); err != nil {
			return r.p.troubled(err)
		}
		go func() { worked <- r.b.Join(ctx, stop) }()
	}
	add := r.add(ctx, sources)
	if !r.cmd.Wait {
		return r.handedOver(add)
	}
	err := r.follow(ctx)
	close(stop)
	if werr := <-worked; err == nil {
		err = werr
	}
	return r.finish(add, err)
}

// add takes the files. An error is about the outbox; what is wrong with a file
// stands in r.files.
func (r *delivery) add(ctx context.Context, sources []outbox.Source) error {
	var broken error
	for _, s := range sources {
		f := deliverFile{File: s.Path}
		if broken == nil && ctx.Err() != nil {
			broken = ctx.Err()
		}
		if broken != nil {
			f.Outcome = notTaken
			r.files = append(r.files, f)
			continue
		}
		a, err := r.b.Add(ctx, s)
		switch {
		case err == nil:
			f.take(a)
		case errors.Is(err, outbox.ErrDuplicate):
			f.take(a)
			f.final, f.Outcome, f.Reason = true, string(outbox.Refused), "duplicate"
			f.Why = r.first(a.Item)
		case errors.Is(err, outbox.ErrRefused):
			f.refuse(r.p, err)
		default:
			broken = err
			f.Outcome = notTaken
		}
		if a.Duplicate && !f.final {
			fmt.Fprintf(r.e.err, "%s: %s\n", oneLine(f.File), r.first(a.Item))
		}
		r.files = append(r.files, f)
	}
	return broken
}

func (r *delivery) first(it outbox.Item) string {
	return r.p.lang.T(text.DeliveryFirst, it.Added.Local().Format("02-01-2006 15:04:05"))
}

// handedOver ends --no-wait.
func (r *delivery) handedOver(add error) error {
	var end error
	code := exitDone
	switch n := r.count(); {
	case add != nil:
		code, end = exitFailed, r.p.troubled(add)
	case n.Refused > 0:
		code, end = exitRefused, &exitError{exitRefused, ""}
	case n.Waiting > 0 && !r.b.Busy():
		code, end = exitUncertain, &exitError{exitUncertain, r.p.lang.T(text.DeliveryNobody)}
	}
	if r.cmd.JSON {
		if err := r.print(r.report(code, "", "")); err != nil {
			return err
		}
	} else {
		for _, f := range r.files {
			if f.ID != "" {
				fmt.Fprintf(r.e.out, "%s  %s\n", f.ID, oneLine(f.File))
			} else {
				fmt.Fprintf(r.e.err, "%s: %s\n", oneLine(f.File), oneLine(f.words(r.p)))
			}
		}
	}
	return end
}

// patienceWithDisk is how long the command waits for a disk that fails.
const patienceWithDisk = time.Minute

var errHeld = errors.New("on hold")

// follow waits until all files are decided. It gives errHeld if the queue is held
// before, and the trouble that lasts too long.
func (r *delivery) follow(ctx context.Context) error {
	var ids []string
	var total int64
	for _, f := range r.files {
		if f.ID != "" && !f.final {
			ids = append(ids, f.ID)
			total += f.Size
		}
	}
	bar := newDeliverBar(r.e.err, total, r.p.lang.T(text.DeliveryProgress))
	r.bar.Store(bar)
	defer bar.end()
	said := outbox.Reason("")
	var troubled time.Time
	var failed error
	// Trouble does not change while it lasts: looked at again every second.
	for ctx.Err() == nil {
		enough := false
		turn, end := context.WithTimeout(ctx, time.Second)
		err := r.b.Follow(turn, ids, func(items []outbox.Item, q outbox.Queue, t *outbox.Trouble) bool {
			left := 0
			for _, it := range items {
				if !it.State.Over() {
					left++
				}
			}
			bar.items(items)
			switch {
			case left == 0:
				enough = true
			case q.Held != "":
				enough, failed = true, errHeld
			case t != nil:
				if troubled.IsZero() {
					troubled = time.Now()
					bar.say(r.e.err, "wiebelt: "+r.p.trouble(t))
				} else if time.Since(troubled) > patienceWithDisk {
					enough, failed = true, t
				}
			default:
				troubled = time.Time{}
			}
			if q.Paused != "" && q.Paused != said {
				said = q.Paused
				bar.say(r.e.err, "wiebelt: "+r.p.lang.T(text.DeliveryWaits, r.p.why(string(said), 0)))
			}
			return enough
		})
		end()
		if err != nil {
			return err
		}
		if enough {
			return failed
		}
	}
	return nil
}

// finish counts, reports and gives the exit code.
func (r *delivery) finish(add, followed error) error {
	held := outbox.Reason("")
	// The command was stopped, perhaps: what became of the files is still read.
	ctx := context.WithoutCancel(r.e.ctx)
	if q, err := r.b.Queue(ctx); err == nil {
		held = q.Held
	}
	var ids []string
	for _, f := range r.files {
		ids = append(ids, f.ID)
	}
	items, err := r.b.Items(ctx, ids)
	if err != nil {
		return r.p.troubled(err)
	}
	r.update(items)
	n := r.count()
	code := exitDone
	if n.Refused > 0 {
		code = exitRefused
	}
	if n.Uncertain+n.Waiting > 0 {
		code = exitUncertain
	}
	if n.Waiting > 0 && held != "" {
		code = exitHold
	}
	if n.NotTaken > 0 {
		code = exitFailed
	}
	return r.conclude(code, held, add, followed)
}

func (r *delivery) conclude(code int, held outbox.Reason, add, followed error) error {
	n := r.count()
	if code != exitHold {
		held = ""
	}
	report := r.report(code, held, "")
	path, err := writeReport(cmp.Or(r.cmd.Report, filepath.Join(r.p.dir(), outbox.ReportsName)), r.started, &report)
	if err != nil {
		fmt.Fprintf(r.e.err, "wiebelt: %s: %s\n", r.p.lang.T(text.DeliveryNoReport), oneLine(detailPath(err)))
	}
	if r.cmd.JSON {
		if err := r.print(report); err != nil {
			return err
		}
	} else {
		r.complain()
		fmt.Fprintln(r.e.out, r.p.lang.T(text.DeliveryDone, n.Delivered, n.Refused, n.Uncertain, n.Waiting))
		if n.Uncertain > 0 {
			fmt.Fprintln(r.e.err, r.p.lang.T(text.DeliveryResolve))
		}
		if path != "" {
			fmt.Fprintln(r.e.err, r.p.lang.T(text.DeliveryReport, path))
		}
	}
	var t *outbox.Trouble
	switch {
	case code == exitHold:
		return &exitError{code, r.p.held(held)}
	case errors.As(add, &t), errors.As(followed, &t):
		return &exitError{cmp.Or(code, exitFailed), r.p.trouble(t)}
	case add != nil && !errors.Is(add, context.Canceled):
		return &exitError{exitFailed, add.Error()}
	case followed != nil && !errors.Is(followed, errHeld):
		return &exitError{cmp.Or(code, exitFailed), followed.Error()}
	case code != exitDone:
		return &exitError{code, ""}
	}
	return nil
}

func detailPath(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// maxComplaints is how many files are named on the screen.
const maxComplaints = 20

// complain names what was not delivered, then what is odd about the others.
func (r *delivery) complain() {
	r.each(func(f *deliverFile) string {
		if f.Outcome == string(outbox.Delivered) {
			return ""
		}
		return f.words(r.p)
	})
	r.each(func(f *deliverFile) string {
		if f.Duplicate || f.Outcome == string(outbox.Refused) || f.Outcome == notTaken {
			return "" // that was said before
		}
		return f.mind(r.p.lang)
	})
}

// each prints a line for every file that there is something to say about.
func (r *delivery) each(say func(*deliverFile) string) {
	named := 0
	for i := range r.files {
		what := say(&r.files[i])
		if what == "" {
			continue
		}
		if named++; named <= maxComplaints {
			fmt.Fprintf(r.e.err, "%s: %s\n", oneLine(r.files[i].File), oneLine(what))
		}
	}
	if named > maxComplaints {
		fmt.Fprintln(r.e.err, r.p.lang.N(text.DeliveryMore, named-maxComplaints))
	}
}
