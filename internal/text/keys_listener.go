package text

// Pages for a browser that reported a call over HTTP.
const (
	ListenerDone       Key = "listener.done"
	ListenerUnfilled   Key = "listener.unfilled"
	ListenerBadNumber  Key = "listener.bad_number"
	ListenerBadToken   Key = "listener.bad_token"
	ListenerBadAddress Key = "listener.bad_address"
	ListenerSlowDown   Key = "listener.slow_down"
	ListenerStopping   Key = "listener.stopping"
)
