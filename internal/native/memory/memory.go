// Package memory gives memory back to the system.
package memory
