package outbox

import (
	"context"
	"encoding/json"
	"io"

	"wiebelt/internal/delivery/message"
)

// maxFindings is how many findings an item keeps.
const maxFindings = 20

// Check looks into a file of so many bytes before it is taken, and refuses it with
// an ErrRefused.
type Check func(context.Context, io.ReaderAt, int64) ([]message.Finding, error)

// Inspect is a Check: it looks into a ZIP with package message and refuses what
// should never be sent; with strict also what has warnings.
func Inspect(strict bool) Check {
	return func(ctx context.Context, r io.ReaderAt, size int64) ([]message.Finding, error) {
		report, err := message.Inspect(ctx, r, size, message.Defaults)
		if err != nil {
			return nil, err
		}
		if f := report.Obstacle(strict); f != nil {
			err = &RefusedError{Code: string(f.Code), Why: "the contents are not in order: " + string(f.Code), Findings: report.Findings}
		}
		return report.Findings, err
	}
}

// pack is findings as they are stored.
func pack(found []message.Finding) string {
	if len(found) == 0 {
		return ""
	}
	b, _ := json.Marshal(found[:min(len(found), maxFindings)]) // plain values cannot fail
	return string(b)
}

// Findings is what the check found before the file was taken, the first of them
// at most; nothing in them is of the message itself.
func (it Item) Findings() []message.Finding {
	var found []message.Finding
	if it.found == "" || json.Unmarshal([]byte(it.found), &found) != nil {
		return nil
	}
	return found
}
