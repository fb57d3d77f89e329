/* A test aid, never shipped: OpenGL as on a computer without a driver for it. It
 * can be loaded and gives nobody a context. */
#include <windows.h>

__declspec(dllexport) HGLRC WINAPI wglCreateContext(HDC dc) { SetLastError(ERROR_INVALID_PIXEL_FORMAT); return NULL; }
__declspec(dllexport) BOOL WINAPI wglDeleteContext(HGLRC context) { return FALSE; }
__declspec(dllexport) PROC WINAPI wglGetProcAddress(LPCSTR name) { return NULL; }
__declspec(dllexport) HDC WINAPI wglGetCurrentDC(void) { return NULL; }
__declspec(dllexport) HGLRC WINAPI wglGetCurrentContext(void) { return NULL; }
__declspec(dllexport) BOOL WINAPI wglMakeCurrent(HDC dc, HGLRC context) { return FALSE; }
__declspec(dllexport) BOOL WINAPI wglShareLists(HGLRC one, HGLRC other) { return FALSE; }

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
    return TRUE;
}
