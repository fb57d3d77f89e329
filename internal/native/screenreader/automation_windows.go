package screenreader

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// The functions of UI Automation and COM that we use,
// from system DLLs only, loaded on first use.
var (
	automationCore = windows.NewLazySystemDLL("uiautomationcore.dll")
	oleaut32       = windows.NewLazySystemDLL("oleaut32.dll")
	user32         = windows.NewLazySystemDLL("user32.dll")

	clientsAreListening   = automationCore.NewProc("UiaClientsAreListening")
	disconnectProvider    = automationCore.NewProc("UiaDisconnectProvider")
	hostProviderFromHwnd  = automationCore.NewProc("UiaHostProviderFromHwnd")
	raiseEvent            = automationCore.NewProc("UiaRaiseAutomationEvent")
	raisePropertyChanged  = automationCore.NewProc("UiaRaiseAutomationPropertyChangedEvent")
	raiseStructureChanged = automationCore.NewProc("UiaRaiseStructureChangedEvent")
	returnProvider        = automationCore.NewProc("UiaReturnRawElementProvider")
	safeArrayAccessData   = oleaut32.NewProc("SafeArrayAccessData")
	safeArrayCreateVector = oleaut32.NewProc("SafeArrayCreateVector")
	safeArrayPutElement   = oleaut32.NewProc("SafeArrayPutElement")
	safeArrayUnaccessData = oleaut32.NewProc("SafeArrayUnaccessData")
	sysAllocString        = oleaut32.NewProc("SysAllocString")
	systemParametersInfo  = user32.NewProc("SystemParametersInfoW")
	variantClear          = oleaut32.NewProc("VariantClear")
	wineOnly              = windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version")
)

// Constants of UI Automation (UIAutomationClient.h, UIAutomationCore.h).
const (
	rootObject = -25 // UiaRootObjectId: what a client requests from a window

	serverSide = 1 // ProviderOptions_ServerSideProvider

	propertyProcessID     = 30002
	propertyControlType   = 30003
	propertyName          = 30005
	propertyHasFocus      = 30008
	propertyFocusable     = 30009
	propertyEnabled       = 30010
	propertyAutomationID  = 30011
	propertyHelpText      = 30013
	propertyPassword      = 30019
	propertyOffscreen     = 30022
	propertyValue         = 30045
	propertyExpanded      = 30070
	propertySelected      = 30079
	propertyToggled       = 30086
	propertyValid         = 30103 // UIA_IsDataValidForFormPropertyId
	propertyLiveSetting   = 30135
	propertyPositionInSet = 30152
	propertySizeOfSet     = 30153
	propertyHeadingLevel  = 30173
	propertyIsDialog      = 30174

	noHeading = 80050 // HeadingLevel_None: the levels follow it

	patternInvoke         = 10000
	patternSelection      = 10001
	patternValue          = 10002
	patternExpandCollapse = 10005
	patternWindow         = 10009
	patternSelectionItem  = 10010
	patternToggle         = 10015

	eventFocusChanged      = 20005
	eventElementSelected   = 20012
	eventSystemAlert       = 20023
	eventLiveRegionChanged = 20024

	childrenInvalidated = 2 // StructureChangeType_ChildrenInvalidated
	assertive           = 2 // LiveSetting
	appendRuntimeID     = 3 // UiaAppendRuntimeId: preceded by the window's own ID

	toParent = 0 // NavigateDirection
	toNext   = 1
	toBefore = 2
	toFirst  = 3
	toLast   = 4

	readyForInput = 2 // WindowInteractionState_ReadyForUserInteraction
)

// Results of COM methods.
const (
	sOK               = uintptr(0)
	eNoInterface      = uintptr(0x80004002)
	ePointer          = uintptr(0x80004003)
	eNotEnabled       = uintptr(0x80040200) // UIA_E_ELEMENTNOTENABLED
	eNotAvailable     = uintptr(0x80040201) // UIA_E_ELEMENTNOTAVAILABLE
	eInvalidOperation = uintptr(0x80131509) // UIA_E_INVALIDOPERATION
	coMultithreaded   = 0
)

// variant is a VARIANT that holds nothing, a number, a boolean, or a text.
type variant struct {
	kind  uint16
	_     [3]uint16
	value uint64
	_     uint64
}

const (
	kindNumber = 3 // VT_I4
	kindText   = 8 // VT_BSTR, freed by the receiver
	kindBool   = 11
	kindObject = 13 // VT_UNKNOWN
)

// variantOf converts an int, bool or string to a VARIANT; it is empty for "" and nil.
func variantOf(of any) (v variant) {
	switch of := of.(type) {
	case int:
		v.kind, v.value = kindNumber, uint64(uint32(of))
	case bool:
		if v.kind = kindBool; of {
			v.value = 0xFFFF
		}
	case string:
		if of != "" {
			v.kind, v.value = kindText, uint64(systemText(of))
		}
	}
	return v
}

// systemText returns a BSTR, to be freed by the receiver.
func systemText(s string) uintptr {
	p, err := windows.UTF16PtrFromString(s)
	if err != nil {
		return 0
	}
	t, _, _ := sysAllocString.Call(uintptr(unsafe.Pointer(p)))
	return t
}

// numberArray returns a SAFEARRAY of numbers, to be freed by the receiver.
func numberArray(all ...int32) uintptr {
	a, _, _ := safeArrayCreateVector.Call(kindNumber, 0, uintptr(len(all)))
	if a == 0 {
		return 0
	}
	var data *[8]int32
	safeArrayAccessData.Call(a, uintptr(unsafe.Pointer(&data)))
	copy(data[:], all)
	safeArrayUnaccessData.Call(a)
	return a
}

// providerArray returns a SAFEARRAY of providers, to be freed by the receiver. It releases them: the
// array holds its own references.
func providerArray(all []*comInterface) uintptr {
	a, _, _ := safeArrayCreateVector.Call(kindObject, 0, uintptr(len(all)))
	for i, f := range all {
		at := int32(i)
		if a != 0 {
			safeArrayPutElement.Call(a, uintptr(unsafe.Pointer(&at)), uintptr(unsafe.Pointer(f)))
		}
		f.release()
	}
	return a
}

// listening reports whether any program listens for UI events.
func listening() bool {
	if clientsAreListening.Find() != nil {
		return false
	}
	yes, _, _ := clientsAreListening.Call()
	return yes != 0
}
