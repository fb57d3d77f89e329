package window

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// The functions of user32 and gdi32 that we use, from system DLLs only, loaded on first use.
var (
	user32   = windows.NewLazySystemDLL("user32.dll")
	gdi32    = windows.NewLazySystemDLL("gdi32.dll")
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")
	shell32  = windows.NewLazySystemDLL("shell32.dll")
	shcore   = windows.NewLazySystemDLL("shcore.dll")

	allowSetForeground     = user32.NewProc("AllowSetForegroundWindow")
	adjustWindowRectForDPI = user32.NewProc("AdjustWindowRectExForDpi")
	clientToScreen         = user32.NewProc("ClientToScreen")
	createIconFromResource = user32.NewProc("CreateIconFromResourceEx")
	destroyIcon            = user32.NewProc("DestroyIcon")
	getClientRect          = user32.NewProc("GetClientRect")
	getClipboardData       = user32.NewProc("GetClipboardData")
	getDPIForWindow        = user32.NewProc("GetDpiForWindow")
	isIconic               = user32.NewProc("IsIconic")
	isZoomed               = user32.NewProc("IsZoomed")
	loadCursor             = user32.NewProc("LoadCursorW")
	mapVirtualKey          = user32.NewProc("MapVirtualKeyW")
	sendMessage            = user32.NewProc("SendMessageW")
	setCursor              = user32.NewProc("SetCursor")

	beginPaint          = user32.NewProc("BeginPaint")
	closeClipboard      = user32.NewProc("CloseClipboard")
	emptyClipboard      = user32.NewProc("EmptyClipboard")
	endPaint            = user32.NewProc("EndPaint")
	enumDisplayMonitors = user32.NewProc("EnumDisplayMonitors")
	getCursorPos        = user32.NewProc("GetCursorPos")
	getDC               = user32.NewProc("GetDC")
	getFocus            = user32.NewProc("GetFocus")
	getKeyState         = user32.NewProc("GetKeyState")
	getSystemMetrics    = user32.NewProc("GetSystemMetrics")
	getMonitorInfo      = user32.NewProc("GetMonitorInfoW")
	getWindowLong       = user32.NewProc("GetWindowLongPtrW")
	getWindowRect       = user32.NewProc("GetWindowRect")
	invalidateRect      = user32.NewProc("InvalidateRect")
	monitorFromPoint    = user32.NewProc("MonitorFromPoint")
	monitorFromWindow   = user32.NewProc("MonitorFromWindow")
	openClipboard       = user32.NewProc("OpenClipboard")
	registerHotKey      = user32.NewProc("RegisterHotKey")
	releaseCapture      = user32.NewProc("ReleaseCapture")
	releaseDC           = user32.NewProc("ReleaseDC")
	screenToClient      = user32.NewProc("ScreenToClient")
	setCapture          = user32.NewProc("SetCapture")
	setClipboardData    = user32.NewProc("SetClipboardData")
	setDPIAwareness     = user32.NewProc("SetProcessDpiAwarenessContext")
	setFocus            = user32.NewProc("SetFocus")
	setForegroundWindow = user32.NewProc("SetForegroundWindow")
	setWindowPos        = user32.NewProc("SetWindowPos")
	setWindowText       = user32.NewProc("SetWindowTextW")
	showWindow          = user32.NewProc("ShowWindow")
	trackMouseEvent     = user32.NewProc("TrackMouseEvent")
	unregisterHotKey    = user32.NewProc("UnregisterHotKey")
	updateWindow        = user32.NewProc("UpdateWindow")

	setWindowDisplayAffinity = user32.NewProc("SetWindowDisplayAffinity")
	systemParametersInfo     = user32.NewProc("SystemParametersInfoW")

	bitBlt                 = gdi32.NewProc("BitBlt")
	createCompatibleBitmap = gdi32.NewProc("CreateCompatibleBitmap")
	createCompatibleDC     = gdi32.NewProc("CreateCompatibleDC")
	deleteDC               = gdi32.NewProc("DeleteDC")
	deleteObject           = gdi32.NewProc("DeleteObject")
	gdiFlush               = gdi32.NewProc("GdiFlush")
	getDIBits              = gdi32.NewProc("GetDIBits")
	selectObject           = gdi32.NewProc("SelectObject")
	setDIBitsToDevice      = gdi32.NewProc("SetDIBitsToDevice")

	globalAlloc  = kernel32.NewProc("GlobalAlloc")
	globalFree   = kernel32.NewProc("GlobalFree")
	globalLock   = kernel32.NewProc("GlobalLock")
	globalSize   = kernel32.NewProc("GlobalSize")
	globalUnlock = kernel32.NewProc("GlobalUnlock")
	moveMemory   = kernel32.NewProc("RtlMoveMemory")

	dragAcceptFiles = shell32.NewProc("DragAcceptFiles")
	dragFinish      = shell32.NewProc("DragFinish")
	dragQueryFile   = shell32.NewProc("DragQueryFileW")
	dragQueryPoint  = shell32.NewProc("DragQueryPoint")

	getDPIForMonitor = shcore.NewProc("GetDpiForMonitor")
)

const (
	wmSize           = 0x0005
	wmSetFocus       = 0x0007
	wmSetCursor      = 0x0020
	wmGetMinMaxInfo  = 0x0024
	wmGetObject      = 0x003D
	wmSetIcon        = 0x0080
	wmKeyUp          = 0x0101
	wmSysKeyUp       = 0x0105
	wmMouseHWheel    = 0x020E
	wmDropFiles      = 0x0233
	wmKillFocus      = 0x0008
	wmPaint          = 0x000F
	wmEraseBkgnd     = 0x0014
	wmSysColorChange = 0x0015 // another theme, such as high contrast
	wmSettingChange  = 0x001A
	wmMouseActivate  = 0x0021
	wmDisplayChange  = 0x007E
	wmKeyDown        = 0x0100
	wmChar           = 0x0102
	wmSysKeyDown     = 0x0104
	wmSysChar        = 0x0106
	wmMouseMove      = 0x0200
	wmLButtonDown    = 0x0201
	wmLButtonUp      = 0x0202
	wmRButtonDown    = 0x0204
	wmRButtonUp      = 0x0205
	wmMButtonDown    = 0x0207
	wmMButtonUp      = 0x0208
	wmMouseWheel     = 0x020A
	wmMouseLeave     = 0x02A3
	wmDPIChanged     = 0x02E0
	wmHotkey         = 0x0312
	wmApp            = 0x8000

	wsOverlapped   = 0x00CF0000
	wsPopup        = 0x80000000
	wsExTopmost    = 0x00000008
	wsExToolWindow = 0x00000080
	wsExNoActivate = 0x08000000

	swpNoSize       = 0x0001
	swpNoMove       = 0x0002
	swpNoZOrder     = 0x0004
	swpNoActivate   = 0x0010
	swpShowWindow   = 0x0040
	swpNoOwnerOrder = 0x0200

	swHide       = 0
	swShow       = 5
	swRestore    = 9
	maNoActivate = 3
	tmeLeave     = 2
	wheelStep    = 120

	cfUnicodeText = 13
	gmemMoveable  = 2

	srcCopy    = 0x00CC0020
	captureBlt = 0x40000000
)

// hwndTopmost is the position above all ordinary windows, -1 as a handle.
const hwndTopmost = ^uintptr(0)

// perMonitorV2 is the awareness with which Windows reports true pixels on every
// monitor, -4 as a handle.
const perMonitorV2 = ^uintptr(3)

type (
	winPoint struct{ x, y int32 }
	winRect  struct{ left, top, right, bottom int32 }

	winPaint struct {
		dc       uintptr
		erase    int32
		area     winRect
		restore  int32
		update   int32
		reserved [32]byte
	}

	winBitmapInfo struct {
		size          uint32
		width, height int32
		planes, bits  uint16
		compression   uint32
		sizeImage     uint32
		xPels, yPels  int32
		used, needed  uint32
		colors        [4]byte
	}

	winTrack struct {
		size, flags uint32
		hwnd        uintptr
		hover       uint32
	}

	winHighContrast struct {
		size, flags uint32
		scheme      *uint16
	}

	winMonitorInfo struct {
		size          uint32
		monitor, work winRect
		flags         uint32
		device        [32]uint16
	}
)

// bitmapInfo describes our pictures: rows from the top, 32 bits per pixel.
func bitmapInfo(w, h int) *winBitmapInfo {
	return &winBitmapInfo{
		size:  uint32(unsafe.Offsetof(winBitmapInfo{}.colors)),
		width: int32(w), height: -int32(h),
		planes: 1, bits: 32,
	}
}
