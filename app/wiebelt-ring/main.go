package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance"
	"wiebelt/internal/softphone/ring"
)

func main() {
	r, err := ring.Parse(os.Args[1:], os.Getenv, os.Stdin)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	d, err := profile.Find(r.Profile)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	r.Event.At = time.Now()
	if err := instance.HandOver(context.Background(), instance.Config{RunDir: d.Run}, r.Event, nil); err != nil {
		fmt.Println(err)
		os.Exit(4)
	}
}
