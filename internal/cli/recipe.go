package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/guide"
	"wiebelt/internal/text"
)

type recipeCmd struct {
	Name string `arg:"" optional:""`
}

// Run prints one recipe with port, paths and tokens filled in, or the list of recipes.
func (c *recipeCmd) Run(e *env, d profile.Dirs) error {
	s := e.load(d)
	l := e.lang()
	if c.Name == "" {
		w := e.table()
		for _, r := range guide.All(l) {
			fmt.Fprintf(w, "%s\t%s\n", r.ID, r.Title)
		}
		return w.Flush()
	}
	r, ok := guide.Find(l, c.Name)
	if !ok {
		meant := any("")
		if near := guide.Suggest(l, c.Name); len(near) > 0 {
			meant = text.Errorf(text.UsageMeant, strings.Join(near, ", "))
		}
		return usageError(text.RecipesUnknown, meant)
	}
	v, err := fromsettings.RecipeValues(d, s, e.profileDir)
	if err != nil {
		return tokensError(err)
	}
	if !s.Listener.Enabled {
		e.printNotice(text.RecipesOff)
	} else if !s.Listener.HTTP {
		e.printNotice(text.RecipesHTTP)
	}
	return printRecipe(e.out, l, r, v)
}

// tokensError says what to do about tokens that cannot be read.
func tokensError(err error) error {
	if errors.Is(err, secret.ErrDamaged) || errors.Is(err, secret.ErrExposed) {
		return text.Errorf(text.OutputTokensBad, secret.TokensName)
	}
	return text.Errorf(text.OutputTokens, err)
}

func printRecipe(w io.Writer, l text.Language, r guide.Recipe, v guide.Values) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.Title)
	for _, f := range [][2]string{{l.T(text.RecipesReports), r.ReportLevelText(l)}, {l.T(text.RecipesTransfers), r.TransfersText(l)},
		{l.T(text.RecipesVerified), r.VerifiedNote}} {
		fmt.Fprintf(&b, "%s: %s\n", f[0], f[1])
	}
	for _, p := range r.Parts {
		switch {
		case p.Block != nil:
			s, err := p.Block.Fill(v)
			if err != nil {
				s = guide.ExplainError(l, err)
			}
			fmt.Fprintf(&b, "\n%s:\n\n%s\n", v.FillText(p.Block.Caption), s)
		case p.Step > 0:
			fmt.Fprintf(&b, "\n%d. %s\n", p.Step, v.FillText(p.Text))
		default:
			fmt.Fprintf(&b, "\n%s\n", v.FillText(p.Text))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
