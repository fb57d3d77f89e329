package outbox

import (
	"context"
	"encoding/json"
	"io"

	"wiebelt/internal/delivery/message"
)

const maxFindings = 20

// Check inspects a file of the given size before it is added, and may refuse
// it with an ErrRefused.
type Check func(context.Context, io.ReaderAt, int64) ([]message.Finding, error)

// Inspect returns a Check that inspects a ZIP with package message and
// refuses what must never be sent and, if strict, also what has warnings.
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

// pack encodes findings for storage.
func pack(found []message.Finding) string {
	if len(found) == 0 {
		return ""
	}
	b, _ := json.Marshal(found[:min(len(found), maxFindings)]) // cannot fail: plain values
	return string(b)
}

// Findings returns the check's findings from before the file was added, at most the first
// maxFindings; they contain nothing from the message itself.
func (it Item) Findings() []message.Finding {
	var found []message.Finding
	if it.packedFindings == "" || json.Unmarshal([]byte(it.packedFindings), &found) != nil {
		return nil
	}
	return found
}
