package message

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(memoryDir); dir != "" {
		os.Exit(inspectAll(dir))
	}
	goleak.VerifyTestMain(m)
}
