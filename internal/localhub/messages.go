package localhub

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/text"
)

// Message is a message in the message box: a ZIP file delivered by a provider.
type Message struct {
	ID               string    `json:"id"`
	Received         time.Time `json:"received"`          // UTC
	Sender           string    `json:"sender"`            // OAuth client
	OrganisationCode string    `json:"organisation_code"` // of the sender
	Intermediary     string    `json:"intermediary"`      // its recipient
	Size             int64     `json:"size"`              // bytes of the ZIP file
	Files            int       `json:"files"`             // in it
	SHA256           string    `json:"sha256"`            // of the ZIP file, in hexadecimal
}

// ErrNoMessage reports that there is no message with that ID.
var ErrNoMessage = text.Errorf(text.OutputHubNoMessage)

const messageColumns = "id, sha256, size, files, received, sender, organisation, intermediary"

func scanMessage(row sqlitefile.Row) (m Message, err error) {
	var ms int64
	err = row.Scan(&m.ID, &m.SHA256, &m.Size, &m.Files, &ms, &m.Sender, &m.OrganisationCode, &m.Intermediary)
	m.Received = time.UnixMilli(ms).UTC()
	return m, err
}

// Messages returns up to limit messages, newest first: those before the one with the ID
// before, or, with "", the newest.
func (d *Data) Messages(ctx context.Context, before string, limit int) ([]Message, error) {
	return collectRows("messages", scanMessage)(d.readDB.QueryContext(ctx, "SELECT "+messageColumns+` FROM messages
 WHERE ?1 = '' OR n < (SELECT n FROM messages WHERE id = ?1) ORDER BY n DESC LIMIT ?2`, before, limit))
}

// CountMessages returns the number of messages.
func (d *Data) CountMessages(ctx context.Context) (int, error) { return d.count(ctx, "messages") }

// Message returns a message, or ErrNoMessage.
func (d *Data) Message(ctx context.Context, id string) (Message, error) {
	m, err := scanMessage(d.readDB.QueryRowContext(ctx, "SELECT "+messageColumns+" FROM messages WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return Message{}, ErrNoMessage
	}
	return m, wrapError("messages", err)
}

func (d *Data) openMessage(m Message) (*os.File, error) {
	name, err := d.messageFile(m.SHA256)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	return f, wrapError("message", err)
}

// Folders of the message box. Incoming files are written to the first, and moved
// to the second once complete and checked. Only then does a database row refer
// to them: a file without a row is not listed, and is removed at the next start.
const (
	incomingFolder = "incoming"
	messagesFolder = "messages"
)

func (d *Data) messageFile(sum string) (string, error) {
	if len(sum) != 2*sha256.Size {
		return "", text.Errorf(text.LocalhubBadDamaged)
	}
	folder, err := d.folder(filepath.Join(messagesFolder, sum[:2]))
	return filepath.Join(folder, sum+".zip"), err
}

// folder returns one of the folders of the message box, creating it if needed.
func (d *Data) folder(name string) (path string, err error) {
	path = filepath.Join(d.dir, name)
	return path, wrapError("message box", os.MkdirAll(path, 0o700))
}

// incomingFile is a ZIP file that has been received but is not listed yet.
type incomingFile struct {
	file  *os.File
	hash  hash.Hash
	size  int64
	files int
	sum   string
}

func (d *Data) newIncomingFile() (*incomingFile, error) {
	folder, err := d.folder(incomingFolder)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(folder, uuid.NewString()+".part"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, wrapError("message", err)
	}
	return &incomingFile{file: f, hash: sha256.New()}, nil
}

func (p *incomingFile) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.size += int64(n)
	_, _ = p.hash.Write(b[:n]) // never fails
	return n, err
}

// seal ends writing and returns when everything written is on disk.
func (p *incomingFile) seal(files int) error {
	p.files, p.sum = files, hex.EncodeToString(p.hash.Sum(nil))
	return errors.Join(p.file.Sync(), p.file.Close())
}

func removeFiles(all []*incomingFile) {
	for _, p := range all {
		_ = p.file.Close()           // perhaps a second time
		_ = os.Remove(p.file.Name()) // it may have been moved
	}
}

// receipt is the result for one item of a request, as sent to the sender.
type receipt struct {
	ID       string    `json:"id"`
	SHA256   string    `json:"sha256"`
	Size     int64     `json:"size"`
	Received time.Time `json:"received"`
	Repeated bool      `json:"repeated"` // it already existed and was not stored again
}

// storeMessages stores all files as messages of the sender, or none. An item
// that already exists, from the same sender and for the same intermediary, keeps
// its first ID. When storeMessages returns without error, everything is on disk.
func (d *Data) storeMessages(ctx context.Context, all []*incomingFile, from client, intermediary string) (receipts []receipt, err error) {
	d.storeMu.Lock() // so that nobody relies on a file that is removed again
	defer d.storeMu.Unlock()
	ctx = context.WithoutCancel(ctx)
	var placed []string
	defer func() {
		if err != nil {
			for _, name := range placed {
				_ = os.Remove(name)
			}
		}
	}()
	folders := map[string]bool{}
	for _, p := range all {
		name, err := d.messageFile(p.sum)
		if err != nil {
			return nil, err
		}
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() == p.size {
			continue
		}
		if err := os.Rename(p.file.Name(), name); err != nil {
			return nil, err
		}
		placed = append(placed, name)
		folders[filepath.Dir(name)] = true
	}
	for f := range folders {
		if err := errors.Join(filetrust.SyncDir(f), filetrust.SyncDir(filepath.Dir(f))); err != nil {
			return nil, err
		}
	}
	now := d.now().UnixMilli()
	err = sqlitefile.Tx(ctx, d.writeDB, func(tx *sql.Tx) error {
		receipts = receipts[:0]
		for _, p := range all {
			id, received, r := uuid.NewString(), int64(0), receipt{SHA256: p.sum, Size: p.size}
			// One that is there already is updated without a change, to get its first id.
			err := tx.QueryRowContext(ctx, "INSERT INTO messages ("+messageColumns+`) VALUES (?,?,?,?,?,?,?,?)
 ON CONFLICT (sha256, intermediary, sender) DO UPDATE SET n = n RETURNING id, received`,
				id, p.sum, p.size, p.files, now, from.id, from.organisation, intermediary).Scan(&r.ID, &received)
			if err != nil {
				return err
			}
			r.Received, r.Repeated = time.UnixMilli(received).UTC(), r.ID != id
			receipts = append(receipts, r)
		}
		return nil
	})
	return receipts, err
}

// sweep removes what an interrupted delivery left behind. Only the hub that
// serves the folder may call it.
func (d *Data) sweep(ctx context.Context) error {
	if err := os.RemoveAll(filepath.Join(d.dir, incomingFolder)); err != nil {
		return wrapError("message box", err)
	}
	files, err := fs.Glob(os.DirFS(d.dir), messagesFolder+"/??/*.zip")
	if err != nil {
		return wrapError("message box", err)
	}
	for _, name := range files {
		listed, err := d.has(ctx, d.readDB, "SELECT 1 FROM messages WHERE sha256 = ?", strings.TrimSuffix(path.Base(name), ".zip"))
		if err == nil && !listed {
			err = os.Remove(filepath.Join(d.dir, filepath.FromSlash(name)))
		}
		if err != nil {
			return wrapError("message box", err)
		}
	}
	return nil
}

// CopyMessage writes the ZIP file of a message and verifies its checksum, which
// is only possible at the end: after an error the output must not be used.
func (d *Data) CopyMessage(m Message, w io.Writer) error {
	f, err := d.openMessage(m)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, sum), f); err != nil {
		return wrapError("message", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		return text.Errorf(text.LocalhubBadDamaged)
	}
	return nil
}
