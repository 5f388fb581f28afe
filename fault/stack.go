package fault

import (
	"path"
	"runtime"
	"strconv"
	"strings"
)

// Stack returns the stack that was recorded by the deciding tag in the chain of
// err. Each frame is "function\n\tfile:line", at most 32 frames. The result is
// empty if there is no tag. Files are named by their package's import path, so
// that the text does not depend on where the program was built.
func Stack(err error) string {
	t, ok := decider(err, func(e error) Class {
		if t, ok := e.(*tag); ok {
			return t.class
		}
		return ClassUnclassified
	}).(*tag)
	if !ok {
		return ""
	}
	var b strings.Builder
	frames := runtime.CallersFrames(t.stack)
	for more := len(t.stack) > 0; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(frame.Function + "\n\t" + sourceFile(frame) + ":" + strconv.Itoa(frame.Line))
	}
	return b.String()
}

// sourceFile returns the frame's file, relative to the import path of its
// function.
func sourceFile(frame runtime.Frame) string {
	dir, name := path.Split(frame.Function)
	name, _, _ = strings.Cut(name, ".")
	return dir + name + "/" + path.Base(frame.File)
}
