package text

import (
	"fmt"
	"strings"
)

// Size formats a number of bytes: "812 B", "12,4 kB", "500 MB".
func (l Language) Size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB"}
	i := 0
	for v >= 999.5 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	s := fmt.Sprintf("%.1f", v)
	if v >= 100 {
		s = fmt.Sprintf("%.0f", v)
	}
	if l == Dutch {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s + " " + units[i]
}
