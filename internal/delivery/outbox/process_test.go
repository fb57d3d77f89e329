package outbox

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"wiebelt/internal/hub"
	"wiebelt/internal/localhub"
)

// The environment of the processes that the kill tests start and end.
const (
	processEnv = "WIEBELT_OUTBOX_TEST"
	dirEnv     = "WIEBELT_OUTBOX_TEST_DIR"
	hubEnv     = "WIEBELT_OUTBOX_TEST_HUB" // where it listens
	seedEnv    = "WIEBELT_OUTBOX_TEST_SEED"
)

var processes = map[string]func(){"hub": hubProcess, "client": clientProcess}

func orExit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hubProcess is a local hub that stores what it accepts, and is slow every second time.
func hubProcess() {
	var seed uint64
	_, err := fmt.Sscan(os.Getenv(seedEnv), &seed)
	orExit(err)
	h, err := localhub.Start(context.Background(), localhub.Config{Dir: os.Getenv(dirEnv), Listen: os.Getenv(hubEnv)})
	orExit(err)
	if seed%2 == 0 {
		h.Faults().Set(localhub.EndpointTransaction, localhub.Fault{Delay: 8 * time.Millisecond})
	}
	orExit(h.SetClientSecret(context.Background(), "office", "1234", "geheim"))
	fmt.Println("ready", h.BaseURL())
	_, _ = io.Copy(io.Discard, os.Stdin) // until the other end is gone
}

// filesARound is how many files a client adds.
const filesARound = 12

// clientProcess adds files, prints each one added, and delivers them.
func clientProcess() {
	var seed uint64
	_, err := fmt.Sscan(os.Getenv(seedEnv), &seed)
	orExit(err)
	dir := os.Getenv(dirEnv)
	ctx := context.Background()
	c, err := hub.New(hub.Config{BaseURL: os.Getenv(hubEnv), ClientID: "office", OrganisationCode: "1234", Intermediary: "intermediary", Proxy: "none",
		Secret: func(context.Context) (string, error) { return "geheim", nil }})
	orExit(err)
	b, err := Open(ctx, Options{Dir: dir, Hub: to(c), firstWait: time.Millisecond, Tick: 5 * time.Millisecond, Policy: Policy{Uncertain: UncertainRetry}})
	orExit(err)
	if b.AsidePath() != "" {
		orExit(fmt.Errorf("the database was damaged"))
	}
	go func() { orExit(b.Work(ctx, nil)) }()
	random := rand.New(rand.NewPCG(seed, 7))
	for i := range filesARound {
		name := filepath.Join(filepath.Dir(dir), fmt.Sprintf("in-%d.zip", i))
		orExit(os.WriteFile(name, noise(random, seed, i), 0o600))
		a, err := b.Add(ctx, Source{Path: name, Intermediary: "intermediary"})
		orExit(err)
		fmt.Println("taken", a.Item.ID, a.Item.SHA256)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}
