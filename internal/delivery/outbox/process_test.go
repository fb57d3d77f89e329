package outbox

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"wiebelt/internal/hub"
	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

// roles are the processes that tests start; the arguments of hub and client
// are a folder, the hub's address and a seed.
var roles = processtest.Roles{"hub": hubProcess, "client": clientProcess}

// hubProcess is a local hub that stores what it accepts, and is slow every second time.
func hubProcess(t must.Test, args []string) {
	seed := must.Get(strconv.ParseUint(args[2], 10, 64))(t)
	h := must.Get(localhub.Start(context.Background(), localhub.Config{Dir: args[0], Listen: args[1]}))(t)
	if seed%2 == 0 {
		h.Faults().Set(localhub.EndpointTransaction, localhub.Fault{Delay: 8 * time.Millisecond})
	}
	must.Do(t, h.SetClientSecret(context.Background(), "office", "1234", "geheim"))
	fmt.Println("ready", h.BaseURL())
	_, _ = io.Copy(io.Discard, os.Stdin) // until the other end is gone
}

// filesARound is how many files a client adds.
const filesARound = 12

// clientProcess adds files, prints each one added, and delivers them.
func clientProcess(t must.Test, args []string) {
	dir, seed := args[0], must.Get(strconv.ParseUint(args[2], 10, 64))(t)
	ctx := context.Background()
	c := must.Get(hub.New(hub.Config{BaseURL: args[1], ClientID: "office", OrganisationCode: "1234",
		Intermediary: "intermediary", Proxy: "none", Secret: func(context.Context) (string, error) { return "geheim", nil }}))(t)
	b := must.Get(Open(ctx, Options{Dir: dir, Hub: to(c), firstWait: time.Millisecond, Tick: 5 * time.Millisecond,
		Policy: Policy{Uncertain: UncertainRetry}}))(t)
	if b.AsidePath() != "" {
		t.Fatal("the database was damaged")
	}
	go func() { must.Do(t, b.Work(ctx, nil)) }()
	random := rand.New(rand.NewPCG(seed, 7))
	for i := range filesARound {
		name := filepath.Join(filepath.Dir(dir), fmt.Sprintf("in-%d.zip", i))
		must.Do(t, os.WriteFile(name, noise(t, random, seed, i), 0o600))
		a := must.Get(b.Add(ctx, Source{Path: name, Intermediary: "intermediary"}))(t)
		fmt.Println("taken", a.Item.ID, a.Item.SHA256)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}
