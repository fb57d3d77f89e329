package sqlitefile

import (
	"errors"
	"syscall"
)

func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
