// Package sound plays three short generated tones, one for each kind of caller. It is safe for
// concurrent use and starts no goroutines.
package sound

import (
	"encoding/binary"
	"errors"
	"math"
	"sync"
	"time"
)

// Kind is the kind of caller that a tone stands for.
type Kind string

// The kinds.
const (
	Known   Kind = "known"
	Several Kind = "several"
	Unknown Kind = "unknown"
)

// ErrNoPlayer means that this computer has no program that plays sound.
var ErrNoPlayer = errors.New("no program that plays sound")

const (
	sampleRate = 22050
	loudness   = 0.12 // of the maximum
	note       = 150 * time.Millisecond
	fade       = 15 * time.Millisecond // at either end of a note, to avoid clicks
)

// notes has the frequencies of each tone's notes, in hertz: rising, level, falling.
var notes = map[Kind][]float64{Known: {659.3, 987.8}, Several: {784, 784}, Unknown: {659.3, 440}}

// waves returns the tones as files in memory, created on first use.
var waves = sync.OnceValue(func() map[Kind][]byte {
	all := map[Kind][]byte{}
	for k, n := range notes {
		all[k] = wave(n)
	}
	return all
})

// wave returns a WAV file: one channel of 16 bits.
func wave(notes []float64) []byte {
	var data []byte
	for _, hertz := range notes {
		n, ends := int(note.Seconds()*sampleRate), fade.Seconds()*sampleRate
		for i := range n {
			at := math.Min(1, math.Min(float64(i), float64(n-1-i))/ends)
			v := math.Sin(2*math.Pi*hertz*float64(i)/sampleRate) * at * loudness * math.MaxInt16
			data = binary.LittleEndian.AppendUint16(data, uint16(int16(v)))
		}
	}
	const pcm, channels, bytes = 1, 1, 2
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("RIFF"), uint32(36+len(data)))
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(le.AppendUint16(b, pcm), channels)
	b = le.AppendUint32(le.AppendUint32(b, sampleRate), sampleRate*channels*bytes)
	b = le.AppendUint16(le.AppendUint16(b, channels*bytes), 8*bytes)
	b = le.AppendUint32(append(b, "data"...), uint32(len(data)))
	return append(b, data...)
}
