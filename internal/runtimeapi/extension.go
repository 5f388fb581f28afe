package runtimeapi

import "net/http"

// Lambda sends SIGTERM only to functions with an extension. A runtime that
// wants the signal therefore registers an extension that receives no events.

const extensionIdentifier = "Lambda-Extension-Identifier"

func (a *api) register(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Lambda-Extension-Name") == "" {
		refuse(w, http.StatusForbidden, "Extension.InvalidExtensionName", "header Lambda-Extension-Name is missing")
		return
	}
	id := newID()
	a.mu.Lock()
	a.extensions[id] = true
	a.mu.Unlock()
	w.Header().Set(extensionIdentifier, id)
	write(w, http.StatusOK, map[string]string{
		"functionName":    a.options.Name,
		"functionVersion": "$LATEST",
		"handler":         "bootstrap",
	})
}

// extensionEvent blocks until the process ends: extensions get no events.
func (a *api) extensionEvent(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(extensionIdentifier)
	a.mu.Lock()
	known := a.extensions[id]
	a.mu.Unlock()
	if !known {
		const code = "Extension.UnknownExtensionIdentifier"
		refuse(w, http.StatusForbidden, code, "no extension is registered as "+clip(id, 64))
		return
	}
	select {
	case <-r.Context().Done():
	case <-a.exited:
	}
}
