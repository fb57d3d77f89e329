# What people and scripts rely on: build resident windows demo test lint bench
# fuzz soak clean.
SHELL := /bin/bash
VERSION ?= $(shell sed -n 's/^Version = "\(.*\)"/\1/p' FyneApp.toml)
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
TAGS    := migrated_fynedo
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
GOBUILD := go build -trimpath -tags $(TAGS)

.PHONY: build resident windows winres demo test test-windows lint bench fuzz soak shots clean

build resident:
	CGO_ENABLED=0 $(GOBUILD) -ldflags '$(LDFLAGS)' -o bin/wiebelt ./app/wiebelt
	CGO_ENABLED=0 $(GOBUILD) -ldflags '-s -w' -o bin/wiebelt-ring ./app/wiebelt-ring

windows:
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GOBUILD) -ldflags '$(LDFLAGS)' -o bin/windows/wiebelt.exe ./app/wiebelt
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GOBUILD) -ldflags '$(LDFLAGS) -H=windowsgui' -o bin/windows/wiebeltw.exe ./app/wiebelt
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GOBUILD) -ldflags '-s -w' -o bin/windows/wiebelt-ring.exe ./app/wiebelt-ring
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GOBUILD) -ldflags '-s -w -H=windowsgui' -o bin/windows/wiebelt-ringw.exe ./app/wiebelt-ring

# What Windows reads of our program before it runs; see app/winres.
winres:
	GOBIN=$(CURDIR)/bin/tools go install github.com/josephspurrier/goversioninfo/cmd/goversioninfo@v1.7.0
	bin/tools/goversioninfo -64 -icon assets/icons/app.ico -manifest app/winres/wiebelt.manifest \
		-o app/wiebelt/rsrc_windows_amd64.syso app/winres/versioninfo.json

demo: resident
	.ci/demo

test:
	.ci/test

test-windows:
	.ci/install test
	go test -count=1 -tags $(TAGS) -timeout 10m ./internal/testutil/winetest/... ./app/winres
	go test -count=1 -tags $(TAGS) -timeout 10m -run 'Windows|Wine' ./internal/native/... ./internal/instance ./internal/config/secret ./internal/e2e

lint:
	.ci/lint

bench:
	.ci/install test
	go test -run '^$$' -bench . -benchtime 200x $$(go list ./internal/... | grep -v /e2e)
	go test -run '^$$' -bench . -benchtime 1x ./internal/e2e

fuzz:
	.ci/fuzz

soak:
	SOAK=1 go test -count=1 -timeout 60m -tags $(TAGS) -run 'Kill|Soak|NothingThatLivesMoves' ./internal/...

# Draws the pictures of the guide anew; look at them before you keep them.
shots:
	WIEBELT_SHOTS_WRITE=1 go test -count=1 -tags $(TAGS) -run "GuideShots|ReadmeShot" ./internal/ui/card ./internal/ui/calls ./internal/ui/lookup ./internal/ui/settings

clean:
	rm -rf bin
