package fault

import (
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Stack returns the stack that was recorded by the deciding tag in the chain of
// err. Each frame is "function\n\tfile:line", at most 32 frames, without those
// of sqsafe below the user's. The result is empty if there is no tag. Files are
// named by their package's import path, so that the text does not depend on where
// the program was built.
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
	var texts []string
	kept := 1
	frames := runtime.CallersFrames(t.stack)
	for more := len(t.stack) > 0; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		texts = append(texts, frame.Function+"\n\t"+sourceFile(frame)+":"+strconv.Itoa(frame.Line))
		if !slices.ContainsFunc(callers, func(p string) bool { return strings.HasPrefix(frame.Function, p) }) {
			kept = len(texts)
		}
	}
	return strings.Join(texts[:min(kept, len(texts))], "\n")
}

// callers begin the names of the functions that call a handler. They are the same
// for each job, and say nothing about its failure.
var callers = []string{
	"github.com/sqsafe/sqsafe/handler.", "github.com/sqsafe/sqsafe/handler/handlertest.",
	"github.com/sqsafe/sqsafe/internal/usercall.", "runtime.goexit",
}

// sourceFile returns the frame's file, relative to the import path of its
// function.
func sourceFile(frame runtime.Frame) string {
	dir, name := path.Split(frame.Function)
	name, _, _ = strings.Cut(name, ".")
	return dir + name + "/" + path.Base(frame.File)
}
