// Command winmessage shows each line of its standard input, title and text separated by |,
// for the test that runs it under wine. An empty line removes all messages.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"wiebelt/internal/native/messagebox"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for sc := bufio.NewScanner(os.Stdin); sc.Scan() && sc.Text() != ""; {
		title, text, _ := strings.Cut(sc.Text(), "|")
		all.Go(func() { fmt.Println("told", title, messagebox.Show(ctx, title, text)) })
	}
	cancel()
	all.Wait()
	fmt.Println("ended", messagebox.Show(ctx, "late", "late"))
}
