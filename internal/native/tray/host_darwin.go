package tray

const iconSuffix = "-48.png"

func loop() (abandon func(left <-chan struct{})) { return func(<-chan struct{}) {} }

func tooltip(s string) string    { return s }
func escape(title string) string { return title }

func (t *Tray) willLeave([]byte) {}
func (t *Tray) cleanUp()         {}
