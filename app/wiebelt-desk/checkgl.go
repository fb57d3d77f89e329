package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/go-gl/gl/v2.1/gl"
	"github.com/go-gl/glfw/v3.4/glfw"

	"wiebelt/internal/ui/desk"
)

// noGL is the exit code of --check-gl where no window can be made. 1 and 2 mean
// other things, so that nobody takes a crash or an older program for the answer.
const noGL = 3

// checkGL tries, as Fyne would, to make a window with OpenGL 2.1, one that never
// shows and so takes nobody's keyboard. It has to run on the main goroutine.
func checkGL(stderr io.Writer) int {
	if err := tryGL(); err != nil {
		fmt.Fprintf(stderr, "wiebelt-desk: %v (%v)\n", desk.ErrNoWindow, err)
		if runtime.GOOS == "windows" {
			fmt.Fprintln(stderr, "wiebelt-desk: Mesa's opengl32.dll beside wiebelt-desk.exe is used if it is there")
		}
		return noGL
	}
	return 0
}

func tryGL() (err error) {
	defer func() { // how the binding tells of a driver's own errors
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := glfw.Init(); err != nil {
		return err
	}
	defer glfw.Terminate()
	glfw.WindowHint(glfw.Visible, glfw.False)
	glfw.WindowHint(glfw.ContextVersionMajor, 2)
	glfw.WindowHint(glfw.ContextVersionMinor, 1)
	w, err := glfw.CreateWindow(64, 64, "Wiebelt", nil, nil)
	if err != nil {
		return err
	}
	defer w.Destroy()
	w.MakeContextCurrent()
	if err := gl.Init(); err != nil {
		return err
	}
	if gl.GoStr(gl.GetString(gl.VERSION)) == "" || gl.GetError() != gl.NO_ERROR {
		return errors.New("the driver does not answer")
	}
	return nil
}
