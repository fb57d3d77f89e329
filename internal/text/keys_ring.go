package text

// Output of "wiebelt ring" and "wiebelt open-url" if a call was not accepted.
const (
	RingFlag       Key = "ring.flag"
	RingState      Key = "ring.state"
	RingDirection  Key = "ring.direction"
	RingProfile    Key = "ring.profile"
	RingInput      Key = "ring.input"
	RingTwinkle    Key = "ring.twinkle"
	RingNotRunning Key = "ring.not_running"
	RingQuit       Key = "ring.quit"
	RingWaits      Key = "ring.waits"
	RingNoScreen   Key = "ring.no_screen"
)
