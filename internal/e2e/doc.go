// Package e2e tests the programs as people have them: built, started, with a
// real screen, a real softphone, a real browser and the local hub. It holds
// tests only.
package e2e
