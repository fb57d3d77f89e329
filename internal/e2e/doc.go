// Package e2e tests the programs as users have them: built, started, with a real screen, a
// real softphone, a real browser and the local hub. It contains only tests.
package e2e
