package guide

import (
	"errors"
	"strings"

	"wiebelt/internal/text"
)

// ReportLevelText says in language l what the phone reports about a call.
func (r Recipe) ReportLevelText(l text.Language) string {
	k := map[ReportLevel]text.Key{RingOnly: text.RecipesRingOnly, RingAndEnd: text.RecipesRingAndEnd,
		AllStates: text.RecipesAllStates}[r.ReportLevel]
	return strings.TrimSpace(l.T(k) + " " + r.ReportLevelNote)
}

// TransfersText says in language l whether the phone reports that a call was passed
// on.
func (r Recipe) TransfersText(l text.Language) string {
	k := map[Transfers]text.Key{TransfersYes: text.RecipesTransfersYes, TransfersNo: text.RecipesTransfersNo,
		TransfersUnknown: text.RecipesTransfersUnknown}[r.Transfer]
	return strings.TrimSpace(l.T(k) + " " + r.TransferNote)
}

// ExplainError explains an error of Fill in language l, and what to do about it.
func ExplainError(l text.Language, err error) string {
	switch {
	case errors.Is(err, ErrSpace):
		return l.T(text.RecipesErrorSpace)
	case errors.Is(err, ErrLong):
		return l.T(text.RecipesErrorLong)
	}
	return l.T(text.RecipesErrorPath)
}
